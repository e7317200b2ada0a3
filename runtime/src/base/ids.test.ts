import { validate, version } from 'uuid'
import { expect, it } from 'vitest'
import { systemIds } from './ids.ts'

it('makes ids that never repeat and sort as they were made, within one millisecond too', () => {
  const made = Array.from({ length: 2000 }, () => systemIds('ses'))
  expect([...made].sort()).toEqual(made)
  expect(new Set(made).size).toBe(made.length)
  const uuids = made.map((id) => id.replace(/^ses_/, ''))
  expect(uuids.every((uuid) => validate(uuid) && version(uuid) === 7)).toBe(true)
  // The random part, behind what is counted up.
  expect(new Set(uuids.map((uuid) => uuid.slice(-10))).size).toBeGreaterThan(1990)
  const milliseconds = Number.parseInt(made[0]?.slice(4).replace('-', '').slice(0, 12) ?? '', 16)
  expect(Math.abs(Date.now() - milliseconds)).toBeLessThan(60_000)
})
