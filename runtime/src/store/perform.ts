// Owns the rules of every write: each operation is decided whole before its first row is written, so a refusal writes nothing.
import type { AnyFact, SessionConfigOf } from '@quiesce/schema'
import { firstUnmet } from '../log/conditions.ts'
import { placed } from '../log/facts.ts'
import { applyConfig, applyFact, emptyState } from '../log/session-state.ts'
import { factAt, sessionFault } from './fact-check.ts'
import { type SessionFault, StoreFault } from './fault.ts'
import type { Answer, Operation } from './operations.ts'
import type { LeaseRow, Rows, SessionRow } from './rows.ts'
import type { AcquireResult, CommitRequest, CommitResult, Holder, Lease } from './store.ts'

export function perform(rows: Rows, operation: Operation): Answer {
  switch (operation.kind) {
    case 'commit':
      return { kind: 'commit', value: commit(rows, operation.request) }
    case 'acquire':
      return { kind: 'acquire', value: acquire(rows, operation) }
    case 'renew':
      return { kind: 'renew', value: operation.leases.map((lease) => renew(rows, lease, operation.now + operation.ttlMs)) }
    case 'release':
      return { kind: 'release', value: release(rows, operation.lease) }
    case 'delete':
      return { kind: 'delete', value: bury(rows, operation.sessionId) }
  }
}

function commit(rows: Rows, request: CommitRequest): CommitResult {
  const { sessionId, lease, acquire, when = [] } = request
  const row = rows.find(sessionId)
  if (when.some((condition) => condition.kind === 'absent')) {
    if (row !== null) return { ok: false, refused: 'exists' }
  } else if (row === null || row.deleted) {
    return { ok: false, refused: row !== null && lease !== undefined ? 'fenced' : 'not-found' }
  }
  if (lease !== undefined && !isHeld(row, lease)) return { ok: false, refused: 'fenced' }
  if (row !== null && (request.seen ?? 0) > row.seq) throw wentBack(rows, row, request)
  const known = row === null ? null : knownMessage(rows, row, request)
  if (known !== null) return { ok: false, refused: 'known-message', seq: known }
  const holder = row === null || acquire === undefined || lease !== undefined ? null : liveHolder(row.lease, acquire.now)
  if (holder !== null) return { ok: false, refused: 'held', holder }

  const state = row === null ? emptyState : rows.state(row)
  const condition = firstUnmet(state, when)
  if (condition !== null) return { ok: false, refused: 'unmet', condition, state, foreign: foreignFacts(rows, row, request) }

  const facts = request.facts.map((made, i) => placed(sessionId, state.seq + 1 + i, made))
  const next = facts.reduce(applyFact, state)
  const config = changedConfig(rows, row, facts)
  const receipts = receiptsOf(facts)
  const taken = acquire === undefined ? null : nextLease(row?.lease, acquire)
  const foreign = foreignFacts(rows, row, request)

  const target = row ?? rows.create(sessionId, taken ?? { epoch: 0, holder: null }, next)
  if (row !== null && facts.length > 0) rows.setState(row, next)
  if (row !== null && taken !== null) rows.setLease(row, taken)
  if (config !== null) rows.setConfig(target, config)
  rows.addFacts(target, facts)
  for (const [messageId, seq] of receipts) rows.addReceipt(target, messageId, seq)
  return { ok: true, first: state.seq + 1, last: next.seq, foreign, ...(taken !== null && { lease: { sessionId, epoch: taken.epoch } }) }
}

/** What a runtime has seen was committed: a log that ends before it is not the one that it opened. */
function wentBack({ place }: Rows, { sessionId, seq }: SessionRow, { seen }: CommitRequest): SessionFault {
  const why = `session ${sessionId} ends at fact ${seq} there, and fact ${seen} was seen`
  return sessionFault(place, `was put back to an older copy while it was open: ${why}. Start the runtime anew`, { sessionId, seq })
}

