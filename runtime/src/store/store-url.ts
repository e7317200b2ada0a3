// Owns the words that name a store: `sqlite:PATH` and `memory:`. Opens nothing.
import { InvalidParams } from '../log/refusal.ts'

export type StoreUrl = { kind: 'sqlite'; path: string } | { kind: 'memory' }

/** Reads `sqlite:PATH` or `memory:`. *Contract:* throws InvalidParams that says what would be right. */
export function parseStoreUrl(url: string): StoreUrl {
  if (url === 'memory:') return { kind: 'memory' }
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : ''
  if (path.startsWith('~')) throw bad(url, 'write your home directory out, "~" is not expanded here')
  if (path.includes('\0')) throw bad(url, 'a path holds no NUL character')
  if (path === '') throw bad(url, 'expected sqlite:PATH (for example sqlite:/var/lib/quiesce/quiesce.db) or memory:')
  return { kind: 'sqlite', path }
}

function bad(url: string, wanted: string): InvalidParams {
  return new InvalidParams([{ path: 'store', message: `${wanted}, got ${JSON.stringify(url)}` }])
}
