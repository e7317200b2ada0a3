import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { Quiesce } from '../../ts-sdk/src/index.ts'
import { byHand, frames, seed } from './extent.mjs'
import { Random } from './random.mjs'

const runtime = fileURLToPath(new URL('./cut-short.mjs', import.meta.url))
const cuts = byHand ? Math.ceil(frames(0) / 5000) : 16

/** The run of the one conversation, on a runtime that ends after so many bytes. */
async function run(env) {
  const said = []
  const quiesce = new Quiesce({ runtime, env, onStderr: (line) => said.push(line) })
  try {
    const result = await (await quiesce.sessions.get('s-1')).run('hello')
    return { text: result.finalResponse, seqs: result.events.map(({ seq }) => seq), said }
  } catch (error) {
    return { error: error.name }
  } finally {
    await quiesce.close()
  }
}

const right = { text: 'a\u2028b\u2029c\u0085d 🧭 漢', seqs: [1, 2, 3, 4, 5, 6, 7, 8, 9] }
let idleBy

beforeAll(async () => {
  const { said, ...result } = await run({})
  expect(result).toEqual(right)
  idleBy = Number(/^idle by (\d+)$/.exec(said[0])?.[1])
}, 60_000)

test(
  `FR-1, RUN-10: the TypeScript SDK outlives a stream that ends anywhere, in ${cuts} places (seed ${seed})`,
  async () => {
    const random = new Random(seed, 0)
    for (let i = 0; i < cuts; i += 1) {
      const cut = random.pick([random.between(0, idleBy + 40), random.between(idleBy - 3, idleBy + 3)])
      const env = { FUZZ_CUT: String(cut), FUZZ_CHUNK: String(random.pick([1, 7, 4000])), FUZZ_END: random.pick(['exit', 'kill', 'close']) }
      const { said: _, ...became } = await run(env)
      expect(became, JSON.stringify(env)).toEqual(cut >= idleBy ? right : { error: 'ConnectionClosedError' })
    }
  },
  60_000 + cuts * 10_000,
)
