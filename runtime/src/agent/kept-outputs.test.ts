import { expect, test } from 'vitest'
import { Rig } from './agent-rig.fixture.ts'

test('what a session kept goes with it, and only once it is deleted', async () => {
  const rig = new Rig()
  await rig.create('s')
  await expect(rig.runtime.sessions.delete('other')).rejects.toThrow('other')
  expect(rig.runtime.removed).toEqual([])
  await rig.runtime.sessions.delete('s')
  expect(rig.runtime.removed).toEqual(['s'])
})
