#!/usr/bin/env node
// What an SDK launches as its runtime in the suite: hands its stdin to the runner, and the runner's bytes to its stdout.
import { connect } from 'node:net'

const [port, place] = (process.env.CONFORMANCE_ENDPOINT ?? '').split('/')
if (place === undefined) {
  process.stderr.write('endpoint: it is started by the conformance suite alone (CONFORMANCE_ENDPOINT is not set)\n')
  process.exit(2)
}
const dial = (greeting) =>
  new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true }, () => {
      socket.write(`${JSON.stringify({ place, pid: process.pid, ...greeting })}\n`)
      resolve(socket)
    })
    socket.once('error', reject)
  })

const [data, control] = await Promise.all([dial({ kind: 'data' }), dial({ kind: 'control', env: process.env })])
for (const socket of [data, control, process.stdout]) socket.on('error', () => process.exit(1))
process.stdin.pipe(data)

/** Bytes that came from the runner, and those who wait for more. */
let written = 0
let onWritten = () => undefined
data.on('data', (chunk) => {
  written += chunk.length
  process.stdout.write(chunk)
  onWritten()
})
data.on('end', () => process.stdout.end())

/** Everything that was sent before an order to end goes out first. */
async function flushed(after) {
  while (written < after)
    await new Promise((resolve) => {
      onWritten = resolve
    })
  await new Promise((resolve) => (process.stdout.writableEnded ? resolve() : process.stdout.write('', () => resolve())))
}
let rest = ''
control.setEncoding('utf8')
control.on('data', async (text) => {
  rest += text
  const end = rest.indexOf('\n')
  if (end < 0) return
  const { code = 0, signal, stderr = '', after } = JSON.parse(rest.slice(0, end))
  await flushed(after)
  if (stderr !== '') await new Promise((resolve) => process.stderr.write(stderr, () => resolve()))
  if (signal !== undefined) process.kill(process.pid, signal)
  else process.exit(code)
})
control.on('end', () => process.exit(1))
