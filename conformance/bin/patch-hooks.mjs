// Module hooks of a mutant: one module's source is loaded with one place replaced. Nothing on disk is touched.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

let patch

export function initialize(data) {
  patch = data
}

export async function load(url, context, nextLoad) {
  if (url !== patch.url) return nextLoad(url, context)
  const parts = (await readFile(fileURLToPath(url), 'utf8')).split(patch.find)
  if (parts.length !== 2) throw new Error(`the place to replace occurs ${parts.length - 1} times in ${url}`)
  return { format: 'module', source: parts.join(patch.replace), shortCircuit: true }
}
