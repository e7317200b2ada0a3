// Owns what the vectors of vendors are made of, for the tests that read them: the servers, the files, the runtime's configuration.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startAnthropicServer } from '../../conformance/fixtures/anthropic-server.mjs'
import { startChatServer } from '../../conformance/fixtures/chat-server.mjs'
import type { ModelAnswer, ModelServer } from '../../conformance/fixtures/model-server.mjs'
import { startResponsesServer } from '../../conformance/fixtures/responses-server.mjs'
import { Quiesce, type SessionEvent } from '../src/index.ts'

const runtime = fileURLToPath(new URL('../../node_modules/.bin/quiesce', import.meta.url))

const starts: Readonly<Record<string, (answers: readonly ModelAnswer[]) => Promise<ModelServer>>> = {
  'chat-server': startChatServer,
  'anthropic-server': startAnthropicServer,
  'responses-server': startResponsesServer,
}

export function startServer(kind: string, script: readonly ModelAnswer[]): Promise<ModelServer> {
  const start = starts[kind]
  if (start === undefined) throw new Error(`the vectors name a server that is not there: ${kind}`)
  return start(script)
}

export function readVectors(folder: string): unknown {
  return JSON.parse(readFileSync(fileURLToPath(new URL(`../../conformance/vectors/${folder}/cases.json`, import.meta.url)), 'utf8'))
}

/** `value` with what it names in braces put in. */
export function filledIn<T>(value: T, names: Readonly<Record<string, string>>): T {
  return JSON.parse(JSON.stringify(value).replace(/\{(\w+)\}/g, (whole, name: string) => names[name] ?? whole))
}

export interface Setting {
  /** A directory that is the test's own: the runtime has its home there. */
  folder: string
  model: string
  env: Readonly<Record<string, string>>
  /** What the user's config.yaml says. */
  config: object
  onStderr?: (line: string) => void
}

/** A runtime with the user's configuration; it inherits no vendor's key or address from whoever runs the tests. */
export function launch({ folder, model, env, config, onStderr }: Setting): Quiesce {
  mkdirSync(join(folder, 'config/quiesce'), { recursive: true })
  writeFileSync(join(folder, 'config/quiesce/config.yaml'), JSON.stringify(config))
  const inherited = Object.keys(process.env).filter((name) => /^(ANTHROPIC|OPENAI|DEEPSEEK|QUIESCE)_/.test(name))
  return new Quiesce({
    runtime,
    store: 'memory:',
    logLevel: 'trace',
    model,
    cwd: folder,
    env: { ...Object.fromEntries(inherited.map((name) => [name, ''])), XDG_CONFIG_HOME: join(folder, 'config'), ...env },
    ...(onStderr !== undefined && { onStderr }),
  })
}

export const ofType = <T extends SessionEvent['type']>(events: readonly SessionEvent[], type: T) =>
  events.filter((event): event is Extract<SessionEvent, { type: T }> => event.type === type)

export const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => statSync(join(folder, path)).isFile())
