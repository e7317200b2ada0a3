// Writes everything that is generated from the wire types: `node schema/dist/generate.js [--out DIR]`. The same source
// gives the same bytes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { protocolDocument } from './generate/document.ts'
import * as python from './generate/python.ts'
import { withFramesOfFacts } from './generate/shapes.ts'
import { guardsSource } from './generate/table.ts'
import * as typescript from './generate/typescript.ts'
import { PROTOCOL_VERSION } from './index.ts'

const repository = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const codegen = join(repository, '.venv/bin/datamodel-codegen')

/** Every generated file: its path in the repository, and its text. */
async function outputs(): Promise<Record<string, string>> {
  const document = protocolDocument(PROTOCOL_VERSION)
  const typed = withFramesOfFacts(document)
  const [ts, py] = ['ts-sdk/src/generated', 'python-sdk/src/quiesce/_generated']
  return {
    'schema/protocol.schema.json': `${JSON.stringify(document, null, 2)}\n`,
    [`${ts}/protocol.ts`]: await typescript.protocolSource(typed),
    [`${ts}/methods.ts`]: typescript.methodsSource(typed),
    [`${ts}/errors.ts`]: typescript.errorsSource(typed),
    [`${ts}/guards.ts`]: guardsSource(typed),
    [`${py}/__init__.py`]: python.packageSource,
    [`${py}/models.py`]: python.modelsSource(typed, codegen),
    [`${py}/methods.py`]: python.methodsSource(typed),
    [`${py}/errors.py`]: python.errorsSource(typed),
  }
}

const { values } = parseArgs({ options: { out: { type: 'string', default: repository } } })
for (const [path, text] of Object.entries(await outputs())) {
  const file = join(resolve(values.out), path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
