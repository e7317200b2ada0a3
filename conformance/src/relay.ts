// Owns what lies between an SDK and a real server (L3): passes the bytes on unchanged, and reads along.
import { isObject, type Json } from './case.ts'
import type { Link } from './endpoint.ts'
import { FrameCheck } from './frame-check.ts'
import { Lines } from './lines.ts'
import type { ServerProcess } from './server-process.ts'
import type { World } from './world.ts'

/** Starts the server behind a program that the SDK launched; each ends the other. An SDK's own requests are judged, a case's are not. */
export function relay(world: World, link: Link, judges: 'requests' | 'answers'): ServerProcess {
  const name = `runtime ${world.servers.length + 1}`
  const check = new FrameCheck(world.schema)
  const read = (arrow: string, judge: (frame: unknown) => string | null) =>
    new Lines((line) => {
      const text = line.toString()
      world.say(`${name} ${arrow} ${text}`)
      const fault = judge(parsed(text))
      if (fault !== null) world.frameFaults.push(`${name}: ${fault}: ${text.slice(0, 500)}`)
    })
  const out = read('<-', (frame) => check.toClient(frame))
  const into = read('->', (frame) => {
    check.toServer(frame)
    if (judges === 'answers') return null
    return isObject(frame) && typeof frame.method === 'string'
      ? world.schema.params(frame.method, frame.params ?? {})
      : 'the SDK sent what is no request'
  })
  const server = world.startServer((chunk) => {
    out.push(chunk)
    link.write(chunk)
  }, ours(link.env))
  link.onData((chunk) => {
    into.push(chunk)
    server.write(chunk)
  })
  void link.ended.then(() => server.endInput())
  // A program that its SDK killed takes its server along.
  void link.closed.then(() => server.signal('SIGKILL'))
  void server.exited.then(({ code, signal }) => {
    world.say(`${name} ended with ${signal ?? `status ${code}`}`)
    link.exit({ ...(signal === null ? { code: code ?? 1 } : { signal }), stderr: server.stderr })
  })
  return server
}

const parsed = (text: string): Json | undefined => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Of what the SDK gave its runtime, the variables that mean something to a server. */
function ours(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('QUIESCE_')))
}
