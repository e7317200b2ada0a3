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
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true, noDelay: true }, () => {
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
const waiting = new Set()
data.on('data', (chunk) => {
  written += chunk.length
  process.stdout.write(chunk)
  for (const look of waiting) look()
})
data.on('end', () => process.stdout.end())

/** Once so many bytes have come, and are out. */
async function flushed(after) {
  await new Promise((resolve) => {
    const look = () => {
      if (written < after) return
      waiting.delete(look)
      resolve()
    }
    waiting.add(look)
    look()
  })
  await new Promise((resolve) => (process.stdout.writableEnded ? resolve() : process.stdout.write('', () => resolve())))
}

async function obey({ tell, code = 0, signal, stderr = '', after }) {
  await flushed(tell ?? after)
  if (tell !== undefined) return control.write(`${tell}\n`)
  if (stderr !== '') await new Promise((resolve) => process.stderr.write(stderr, () => resolve()))
  if (signal !== undefined) process.kill(process.pid, signal)
  else process.exit(code)
}
let rest = ''
control.setEncoding('utf8')
control.on('data', (text) => {
  const orders = (rest + text).split('\n')
  rest = orders.pop()
  for (const order of orders) obey(JSON.parse(order))
})
control.on('end', () => process.exit(1))
