import { expect, test } from 'vitest'
import { SCRIPTS } from '../../fixtures/git/parity-scripts.ts'
import { firstDifference } from './two-gits.ts'

for (const [name, steps] of Object.entries(SCRIPTS)) {
  test(`says and does what git says and does: ${name}`, async () => {
    expect(await firstDifference('parity', steps)).toBeNull()
  })
}
