// An agent does a whole piece of work on a real runner: it clones a published package, breaks it, installs what its tests need,
// sees them fail, mends it, sees them pass, pushes and opens a pull request. One package in the suite, ten with `npm run proof`.

import { spawnSync } from 'node:child_process'
import { expect, inject, test } from 'vitest'
import { PACKAGES } from '../../scripts/demo/lent/packages.ts'
import { RIGHT } from '../../scripts/demo/lent/task.ts'
import { workThrough } from '../../scripts/demo/lent.ts'

const chosen = inject('isProof') ? PACKAGES : PACKAGES.slice(0, 1)

/** The one test that needs more than this machine: a registry of packages. */
const isReachable =
  spawnSync('npm', ['view', 'isarray@1.0.0', 'version', '--fetch-retries=0'], { timeout: 30_000 }).status === 0

test(`an agent breaks, mends, tests and pushes ${chosen.length} packages of the registry`, {
  timeout: 1_500_000,
}, async ({ skip }) => {
  skip(!isReachable, 'the registry of npm cannot be reached')
  const done = await workThrough(chosen)
  expect(Object.fromEntries(chosen.map((spec, at) => [spec, done[at]]))).toEqual(
    Object.fromEntries(chosen.map((spec) => [spec, RIGHT])),
  )
})