/** The seq of a receipt that stands in the way: one that a condition names, or a second one for the same message (IN-2). */
function knownMessage(rows: Rows, row: SessionRow, request: CommitRequest): number | null {
  for (const condition of request.when ?? []) {
    const seq = condition.kind === 'new-message' ? rows.receipt(row, condition.messageId) : null
    if (seq !== null) return seq
  }
  for (const made of request.facts) {
    const seq = made.type === 'inbox/receipt' ? rows.receipt(row, made.data.message.id) : null
    if (seq !== null) return seq
  }
  return null
}

function receiptsOf(facts: readonly AnyFact[]): Map<string, number> {
  const receipts = new Map<string, number>()
  for (const fact of facts) {
    if (fact.type !== 'inbox/receipt') continue
    const { id } = fact.data.message
    if (receipts.has(id))
      throw new StoreFault('internal', `one commit carries two receipts of message ${JSON.stringify(id)}: it may have one`)
    receipts.set(id, fact.seq)
  }
  return receipts
}

/** The configuration to write, or null where it stays. Only the facts that touch it make it be read. */
function changedConfig(rows: Rows, row: SessionRow | null, facts: readonly AnyFact[]): SessionConfigOf | null {
  const before =
    row !== null && facts.some((fact) => fact.type === 'session/create' || fact.type === 'session/update') ? rows.config(row) : null
  const config = facts.reduce(applyConfig, before)
  if (row === null && config === null)
    throw new StoreFault('internal', 'the first commit of a session has no session/create: it is where the configuration comes from')
  return config
}

function foreignFacts(rows: Rows, row: SessionRow | null, { seen }: CommitRequest): AnyFact[] {
  if (row === null || seen === undefined || seen >= row.seq) return []
  const texts = rows.factTexts(row, seen, row.seq - seen)
  return Array.from({ length: row.seq - seen }, (_, i) => factAt(texts[i], row.sessionId, seen + 1 + i, rows.place))
}

function acquire(rows: Rows, request: Extract<Operation, { kind: 'acquire' }>): AcquireResult {
  const { sessionId } = request
  const row = rows.find(sessionId)
  if (row === null || row.deleted) return { ok: false, refused: 'not-found' }
  const holder = liveHolder(row.lease, request.now)
  if (holder !== null && holder.epoch !== request.replacing) return { ok: false, refused: 'held', holder }
  const taken = nextLease(row.lease, request)
  const session = { sessionId, config: rows.config(row), state: rows.state(row) }
  const previous = row.lease.holder?.owner
  rows.setLease(row, taken)
  return { ok: true, lease: { sessionId, epoch: taken.epoch }, session, ...(previous !== undefined && { previous }) }
}

/** An expired lease that nobody took is still its holder's: the epoch alone fences. */
function renew(rows: Rows, lease: Lease, expiresAt: number): number | null {
  const row = rows.find(lease.sessionId)
  if (row === null || !isHeld(row, lease) || row.lease.holder === null) return null
  rows.setLease(row, { epoch: lease.epoch, holder: { ...row.lease.holder, expiresAt } })
  return row.seq
}

function release(rows: Rows, lease: Lease): null {
  const row = rows.find(lease.sessionId)
  if (row !== null && isHeld(row, lease)) rows.setLease(row, { epoch: lease.epoch, holder: null })
  return null
}

function bury(rows: Rows, sessionId: string): boolean {
  const row = rows.find(sessionId)
  if (row === null || row.deleted) return false
  rows.bury(row)
  return true
}

function isHeld(row: SessionRow | null, lease: Lease): boolean {
  if (row === null || row.deleted || row.lease.holder === null) return false
  return lease.sessionId === row.sessionId && lease.epoch === row.lease.epoch
}

function liveHolder({ epoch, holder }: LeaseRow, now: number): Holder | null {
  return holder !== null && holder.expiresAt > now ? { owner: holder.owner, epoch, expiresAt: holder.expiresAt } : null
}

function nextLease(before: LeaseRow | undefined, { owner, now, ttlMs }: NonNullable<CommitRequest['acquire']>): LeaseRow {
  return { epoch: (before?.epoch ?? 0) + 1, holder: { owner, expiresAt: now + ttlMs } }
}
