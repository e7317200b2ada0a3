// Owns what goes wrong inside one JSON message: a field missing, changed, renamed, of another type, far too large or far too deep.
import { Entries, plain, Raw } from './json-text.mjs'

const nested = (open, close, depth) => new Raw(`${open.repeat(depth)}0${close.repeat(depth)}`)

const scalars = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  '',
  ' ',
  'null',
  '0',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udc00\ud800b',
  '\uFEFF',
  '\u2028\u2029\u0085\u000b\u000c',
  '__proto__',
  'constructor',
  '🧭'.repeat(120),
  '../../etc/passwd',
  'a'.repeat(129),
  'a'.repeat(201),
  new Raw('-0'),
  new Raw('1e400'),
  new Raw('-1e400'),
  new Raw('1e-400'),
  new Raw('1.0'),
  new Raw('1e0'),
  new Raw('9007199254740993'),
  new Raw('-9007199254740993'),
  new Raw('9223372036854775808'),
  new Raw('123456789012345678901234567890'),
  new Raw('"\\u0061"'),
  new Raw('"\\ud83d\\ude00"'),
]

/** What isn't even JSON; a frame that holds it is none. */
const notJson = [
  'NaN',
  'Infinity',
  '-Infinity',
  'undefined',
  "'a'",
  '01',
  '+1',
  '.5',
  '1.',
  '0x10',
  '"\t"',
  '"\\x"',
  '"\\u12"',
  '{a:1}',
  '[1,]',
  '{,}',
  '/**/0',
  '"',
]

/** A value that fits almost nowhere. */
export function odd(random) {
  return random.weighted([
    [20, () => random.pick(scalars)],
    [2, () => []],
    [2, () => ({})],
    [2, () => [random.pick(scalars)]],
    [2, () => ({ [random.pick(['a', 'type', 'kind', 'sessionId', 'code'])]: random.pick(scalars) })],
    [2, () => new Entries([['__proto__', random.pick([null, 1, {}, { polluted: true }])]])],
    [1, () => new Entries(['a', 'a'].map((key) => [key, odd(random)]))],
    [1, () => Object.fromEntries(['constructor', 'toJSON', 'then', 'length', 'valueOf'].map((key) => [key, odd(random)]))],
    [0.2, () => random.pick(['x', '漢', '\\', '"', '\u0001']).repeat(random.pick([500, 1500, 5000]))],
    [0.2, () => nested('[', ']', random.pick([50, 199, 200, 201, 900, 5000]))],
    [0.2, () => nested('{"a":', '}', random.pick([50, 199, 200, 201, 900, 2000]))],
    [
      0.15,
      () =>
        new Raw(
          `[${Array(random.pick([100, 1000, 4000]))
            .fill(random.pick(['0', '""', '{}', '[]']))
            .join(',')}]`,
        ),
    ],
    [0.2, () => Object.fromEntries(Array.from({ length: random.pick([50, 500]) }, (_, i) => [`k${i}`, i]))],
    [0.5, () => new Raw(random.pick(notJson))],
  ])()
}

/** Every place inside a value, outermost first. */
function placesIn(value, path = [], found = []) {
  found.push(path)
  if (found.length > 400 || typeof value !== 'object' || value === null || value instanceof Raw || value instanceof Entries) return found
  for (const key of Object.keys(value)) placesIn(value[key], [...path, key], found)
  return found
}

/** A copy of `root` in which `change` was made to the container of the last key of `path`. */
function changed(root, path, change) {
  const [key, ...rest] = path
  if (key === undefined) return root
  if (rest.length === 0) return change(root, key)
  if (Array.isArray(root)) return root.map((inner, i) => (String(i) === key ? changed(inner, rest, change) : inner))
  // By its entries: a key may be `__proto__`.
  return Object.fromEntries(Object.entries(root).map(([name, inner]) => [name, name === key ? changed(inner, rest, change) : inner]))
}

const withKey = (container, key, value) => {
  if (Array.isArray(container)) return container.map((inner, i) => (String(i) === key ? value : inner))
  return new Entries([...Object.entries(container).filter(([other]) => other !== key), [key, value]])
}

const changes = [
  [4, (container, key, random) => withKey(container, key, odd(random))],
  [2, (container, key) => without(container, key)],
  [1, (container, key) => withKey(container, key, [container[key]])],
  [1, (container, key) => withKey(container, key, { value: container[key] })],
  [1, (container, key) => withKey(container, key, typeof container[key] === 'string' ? 7 : plain(container[key]))],
  [
    1,
    (container, key, random) =>
      added(container, random.pick([key.toUpperCase(), key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)]), container[key]),
  ],
  [1, (container, key, random) => added(container, key, odd(random))],
  [1, (container, _, random) => added(container, random.pick(['__proto__', 'constructor', 'x', 'params', 'id', '\u0000']), odd(random))],
]

const without = (container, key) =>
  Array.isArray(container)
    ? container.filter((_, i) => String(i) !== key)
    : Object.fromEntries(Object.entries(container).filter(([other]) => other !== key))

const added = (container, key, value) =>
  Array.isArray(container) ? [...container, value] : new Entries([...Object.entries(container), [key, value]])

/**
 * The message with one to three things wrong with it, or merely strange.
 * @param {unknown} message plain JSON
 * @param {import('./random.mjs').Random} random
 */
export function mutated(message, random) {
  let out = message
  for (let left = random.pick([1, 1, 1, 1, 1, 1, 2, 2, 3]); left > 0; left -= 1) {
    const places = placesIn(out).slice(1)
    if (places.length === 0) return out
    const path = random.pick(places)
    const change = random.weighted(changes)
    out = changed(out, path, (container, key) => change(container, key, random))
  }
  return out
}
