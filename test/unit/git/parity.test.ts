import { expect, test } from 'vitest'
import { DAILY_SCRIPTS } from '../../fixtures/git/daily-scripts.ts'
import { SCRIPTS } from '../../fixtures/git/parity-scripts.ts'
import { firstDifference } from './two-gits.ts'

for (const [name, steps] of Object.entries({ ...SCRIPTS, ...DAILY_SCRIPTS })) {
  test(`says and does what git says and does: ${name}`, async () => {
    expect(await firstDifference('parity', steps)).toBeNull()
  })
}
