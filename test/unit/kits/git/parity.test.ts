import { expect, inject, test } from 'vitest'
import { ATTRIBUTE_SCRIPTS } from '../../../fixtures/git/attribute-scripts.ts'
import { COMPARISON_SCRIPTS } from '../../../fixtures/git/comparison-scripts.ts'
import { DAILY_SCRIPTS } from '../../../fixtures/git/daily-scripts.ts'
import { EVERYDAY_SCRIPTS } from '../../../fixtures/git/everyday-scripts.ts'
import { EXCHANGE_SCRIPTS } from '../../../fixtures/git/exchange-scripts.ts'
import { HISTORY_SCRIPTS } from '../../../fixtures/git/history-scripts.ts'
import { INSPECTION_SCRIPTS } from '../../../fixtures/git/inspection-scripts.ts'
import { MAIL_SCRIPTS } from '../../../fixtures/git/mail-scripts.ts'
import { SCRIPTS } from '../../../fixtures/git/parity-scripts.ts'
import { PLUMBING_SCRIPTS } from '../../../fixtures/git/plumbing-scripts.ts'
import { REFLOG_SCRIPTS } from '../../../fixtures/git/reflog-scripts.ts'
import { SEARCH_SCRIPTS } from '../../../fixtures/git/search-scripts.ts'
import { firstDifference } from './two-gits.ts'

const scripts = Object.entries({
  ...SCRIPTS,
  ...DAILY_SCRIPTS,
  ...HISTORY_SCRIPTS,
  ...INSPECTION_SCRIPTS,
  ...COMPARISON_SCRIPTS,
  ...EVERYDAY_SCRIPTS,
  ...EXCHANGE_SCRIPTS,
  ...MAIL_SCRIPTS,
  ...SEARCH_SCRIPTS,
  ...PLUMBING_SCRIPTS,
  ...REFLOG_SCRIPTS,
  ...ATTRIBUTE_SCRIPTS,
})

/** Each takes seconds of the real git. */
const SAMPLE_EVERY = 3

for (const [name, steps] of scripts.filter((_, at) => inject('isProof') || at % SAMPLE_EVERY === 0)) {
  test(`says and does what git says and does: ${name}`, async () => {
    expect(await firstDifference('parity', steps)).toBeNull()
  })
}
