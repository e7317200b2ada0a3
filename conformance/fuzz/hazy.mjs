// Owns what of JSON means one thing in one language and another in the next, so that no scenario rests on it.

/** Numbers beyond exact integers, or integers in the form of fractions. */
const number = /\d{16}|\d\.0*(?![0-9])|\d[eE]/
/** An id in plain words, or perhaps in escaped ones. */
const mayHaveId = /"id"|\\u/
const string = /"(?:[^"\\]|\\.)*"/g
/** What is deeper, one language reads and another one refuses as no JSON at all; and no player can compare it. */
const deepest = { typescript: 1500, python: 300 }
/** Whether a scenario may not hold these bytes. @param {Buffer} bytes @param {'typescript' | 'python'} language */
export function isHazy(bytes, language) {
  const text = bytes.toString('latin1')
  // Whoever counts a text's length counts other things: code points, or halves of them.
  if (bytes.includes('🧭'.repeat(20)) || depthOf(bytes) > deepest[language]) return true
  if (number.test(text.replaceAll(string, '""'))) return true
  return mayHaveId.test(text) && bytes.toString().split('\n').some(answersUnknown)
}

/** An answer to some request that a client may have made, though the scenario doesn't know of it. */
function answersUnknown(line) {
  const message = parsed(line)
  const id = typeof message === 'object' && message !== null && typeof message.method !== 'string' ? message.id : undefined
  return Number.isInteger(id) && id > 0 && id < 1_000_000
}

/** What JSON makes of a line, or undefined where it is none. */
export function parsed(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function depthOf(bytes) {
  let depth = 0
  let most = 0
  for (const byte of bytes) {
    if (byte === 0x5b || byte === 0x7b) most = Math.max(most, ++depth)
    else if (byte === 0x5d || byte === 0x7d) depth -= 1
  }
  return most
}
