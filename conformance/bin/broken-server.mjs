// A broken server: a right one behind a program that passes frames on, or what its mutant makes of them.
// node broken-server.mjs MUTANT.mjs COMMAND…
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [file, program, ...args] = process.argv.slice(2)
const { default: mutant } = await import(pathToFileURL(file).href)
const server = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
const toClient = (frame) => process.stdout.write(`${JSON.stringify(frame)}\n`)
const toServer = (frame) => server.stdin.write(`${JSON.stringify(frame)}\n`)
const state = {}
const parsed = (line) => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const frame = parsed(line)
  if (frame === undefined || mutant.toServer === undefined) server.stdin.write(`${line}\n`)
  else mutant.toServer(frame, { state, toClient, toServer })
})
createInterface({ input: server.stdout }).on('line', (line) => {
  const frame = parsed(line)
  if (frame === undefined || mutant.toClient === undefined) process.stdout.write(`${line}\n`)
  else mutant.toClient(frame, { state, toClient, toServer })
})
process.stdin.on('end', () => server.stdin.end())
for (const stream of [server.stdin, process.stdout]) stream.on('error', () => undefined)
server.on('close', (code) => process.exit(code ?? 1))
