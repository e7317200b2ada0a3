import { expect, test } from 'vitest'
import { byHand, frames, longest, seed } from './extent.mjs'
import { fuzzTypescript } from './typescript-campaign.mjs'

const count = frames(15_000)

test(
  `FR-1, FR-4, RUN-2, RUN-10, SUB-5: the TypeScript SDK keeps its word through ${count} frames of anything (seed ${seed})`,
  async () => {
    const tally = await fuzzTypescript({ seed, frames: count })
    if (byHand) console.log(tally.text('TypeScript SDK'))
    expect(tally.frames).toBeGreaterThanOrEqual(count)
  },
  longest(count),
)
