// The labels a second time: from the words of a sentence as the reader reads them, and from the facts as the oracle computes them.

import type { HandSentence } from '../../fixtures/sentences/by-hand.ts'
import type { Claim, FigureClaim, Label, Mode } from '../../fixtures/sentences/claims.ts'
import { FACT_IDS, FACTS, type FactId } from '../../fixtures/sentences/fact-list.ts'
import type { Sheet } from '../../fixtures/sentences/facts.ts'
import type { StateId } from '../../fixtures/sentences/states.ts'
import { oracleDates, oracleFacts, oracleStates } from './oracle.ts'
import { readDate, readNumber } from './reader.ts'

export type SheetOracle = {
  readonly sheet: Sheet
  readonly facts: ReturnType<typeof oracleFacts>
  readonly dates: ReturnType<typeof oracleDates>
  readonly states: ReturnType<typeof oracleStates>
}

export const knownOf = (sheet: Sheet): SheetOracle => ({
  sheet,
  facts: oracleFacts(sheet),
  dates: oracleDates(sheet),
  states: oracleStates(sheet),
})

type StatedFigure = { readonly value: number; readonly half: number; readonly mode: Mode }

/** The rule of figures, as README.md of the fixtures states it. */
export function isBorne(fact: number, { value, half, mode }: StatedFigure): boolean {
  const [size, told, slack] = [Math.abs(fact), Math.abs(value), 1e-9 * Math.max(1, Math.abs(fact))]
  if (mode === 'exact') return Math.abs(value - fact) <= half + slack
  if (mode === 'about') return Math.abs(value - fact) <= Math.max(0.02 * size, half) + slack
  if (Math.sign(value) !== Math.sign(fact)) return false
  if (mode === 'over') return size > told
  return size < told && told - size <= Math.max(0.15 * size, 3 * half)
}

function figureHolds({ sheet, facts }: SheetOracle, claim: FigureClaim): boolean {
  const fact = facts[claim.fact]
  const { value, half, currencies, isPercent } = readNumber(claim.written)
  if (fact === null) return false
  const { unit } = FACTS[claim.fact]
  const isMoney = unit === 'price' || unit === 'money'
  if (currencies.length > 0 && (!isMoney || !currencies.includes(sheet.currency))) return false
  if (isPercent && unit !== 'percent') return false
  // The direction of a move is in its verb, and a ratio may be written from either side: there the claim says how the words are meant.
  const isTurnedRatio = unit === 'to one' && Math.abs(claim.value * value - 1) < 1e-9
  const meant = isTurnedRatio ? 1 / value : Math.sign(claim.value || 1) * Math.abs(value)
  return isBorne(fact, { value: meant, half, mode: claim.mode })
}

/** Whether the written figure is the figure of the claim: the reader against the writer. */
export function isReadAsClaimed(claim: FigureClaim): boolean {
  const { value, half } = readNumber(claim.written)
  const size = Math.abs(claim.value)
  const isSame = Math.abs(Math.abs(value) - size) <= 1e-9 * Math.max(1, size)
  const isTurned = FACTS[claim.fact].unit === 'to one' && Math.abs(Math.abs(value) * size - 1) < 1e-9
  return (isSame || isTurned) && Math.abs(half - claim.half) <= 1e-9 * Math.max(1, half)
}

const isSameDay = (date: string | null, told: string) =>
  date !== null && (told.startsWith('-') ? date.slice(5) === told.slice(2) : date === told)

function differenceHolds({ facts }: SheetOracle, claim: Extract<Claim, { kind: 'difference' }>): boolean {
  const [a, b] = [facts[claim.a], facts[claim.b]]
  if (a === null || b === null) return false
  const { value, half } = readNumber(claim.written)
  return isBorne(claim.as === 'points' ? a - b : (100 * (a - b)) / b, { value, half, mode: 'exact' })
}

export function holds(known: SheetOracle, claim: Claim): boolean | 'undecidable' {
  const { sheet, facts, dates, states } = known
  switch (claim.kind) {
    case 'figure':
      return figureHolds(known, claim)
    case 'between':
      return claim.low <= (facts[claim.fact] ?? Number.NaN) && (facts[claim.fact] ?? Number.NaN) <= claim.high
    case 'state':
      return states[claim.state] === claim.holds
    case 'date':
      return isSameDay(dates[claim.of], readDate(claim.written))
    case 'difference':
      return differenceHolds(known, claim)
    case 'greater':
      return (facts[claim.a] ?? Number.NaN) > (facts[claim.b] ?? Number.NaN)
    case 'absent':
      return facts[claim.fact] === null
    case 'headline': {
      const one = sheet.headlines.find(({ title }) => title === claim.title)
      return one !== undefined && one.source === claim.source && isSameDay(one.date, claim.date ?? '')
    }
    case 'event':
      return sheet.headlines.some(({ tells }) => tells === claim.event) ? 'undecidable' : false
    case 'headline figure':
      return false
    case 'split':
      return sheet.split?.to === claim.to
  }
}

export function secondLabel(known: SheetOracle, claims: readonly Claim[]): Label {
  const verdicts = claims.map((claim) => holds(known, claim))
  if (verdicts.includes(false)) return 'false'
  return verdicts.length === 0 || verdicts.includes('undecidable') ? 'undecidable' : 'true'
}

const MODES: Record<string, Mode> = { '~': 'about', '<': 'nearly', '>': 'over' }

function givenHolds({ facts, dates, states }: SheetOracle, name: string, told: string | boolean): boolean {
  if (typeof told === 'boolean') return states[name.slice('is '.length) as StateId] === told
  if (name.startsWith('at ')) return isSameDay(dates[name.slice('at '.length) as keyof typeof dates], told)
  const mode = MODES[told.charAt(0)]
  const { value, half } = readNumber(mode === undefined ? told : told.slice(1))
  const id = FACT_IDS.find((one): one is FactId => one === name)
  const fact = id === undefined ? null : facts[id]
  return fact !== null && isBorne(fact, { value, half, mode: mode ?? 'exact' })
}

/** Null where its writer noted nothing that data can decide. */
export function handLabel(known: SheetOracle, { given }: HandSentence): Label | null {
  const names = Object.entries(given)
  if (names.length === 0) return null
  return names.every(([name, told]) => givenHolds(known, name, told)) ? 'true' : 'false'
}
