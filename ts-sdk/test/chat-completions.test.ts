// The SDK against the real runtime, and that against a server of chat completions: the vectors that both SDKs share.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type ChatAnswer, type ChatServer, startChatServer } from '../../conformance/fixtures/chat-server.mjs'
import { Quiesce, type RunResult, type Session, type SessionEvent, type StreamItem } from '../src/index.ts'

interface ChatCase {
  name: string
  script: ChatAnswer[]
  streamed?: boolean
  permissions?: 'edit' | 'allow-all'
  expect: {
    finalResponse: string
    finish: string | null
    reason: object
    usage?: object
    retries?: object[]
    tools?: { name: string; isError: boolean }[]
    files?: Record<string, string | null>
  }
}

const runtime = fileURLToPath(new URL('../../node_modules/.bin/quiesce', import.meta.url))
const vectors = fileURLToPath(new URL('../../conformance/vectors/chat/cases.json', import.meta.url))
const { apiKey, cases }: { apiKey: string; cases: ChatCase[] } = JSON.parse(readFileSync(vectors, 'utf8'))

let workspace: string
let server: ChatServer
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'quiesce-chat-'))
})
afterEach(async () => {
  await server.close()
  rmSync(workspace, { recursive: true, force: true })
})

const ofType = <T extends SessionEvent['type']>(events: readonly SessionEvent[], type: T) =>
  events.filter((event): event is Extract<SessionEvent, { type: T }> => event.type === type)

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => statSync(join(folder, path)).isFile())

/** The result, and what was seen on the way. */
async function outcome(session: Session, isStreamed: boolean): Promise<{ result: RunResult; items: StreamItem[] }> {
  if (!isStreamed) return { result: await session.run('Begin.'), items: [] }
  const run = session.stream('Begin.')
  const items: StreamItem[] = []
  for await (const item of run) items.push(item)
  return { result: await run.result, items }
}

/** The text that was streamed since the last step or retry began. */
function streamedText(items: readonly StreamItem[]): string {
  const begins = (item: StreamItem) => item.kind === 'event' && ['step/start', 'model/retry'].includes(item.event.type)
  const last = items.slice(items.findLastIndex(begins))
  return last.map((item) => (item.kind === 'delta' ? item.text : '')).join('')
}

/** The tools that really ran, and whether each result is an error. */
function startedTools(events: readonly SessionEvent[]): { name: string | undefined; isError: boolean | undefined }[] {
  const [calls, results] = [ofType(events, 'tool/call'), ofType(events, 'tool/result')]
  return ofType(events, 'tool/start').map(({ data: { callId } }) => ({
    name: calls.find(({ data }) => data.callId === callId)?.data.name,
    isError: results.find(({ data }) => data.callId === callId)?.data.isError,
  }))
}

it.each(cases)('$name', async ({ script, streamed = false, permissions = 'edit', expect: wanted }) => {
  server = await startChatServer(script)
  const stderr: string[] = []
  const env = { OPENAI_COMPATIBLE_BASE_URL: server.baseURL, OPENAI_COMPATIBLE_API_KEY: apiKey }
  await using quiesce = await Quiesce.launch({
    runtime,
    store: 'memory:',
    logLevel: 'debug',
    model: 'openai-compatible/vectors',
    env,
    onStderr: (line) => stderr.push(line),
  })
  const session = await quiesce.sessions.create({ cwd: workspace, permissions })
  const { result, items } = await outcome(session, streamed)
  const { events } = result

  expect(result.finalResponse).toBe(wanted.finalResponse)
  expect(result.usage).toMatchObject(wanted.usage ?? {})
  expect(ofType(events, 'assistant/message').at(-1)?.data.finish ?? null).toBe(wanted.finish)
  expect(ofType(events, 'turn/end').at(-1)?.data.reason).toMatchObject(wanted.reason)
  expect(ofType(events, 'model/retry').map(({ data }) => data)).toMatchObject(wanted.retries ?? [])
  expect(startedTools(events)).toEqual(wanted.tools ?? [])
  for (const [path, content] of Object.entries(wanted.files ?? {})) {
    const file = join(workspace, path)
    expect(existsSync(file) ? readFileSync(file, 'utf8') : null).toBe(content)
  }
  if (streamed) expect(streamedText(items)).toBe(result.finalResponse)

  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(script.map(() => `Bearer ${apiKey}`))
  const told = { result, items, messages: await session.messages(), described: await session.describe(), models: await quiesce.models() }
  await quiesce.close()
  const kept = filesOf(workspace).map((path) => readFileSync(join(workspace, path), 'utf8'))
  expect(JSON.stringify([told, stderr, kept])).not.toContain(apiKey)
})
