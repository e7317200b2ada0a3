// The SDK against the real runtime, and that against a server of each vendor's format: the vectors that both SDKs share.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ModelAnswer, ModelServer } from '../../conformance/fixtures/model-server.mjs'
import type { ModelOptions, Quiesce, RunResult, Session, SessionEvent, StreamItem } from '../src/index.ts'
import { filesOf, filledIn, launch, ofType, readVectors, startServer } from './vendors.ts'

interface Case {
  name: string
  script: ModelAnswer[]
  everyWay?: boolean
  streamed?: boolean
  permissions?: 'edit' | 'allow-all'
  modelOptions?: ModelOptions
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

interface Vectors {
  server: string
  apiKey: string
  keyHeader: [name: string, value: string]
  retry: object
  ways: { name: string; model: string; models?: object; env: Record<string, string> }[]
  cases: Case[]
}

let folder: string
let workspace: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quiesce-vendors-'))
  workspace = join(folder, 'workspace')
  mkdirSync(workspace)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

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

function expectFiles(files: Readonly<Record<string, string | null>> = {}): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(workspace, path)
    expect(existsSync(file) ? readFileSync(file, 'utf8') : null).toBe(content)
  }
}

describe.each(['chat', 'anthropic', 'responses'])('%s', (vendor) => {
  const { server: kind, apiKey, keyHeader, retry, ways, cases } = readVectors(vendor) as Vectors
  const [keyName, keyValue] = filledIn(keyHeader, { apiKey })
  describe.each(ways.map((way, index) => ({ way, among: index === 0 ? cases : cases.filter(({ everyWay }) => everyWay) })))(
    'by $way.name',
    ({ way, among }) => {
      const stderr: string[] = []
      let server: ModelServer
      let quiesce: Quiesce
      let home: string
      beforeAll(async () => {
        home = mkdtempSync(join(tmpdir(), 'quiesce-vendors-'))
        server = await startServer(kind, [])
        const places = { apiKey, baseURL: server.baseURL, origin: `http://127.0.0.1:${server.port}` }
        const { model, models = {}, env } = filledIn(way, places)
        quiesce = launch({ folder: home, model, env, config: { retry, models }, onStderr: (line) => stderr.push(line) })
      })
      afterAll(async () => {
        await quiesce.close()
        await server.close()
        rmSync(home, { recursive: true, force: true })
        expect(stderr.join('\n')).not.toContain(apiKey)
      })

      it.each(among)('$name', async ({ script, streamed = false, permissions = 'edit', modelOptions, expect: wanted }) => {
        server.play(script)
        const session = await quiesce.sessions.create({ cwd: workspace, permissions, ...(modelOptions !== undefined && { modelOptions }) })
        const { result, items } = await outcome(session, streamed)
        const { events } = result

        expect(ofType(events, 'turn/end').at(-1)?.data.reason).toMatchObject(wanted.reason)
        expect(result.finalResponse).toBe(wanted.finalResponse)
        expect(result.usage).toMatchObject(wanted.usage ?? {})
        expect(ofType(events, 'assistant/message').at(-1)?.data.finish ?? null).toBe(wanted.finish)
        expect(ofType(events, 'model/retry').map(({ data }) => data)).toMatchObject(wanted.retries ?? [])
        expect(startedTools(events)).toEqual(wanted.tools ?? [])
        expectFiles(wanted.files)
        if (streamed) expect(streamedText(items)).toBe(result.finalResponse)

        expect(server.requests.map(({ headers }) => headers[keyName])).toEqual(script.map(() => keyValue))
        const told = {
          result,
          items,
          messages: await session.messages(),
          described: await session.describe(),
          models: await quiesce.models(),
        }
        const kept = filesOf(workspace).map((path) => readFileSync(join(workspace, path), 'utf8'))
        expect(JSON.stringify([told, kept])).not.toContain(apiKey)
      })
    },
  )
})

interface Switch {
  servers: Record<string, ModelAnswer[]>
  models: Record<string, { server: string; provider: string }>
  turns: { model: string; modelOptions?: ModelOptions; finalResponse: string }[]
  files: Record<string, string>
}

it('another vendor goes on with the session, and gets the reasoning of no other', async () => {
  const { servers: scripts, models, turns, files } = readVectors('switch') as Switch
  const servers = new Map<string, ModelServer>()
  const named: Record<string, object> = {}
  for (const [name, { server: kind, provider }] of Object.entries(models)) {
    const server = await startServer(kind, scripts[name] ?? [])
    servers.set(name, server)
    named[name] = { provider, baseURL: server.baseURL }
  }
  await using quiesce = launch({ folder, model: 'scripted/demo', env: {}, config: { models: named } })
  const session = await quiesce.sessions.create({ cwd: workspace })
  for (const { model, modelOptions, finalResponse } of turns) {
    await session.update({ model, ...(modelOptions !== undefined && { modelOptions }) })
    const { finalResponse: said, events } = await session.run('Go on.')
    expect(ofType(events, 'turn/end').map(({ data }) => data.reason)).toEqual([{ kind: 'completed' }])
    expect(said).toBe(finalResponse)
    expect(ofType(events, 'step/start').map(({ data }) => data.model)).toEqual(ofType(events, 'step/start').map(() => model))
  }
  for (const [name, server] of servers) {
    expect(server.requests.length).toBe(scripts[name]?.length)
    await server.close()
  }
  expectFiles(files)
})

it('session options that are wrong are refused with their path, at create and at update (FR-2)', async () => {
  await using quiesce = launch({ folder, model: 'scripted/demo', env: {}, config: {} })
  const modelOptions = { temperature: 2.5 }
  await expect(quiesce.sessions.create({ cwd: workspace, modelOptions })).rejects.toThrow(
    /modelOptions\.temperature: expected a number from 0 to 2, got 2\.5/,
  )
  const session = await quiesce.sessions.create({ cwd: workspace })
  await expect(session.update({ modelOptions: { stop: [''] } })).rejects.toThrow(/modelOptions\.stop: .*none of them empty/)
  await expect(session.update({ model: 'nobody/x' })).rejects.toThrow(/"nobody" is no provider/)
  await session.update({ modelOptions: { temperature: 2 } })
})
