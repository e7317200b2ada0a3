import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { commonSteps } from './common-steps.ts'
import { DriverProcess } from './driver-process.ts'
import { DriverLayer, operations } from './driver-steps.ts'
import { FrameSchema } from './frame-check.ts'
import { operatorNames } from './match.ts'
import { PeerLayer } from './peer-steps.ts'
import { RawLayer } from './raw-steps.ts'
import { serverSteps } from './run-case.ts'
import { verdictNames } from './verdict.ts'
import { World } from './world.ts'

const file = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
const page = file('../../docs/conformance.md')

/** Below a heading, up to the next one. */
function section(heading: string): string {
  const [, after] = page.split(`\n${heading}\n`)
  if (after === undefined) throw new Error(`the page has no ${heading}`)
  return after.split(/\n#+ /)[0] ?? ''
}

/** What stands in the first column of a section's table, in its order. */
function named(heading: string): string[] {
  const rows = section(heading)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  return [...new Set(rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '')))].sort()
}

const keys = (of: object): string[] => Object.keys(of).sort()

describe('the page of the suite names exactly', () => {
  it('the steps of every layer', async () => {
    const world = await World.open(
      {
        ...{ id: 'a/b', title: '', covers: [], layer: 'L1', transport: 'scripted', uncompared: null, model: [], files: {}, env: {} },
        ...{ session: {}, peer: {}, steps: [], expect: {}, same: [], only: {} },
      },
      ['true'],
      new FrameSchema(new URL('../../schema/protocol.schema.json', import.meta.url).pathname),
    )
    const driver = new DriverProcess({ name: 'none', command: ['true'], directory: '.', env: {}, needs: null, layers: null })
    try {
      const raw = new RawLayer(world, () => Promise.reject(new Error('nothing is opened')))
      const driven = new DriverLayer(world, driver, [], { runtime: {}, session: {}, observes: false })
      expect(named('### Steps of every layer')).toEqual(keys(commonSteps))
      expect(named('### Steps of L1')).toEqual(keys(raw.steps))
      expect(named('### Steps of L0 and L2')).toEqual(keys(new PeerLayer(world, {}).steps))
      expect(named('### Steps of L3')).toEqual(keys(serverSteps))
      const own = keys(driven.steps).filter((name) => name === 'abort' || !operations.some((operation) => operation === name))
      expect(named('### Steps of L0, L2 and L3')).toEqual(own)
    } finally {
      await driver.ended
      await world.remove()
    }
  })

  it('the operations of a driver', () => expect(named('## How to add a driver')).toEqual([...operations].sort()))
  it('the operators', () => expect(named('### Matchers')).toEqual([...operatorNames].sort()))
  it('the verdicts', () => expect(named('## How to read a failure')).toEqual([...verdictNames].sort()))

  it('what a case may say, and its peer', () => {
    const { properties } = JSON.parse(file('../case.schema.json'))
    expect(named('### What a case says')).toEqual(keys(properties))
    const peer = section('### What a case says')
      .split('\n')
      .find((line) => line.startsWith('| `peer`'))
    for (const option of keys(properties.peer.properties)) expect(peer).toContain(`\`${option}`)
  })

  it('what a driver.yaml may say', () => {
    const example = page.split('\nname: mylang\n')[1]?.split('```')[0] ?? ''
    expect([...example.matchAll(/^(\w+):/gm)].map(([, name]) => name)).toEqual(['command', 'env', 'needs', 'layers'])
  })
})
