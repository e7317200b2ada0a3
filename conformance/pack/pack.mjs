// Makes the packages that are published, in dist/, and proves each one in empty directories outside the repository, with an environment
// that knows nothing of it. Prints one line per check, and `N passed, N failed` as the last.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { repository } from '../checks/files.mjs'
import { node24 } from './node-versions.mjs'
import { checkContents, checkNpm, installNpm } from './npm-packages.mjs'
import { makePackages } from './packages.mjs'
import { leftovers, paths, place } from './place.mjs'
import { checkSuite, installSuite } from './suite-package.mjs'
import { check, expectNone, suite } from './tally.mjs'
import { checkPython, checkWheel, installWheel } from './wheel.mjs'

const packagesOf = ({ sdk, runtime, conformance, wheel }) => [sdk.path, runtime.path, conformance.path, wheel]
const alike = (one, other) => readFileSync(one).equals(readFileSync(other))

await suite(async () => {
  const made = await makePackages(join(place, 'stage'), join(repository, 'dist'))
  const again = await makePackages(join(place, 'stage-again'), join(place, 'dist-again'))
  for (const path of packagesOf(made)) console.log(`made    ${relative(repository, path)}`)

  await check('two builds are alike, byte for byte', () =>
    expectNone(packagesOf(made).filter((path, i) => !alike(path, packagesOf(again)[i]))),
  )
  await checkContents(made)
  await checkWheel(made.wheel)
  const parents = []
  for (let at = dirname(place); at !== dirname(at); at = dirname(at)) parents.push(at)
  await check('nothing is installed above the place that packages are proved in', () =>
    expectNone(parents.filter((parent) => existsSync(join(parent, 'node_modules')))),
  )

  const [program, bare, full] = await Promise.all([
    node24(),
    installWheel('bare', made.wheel, ''),
    installWheel('full', made.wheel, '[runtime]'),
    installNpm(made),
    installSuite(made),
  ])
  const onPath = paths.withNode24(program)
  await checkNpm(onPath)
  await checkPython(bare, full, onPath)
  await checkSuite(made)

  await check('no process, no temporary file and nothing but a store and compiled code is left', async () => {
    assert.deepEqual(await leftovers(), { processes: [], temporary: [], home: ['cache', 'data'], data: ['quiesce'] })
  })
})
