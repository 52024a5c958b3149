// The checker of a model's words against labelled sentences.

import { expect, test } from 'vitest'
import { FRESH } from '../fixtures/sentences/fresh.ts'
import { generate } from '../fixtures/sentences/grammar.ts'
import { FRESH as OTHER_STYLES } from '../fixtures/sentences/other-styles.ts'
import { SECOND } from '../fixtures/sentences/second-grammar.ts'
import { DEVELOPMENT } from '../fixtures/sentences/split.ts'
import { confusion, faults } from '../support/claims/confusion.ts'

test('of the made sentences for development at most 1 % of the false ones pass and 1 % of the true ones are hurt', () => {
  const { passed, hurt } = faults(confusion(DEVELOPMENT.made, ({ language }) => language))
  expect(passed).toBeLessThanOrEqual(0.01)
  expect(hurt).toBeLessThanOrEqual(0.01)
})

test('of sentences written by hand, and of those in other styles, no false one passes and at most 4 % of the true ones are hurt', () => {
  const { passed, hurt } = faults(confusion(DEVELOPMENT.byHand, ({ language }) => language))
  expect(passed).toBeLessThanOrEqual(0.01)
  expect(hurt).toBeLessThanOrEqual(0.03)
  const fresh = faults(confusion(FRESH, ({ language }) => language))
  expect(fresh.passed).toBe(0)
  expect(fresh.hurt).toBeLessThanOrEqual(0.04)
})

// Written for another checker, and not looked at for this one: what it does with what nobody tuned it to.
test('of sentences of another grammar and of other styles no false one passes; a third of the true ones may be hurt', () => {
  for (const sentences of [SECOND, OTHER_STYLES]) {
    const { passed, hurt } = faults(confusion(sentences, ({ language }) => language))
    expect(passed).toBe(0)
    expect(hurt).toBeLessThanOrEqual(0.33)
  }
})

test('of new sentences of the same grammar at most 1 % of the false ones pass and 2 % of the true ones are hurt', () => {
  const seeds = process.env.PROOF === '1' ? [...Array(10).keys()].map((i) => `claims ${i}`) : ['claims']
  const { passed, hurt } = faults(
    confusion(
      seeds.flatMap((seed) => generate(seed)),
      ({ language }) => language,
    ),
  )
  expect(passed).toBeLessThanOrEqual(0.01)
  expect(hurt).toBeLessThanOrEqual(0.02)
})

// The sealed third is opened once, when the checker is finished.
if (process.env.SEALED_SENTENCES === '1') {
  test('the sealed sentences, reported as they are', async () => {
    const { SEALED } = await import('../fixtures/sentences/sealed.ts')
    for (const rows of [
      confusion(SEALED.made, ({ language }) => language),
      confusion(SEALED.byHand, ({ language }) => language),
    ]) {
      process.stdout.write(`${JSON.stringify(rows, null, 1)}\n${JSON.stringify(faults(rows))}\n`)
    }
  })
}
