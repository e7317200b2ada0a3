// Owns what the store's tests build with: sessions, messages, owners, stores of every kind in directories of their own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionConfigOf } from '@quiesce/schema'
import { fact, type NewFact } from '../log/facts.ts'
import type { CommitRequest, CommitResult, Owner } from './store.ts'

export const configOf = (extra: Partial<SessionConfigOf> = {}): SessionConfigOf => ({
  cwd: '/w',
  roots: ['/w'],
  model: 'scripted/one',
  permissions: 'edit',
  limits: {},
  metadata: {},
  ...extra,
})

export function created(sessionId: string, extra: { config?: Partial<SessionConfigOf>; parentId?: string } = {}): CommitRequest {
  const { parentId } = extra
  const data = { config: configOf(extra.config), depth: 0, ...(parentId !== undefined && { parentId }) }
  return { sessionId, when: [{ kind: 'absent' }], facts: [fact('session/create', 1000, data)] }
}

export function receipt(id: string, delivery: 'followup' | 'steer' | 'inject' = 'followup', text = 'hello'): NewFact {
  return fact('inbox/receipt', 2000, { message: { id, delivery, origin: { kind: 'user' }, content: [{ type: 'text', text }] } })
}

export const ownerOf = (name: string): Owner => ({ runtimeId: name, host: 'here', bootId: 'b1', pid: 7, processStart: '99' })

/** The refusal of a commit, or `ok`. */
export const outcome = (result: CommitResult | { ok: boolean; refused?: string }): string =>
  'refused' in result ? `${result.refused}` : 'ok'

/** Text that stores are known to damage: NUL, lone surrogates, line separators, quotes, astral characters, a BOM. */
export const hardTexts = [
  'a\0b',
  '\0',
  '\ud800',
  'x\udc00y',
  '\u2028\u2029\u0085',
  '"\\\'',
  '😀',
  '\ufeffbom',
  '__proto__',
  ' ',
  'é',
  'e\u0301',
]

/** A directory that `remove` takes away. */
export function scratch(): { path: (name: string) => string; remove: () => void } {
  const root = mkdtempSync(join(tmpdir(), 'quiesce-store-'))
  return { path: (name) => join(root, name), remove: () => rmSync(root, { recursive: true, force: true }) }
}
