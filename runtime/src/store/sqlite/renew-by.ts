// Owns the renewal of leases by an engine on the same thread.
import type { Engine } from '../engine.ts'
import { StoreFault } from '../fault.ts'
import type { KeeperParts } from '../lease-keeper.ts'

export function renewBy(engine: Engine): KeeperParts['renew'] {
  return async (leases, at) => {
    const [answer] = engine.run([{ kind: 'renew', leases, ...at }])
    if (answer?.kind === 'renew') return answer.value
    if (answer?.kind !== 'fault') throw new Error(`the engine answered ${answer?.kind ?? 'nothing'} where renew was asked`)
    const { code, message, details } = answer.value
    throw new StoreFault(code, message, details)
  }
}
