// Owns what stands for the model of a case: its script played by the server itself, or the same script behind loopback HTTP in a vendor's
// format; and the gates at which it waits.
import { existsSync, mkdirSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startChatServer } from '../fixtures/chat-server.mjs'
import type { Json } from './case.ts'
import { player } from './script.ts'

export interface CaseModel {
  /** What a session names: `provider/model`. */
  readonly name: string
  /** What a server needs in its environment to reach it. */
  readonly env: Readonly<Record<string, string>>
  /** Lets the model go on that stands, or will stand, before the gate. */
  release(gate: string): void
  /** Once the model stands, or stood, before the gate. */
  reached(gate: string): Promise<void>
  /** The bodies of the requests that came, in their order; null where nobody but the server knows them. */
  asked(): Json | null
  close(): Promise<void>
}

/** The server plays the script that lies in `workspace` as case.json; its gates are files of `gates`. */
export function scriptedModel(workspace: string, gates: string, script: Json): CaseModel {
  mkdirSync(gates)
  writeFileSync(join(workspace, 'case.json'), JSON.stringify(script))
  return {
    name: 'scripted/case',
    env: { QUIESCE_GATES: gates },
    release: (gate) => writeFileSync(join(gates, gate), ''),
    reached: (gate) => appears(gates, `${gate}.reached`),
    asked: () => null,
    close: async () => undefined,
  }
}

/** A server of chat completions on loopback, in this process, plays the script. */
export async function httpModel(script: Json): Promise<CaseModel> {
  const server = await startChatServer(player(script))
  return {
    name: 'openai-compatible/case',
    env: { OPENAI_COMPATIBLE_BASE_URL: server.baseURL },
    release: (gate) => server.release(gate),
    reached: (gate) => server.reached(gate),
    asked: () => server.requests.map(({ body }): Json => JSON.parse(body)),
    close: () => server.close(),
  }
}

/** Watched before the look, so that it can't come between the two. */
async function appears(folder: string, name: string): Promise<void> {
  const path = join(folder, name)
  const watcher = watch(folder)
  try {
    if (existsSync(path)) return
    await new Promise<void>((resolve) => {
      watcher.on('change', () => {
        if (existsSync(path)) resolve()
      })
    })
  } finally {
    watcher.close()
  }
}
