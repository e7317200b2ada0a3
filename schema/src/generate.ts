// Writes everything that is generated from the wire types: `node schema/dist/generate.js [--out DIR]`. The same source
// gives the same bytes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { protocolDocument } from './generate/document.ts'
import * as python from './generate/python.ts'
import { referenceSource } from './generate/reference.ts'
import { withFramesOfFacts } from './generate/shapes.ts'
import { guardsSource } from './generate/table.ts'
import * as typescript from './generate/typescript.ts'
import { PROTOCOL_VERSION } from './index.ts'

const repository = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const codegen = join(repository, '.venv/bin/datamodel-codegen')

/** Files by their path in the repository. */
type Files = Record<string, string>

const document = protocolDocument(PROTOCOL_VERSION)
const typed = withFramesOfFacts(document)

async function typescriptFiles(): Promise<Files> {
  const folder = 'ts-sdk/src/generated'
  return {
    [`${folder}/protocol.ts`]: await typescript.protocolSource(typed),
    [`${folder}/methods.ts`]: typescript.methodsSource(typed),
    [`${folder}/errors.ts`]: typescript.errorsSource(typed),
    [`${folder}/guards.ts`]: guardsSource(typed),
  }
}

function pythonFiles(): Files {
  const folder = 'python-sdk/src/quiesce/_generated'
  return {
    [`${folder}/__init__.py`]: python.packageSource,
    [`${folder}/models.py`]: python.modelsSource(typed, codegen),
    [`${folder}/methods.py`]: python.methodsSource(typed),
    [`${folder}/errors.py`]: python.errorsSource(typed),
  }
}

const generators: readonly (() => Files | Promise<Files>)[] = [
  () => ({ 'schema/protocol.schema.json': `${JSON.stringify(document, null, 2)}\n` }),
  typescriptFiles,
  pythonFiles,
  () => ({ 'docs/protocol.md': referenceSource(document) }),
]

const { values } = parseArgs({ options: { out: { type: 'string', default: repository } } })
for (const generator of generators) {
  for (const [path, text] of Object.entries(await generator())) {
    const file = join(resolve(values.out), path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}
