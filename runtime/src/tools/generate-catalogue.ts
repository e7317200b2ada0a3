// Writes docs/tools.md from the tools: `node runtime/dist/tools/generate-catalogue.js [--out DIR]`. The same source gives
// the same bytes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { systemClock } from '../base/clock.ts'
import { builtInTools } from './built-in.ts'
import { catalogueMarkdown } from './catalogue.ts'

const repository = resolve(dirname(fileURLToPath(import.meta.url)), '../../..')

const heading = '<!-- Generated from runtime/src/tools by `make gen`: do not edit. -->\n'
const { values } = parseArgs({ options: { out: { type: 'string', default: repository } } })
const file = join(resolve(values.out), 'docs/tools.md')
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, heading + catalogueMarkdown(builtInTools(systemClock)))
