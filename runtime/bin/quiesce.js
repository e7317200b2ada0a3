#!/usr/bin/env node
// The executable's name in node_modules/.bin. It only starts the bundle, or says how to make it.
import { existsSync } from 'node:fs'

const bundle = new URL('../dist/bundle/quiesce.js', import.meta.url)

if (existsSync(bundle)) {
  await import(bundle.href)
} else {
  process.stderr.write('quiesce: the runtime is not built yet: run make setup\n')
  process.exitCode = 1
}
