// Owns how much is fuzzed, and from which seed: a little in every run of the suites, as much as FUZZ_FRAMES says by hand.

const given = (name) => (process.env[name] === undefined || process.env[name] === '' ? undefined : Number(process.env[name]))

/** Whoever runs it by hand wants to see what was done. */
export const byHand = given('FUZZ_FRAMES') !== undefined
export const seed = given('FUZZ_SEED') ?? 1
/** Frames of one target; `usual` of them where nothing is said. */
export const frames = (usual) => given('FUZZ_FRAMES') ?? usual
/** How long that may take before it hangs, in milliseconds. */
export const longest = (count) => 120_000 + count * 10
