import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

const here = fileURLToPath(new URL('.', import.meta.url))
const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: ['registry.ts', 'anthropic.ts', 'openai.ts', 'openai-compatible.ts'],
  outdir: 'nowhere',
  bundle: true,
  write: false,
  metafile: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
  logLevel: 'silent',
})

/** The packages that a file loads with itself: what it imports only when it is needed is not among them. */
function loadedWith(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return []
  seen.add(file)
  const imports = (metafile.inputs[file]?.imports ?? []).filter(({ kind }) => kind === 'import-statement')
  return imports.flatMap(({ path, external }) => (external === true ? [path] : loadedWith(path, seen)))
}

it.each([
  ['registry.ts', []],
  ['anthropic.ts', ['@ai-sdk/anthropic', '@ai-sdk/provider']],
  ['openai.ts', ['@ai-sdk/openai', '@ai-sdk/provider']],
  ['openai-compatible.ts', ['@ai-sdk/openai-compatible', '@ai-sdk/provider']],
])('%s loads the SDKs %j with itself, and no other', (file, sdks) => {
  expect(Object.keys(metafile.inputs)).toContain(file)
  expect([...new Set(loadedWith(file).filter((path) => path.startsWith('@ai-sdk/')))].sort()).toEqual(sdks)
})

it('loads each vendor when it is asked for', () => {
  const later = metafile.inputs['registry.ts']?.imports.filter(({ kind }) => kind === 'dynamic-import').map(({ path }) => path)
  expect(later).toEqual(expect.arrayContaining(['anthropic.ts', 'openai.ts', 'openai-compatible.ts']))
})
