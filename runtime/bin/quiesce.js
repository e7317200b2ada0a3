#!/usr/bin/env node
// The executable's name in node_modules/.bin. It only starts the bundle, or says how to make it. CommonJS, as the bundle: it starts quicker.
const { existsSync } = require('node:fs')
const { join } = require('node:path')

const bundle = join(__dirname, '../dist/bundle/quiesce.js')

if (existsSync(bundle)) {
  require(bundle)
} else {
  process.stderr.write('quiesce: the runtime is not built yet: run make setup\n')
  process.exitCode = 1
}
