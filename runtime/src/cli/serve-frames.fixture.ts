// Owns what tests of the executable say to a server and read of what it says, and how a line on stderr has to be.
import { expect } from 'vitest'

export const demo = ['run', '--model', 'scripted/demo', 'hello']
export const request = (id: number, method: string, params: unknown = {}) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
export const hello = request(1, 'initialize', { protocol: { min: 1, max: 1 }, client: { name: 't', version: '0' } })

export interface Frame {
  id?: number
  result?: Record<string, unknown>
  error?: { message: string; data: Record<string, unknown> }
  method?: string
  params?: { event?: { type: string; seq: number; data: unknown }; reason?: string; error?: unknown; status?: string }
}

export const framesOf = (text: string): Frame[] =>
  text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))

/** One line, of the store, without anything of the code. */
export function expectLine(stderr: string, path: string, says: RegExp): void {
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(stderr).toMatch(/^quiesce: /)
  expect(stderr).toContain(path)
  expect(stderr.trimEnd()).toMatch(says)
  expect(stderr).not.toMatch(/ {4}at |node:|StoreFault|Refusal/)
}
