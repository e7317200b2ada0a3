import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { byHand, frames, longest, seed } from './extent.mjs'
import { fuzzServer } from './server-campaign.mjs'

const count = frames(15_000)
const folder = mkdtempSync(join(tmpdir(), 'quiesce-fuzz-'))
writeFileSync(join(folder, 'README.md'), 'Hello.\n')
afterAll(() => rmSync(folder, { recursive: true }))

test(
  `FR-1, FR-2, FR-3: a server keeps its word through ${count} frames of anything (seed ${seed})`,
  async () => {
    const tally = await fuzzServer({ seed, frames: count, folder })
    if (byHand) console.log(tally.text('server'))
    expect(tally.frames).toBeGreaterThanOrEqual(count)
  },
  longest(count),
)
