// Owns what goes wrong with the bytes of frames, whatever they say: cut off, flipped, glued together, not text, or just noise.

const lf = Buffer.from('\n')
const separators = ['\u2028', '\u2029', '\u0085', '\u000b', '\u000c', '\u001e', '\r', '\ufeff', '\u00a0', '\u0000'].map((text) =>
  Buffer.from(text),
)
const notUtf8 = ['80', 'c3', 'c328', 'e28228', 'f0288cbc', 'eda080', 'c0af', 'f5808080', 'fffe', 'e28'.padEnd(4, '0')].map((hex) =>
  Buffer.from(hex, 'hex'),
)

/** Bytes put into `line` somewhere. */
function spliced(line, random, part) {
  const at = random.below(line.length + 1)
  return Buffer.concat([line.subarray(0, at), part, line.subarray(at)])
}

function flipped(line, random) {
  const copy = Buffer.from(line)
  for (let left = random.between(1, 4); left > 0 && copy.length > 0; left -= 1) copy[random.below(copy.length)] ^= 1 << random.below(8)
  return copy
}

const noise = (random) => random.bytes(random.once(5) ? random.between(20, 400) : random.between(1, 20))

/**
 * One frame made bad, or several made of it; what a stream holds where a right peer would have sent `line`. Each ends with LF but for
 * those that run into what follows.
 * @param {Buffer} line a whole frame, without its LF
 * @param {Buffer} other another one
 * @param {import('./random.mjs').Random} random
 */
export function damaged(line, other, random) {
  return random.weighted([
    [3, () => [flipped(line, random), lf]],
    [2, () => [line.subarray(0, random.below(line.length + 1)), lf]],
    [1, () => [line.subarray(random.below(line.length + 1)), lf]],
    [1, () => [line.subarray(0, random.below(line.length + 1)), other.subarray(random.below(other.length + 1)), lf]],
    [1, () => [line, other, lf]],
    [1, () => [line.subarray(0, random.below(line.length + 1)), lf, line.subarray(random.below(line.length + 1)), lf]],
    [2, () => [spliced(line, random, random.pick(notUtf8)), lf]],
    [3, () => [spliced(line, random, random.pick(separators)), lf]],
    [1, () => [line, random.pick(separators), other, lf]],
    [2, () => [line, random.pick([Buffer.from('\r\n'), Buffer.from('\r\r\n'), Buffer.from(' \n')])]],
    [1, () => [random.pick([Buffer.from(' '), Buffer.from('\t'), Buffer.from('\r'), Buffer.from('\ufeff')]), line, lf]],
    [
      2,
      () =>
        [random.pick(['\n', '\n\n\n', '\r\n', ' \n', '\r\r\n', '\t\n', '\u2028\n', '\ufeff\n', '\u0000\n']).toString()].map((text) =>
          Buffer.from(text),
        ),
    ],
    [2, () => [noise(random), lf]],
    [
      1,
      () => [
        Buffer.from(
          random.pick(['null', 'true', '7', '-0', '"text"', '[]', '{}', '[[]]', '[{}]', 'Debugger attached.', '{"', '"', '\\', 'nan']),
        ),
        lf,
      ],
    ],
  ])()
}

/** A frame of exactly so many bytes, which says nothing else than `line`: spaces fill it up. */
export function padded(line, length) {
  if (line.length >= length) return line
  return Buffer.concat([line.subarray(0, 1), Buffer.alloc(length - line.length, 0x20), line.subarray(1)])
}
