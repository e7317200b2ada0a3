// Owns the end of a session that this runtime may no longer drive: says whether it was deleted or taken over, or its store failed (SUB-5, DEL-1).
import type { AgentPorts } from './ports.ts'

/** Ends the following of a session whose lease is gone. *Contract:* never rejects. */
export async function lost(ports: Pick<AgentPorts, 'log' | 'store' | 'endTools'>, sessionId: string): Promise<void> {
  // Its next holder works there now.
  ports.endTools(sessionId)
  await ports.store.load(sessionId).then(
    (session) => ports.log.close(sessionId, session === null ? 'deleted' : 'fenced', null),
    (error: Error) => ports.log.close(sessionId, 'storage', error),
  )
}
