// Every TypeScript test of the workspace, run from source: no build is needed first.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@quiesce\/schema$/, replacement: source('./schema/src/index.ts') },
      { find: /^@quiesce\/schema\/(\w+)$/, replacement: `${source('./schema/src')}/$1.ts` },
      { find: /^@quiesce\/sdk$/, replacement: source('./ts-sdk/src/index.ts') },
    ],
  },
  test: {
    include: ['{schema,runtime,ts-sdk}/src/**/*.test.ts', 'ts-sdk/test/**/*.test.ts', 'conformance/**/*.test.{ts,mjs}'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 5_000,
    allowOnly: false,
    passWithNoTests: false,
  },
})
