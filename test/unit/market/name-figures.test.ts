// What names are held to, as figures that are printed: nothing but an exact code or name becomes a listing, and whoever makes
// a typing error is offered what was meant. `npm run proof` asks everything, `npm test` a sample.

import { expect, inject, test } from 'vitest'
import { packagedNames } from '../../../src/kits/market-names/index.ts'
import { askCodesWithErrors, askMadeUp, askOwn, askWithErrors } from '../../support/name-figures.ts'

const IS_PROOF = inject('isProof')
const SEED = 20_261_123
const names = await packagedNames()

const print = (what: string, figures: Record<string, unknown>): void => {
  const told = Object.entries(figures).map(([name, value]) => {
    if (!Array.isArray(value)) return `${name} ${value}`
    return value.length === 0 ? `${name} 0` : `${name} ${value.length} (${value.slice(0, 8).join('; ')})`
  })
  // biome-ignore lint/suspicious/noConsole: the figures are what the test is read for
  console.info(`names, ${what}: ${told.join(', ')}`)
}

test('no made-up name and no company that is not listed becomes a listing, in any script', () => {
  const figures = askMadeUp(names, { count: IS_PROOF ? 3_000 : 480, seed: SEED })
  print('made up', figures)
  expect(figures.resolved).toEqual([])
})

test('every code and every full name of the lists leads to its own listing, or names it among those that share it', () => {
  const figures = askOwn(names, IS_PROOF ? 1 : 4)
  print('of the lists', figures)
  expect(figures.wrong).toEqual([])
  // Tickers of the same companies in New York win over the names of their shares elsewhere.
  expect(figures.tickers.length).toBeLessThanOrEqual(5)
})

test('a name with one error is refused with what was meant among five candidates, and is not another listing', () => {
  const figures = askWithErrors(names, { count: IS_PROOF ? 5_000 : 600, seed: SEED })
  print('with one error', { ...figures, missed: figures.missed.length })
  expect(figures.wrong.length, figures.wrong.join('; ')).toBeLessThanOrEqual(1)
  expect(figures.anothersName.length / figures.asked, figures.anothersName.join('; ')).toBeLessThan(0.003)
  expect(figures.amongFirstFive / figures.inReach, figures.missed.join('; ')).toBeGreaterThanOrEqual(0.95)
})

test('a code with one error is what it says or nothing', () => {
  const figures = askCodesWithErrors(names, { count: IS_PROOF ? 3_000 : 600, seed: SEED })
  print('codes with one error', figures)
  expect(figures.otherwise).toEqual([])
})
