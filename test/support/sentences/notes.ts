// Reads the notes of test/fixtures/sentences/unseen.ts and tells whether the facts, as the oracle computes them, bear them. A note is a figure
// (`ma20=22.81`, with `~` for «about», `<` for «nearly» or «under», `>` for «over»), a figure from two facts (`a-b=`, `a/b=`, `a/b-1=` in percent), an
// order (`ma5>ma10`), a state (`is:`, `not:`), a missing fact (`absent:`), a day (`at:`), the advice, the
// currency, a split or a headline.

import type { DateName } from '../../fixtures/sentences/claims.ts'
import { FACT_IDS, type FactId } from '../../fixtures/sentences/fact-list.ts'
import { MARKET_DAYS, type MarketDay } from '../../fixtures/sentences/market-days.ts'
import { STATE_IDS, type StateId } from '../../fixtures/sentences/states.ts'
import { isBorne, type SheetOracle } from './judge.ts'
import { readNumber } from './reader.ts'

const MODES = { '~': 'about', '<': 'nearly', '>': 'over' } as const

const isFact = (name: string): name is FactId => FACT_IDS.some((id) => id === name)
const isState = (name: string): name is StateId => STATE_IDS.some((id) => id === name)

function factNamed({ facts }: SheetOracle, name: string): number | null {
  if (/^\d+$/.test(name)) return Number(name)
  if (!isFact(name)) throw new Error(`no fact «${name}»`)
  return facts[name]
}

function computed(known: SheetOracle, expression: string): number | null {
  const [, a = '', sign, b, less] = /^(\w+)(?:([-/])(\w+))?(-1)?$/.exec(expression) ?? []
  const [left, right] = [factNamed(known, a), b === undefined ? null : factNamed(known, b)]
  if (sign === undefined || left === null) return left
  if (right === null) return null
  if (sign === '-') return left - right
  return less === undefined ? left / right : (left / right - 1) * 100
}

/** README.md: within 2 %, or half a unit; «nearly» and «over» as the reader of the other sentences has them. */
function bears(fact: number, told: string): boolean {
  const mark = told.charAt(0)
  const mode = mark === '~' || mark === '<' || mark === '>' ? MODES[mark] : 'exact'
  const { value, half } = readNumber((mode === 'exact' ? told : told.slice(1)).replaceAll('_', ' '))
  return isBorne(fact, { value, half, mode })
}

function figureHolds(known: SheetOracle, expression: string, told: string): boolean {
  const fact = computed(known, expression)
  return fact !== null && bears(fact, told)
}

function namedHolds({ sheet, facts, dates, states }: SheetOracle, kind: string, rest: string): boolean {
  const isSaid = kind === 'is'
  switch (kind) {
    case 'is':
    case 'not':
      if (!isState(rest)) throw new Error(`no state «${rest}»`)
      return states[rest] === isSaid
    case 'absent':
      if (!isFact(rest)) throw new Error(`no fact «${rest}»`)
      return facts[rest] === null
    case 'at': {
      const [name = '', day = ''] = rest.split('=')
      const date = dates[name as DateName]
      return date !== null && (day.startsWith('--') ? date.slice(4) === day.slice(1) : date === day)
    }
    case 'advice':
      return sheet.judgement.advice === rest
    case 'trend':
      return sheet.judgement.trend === rest
    case 'in':
      return sheet.currency === rest
    case 'split':
      return sheet.split?.to === Number(rest)
    case 'headline':
      return sheet.headlines.some(({ id }) => id === rest)
    default:
      throw new Error(`no note «${kind}:${rest}»`)
  }
}

export function noteHolds(known: SheetOracle, note: string): boolean {
  const named = /^([a-z]+):(.+)$/.exec(note)
  if (named) return namedHolds(known, named[1] ?? '', named[2] ?? '')
  const order = /^(\w+)>(\w+)$/.exec(note)
  if (order) {
    const [a, b] = [factNamed(known, order[1] ?? ''), factNamed(known, order[2] ?? '')]
    return a !== null && b !== null && a > b
  }
  const at = note.indexOf('=')
  if (at < 0) throw new Error(`no note «${note}»`)
  return figureHolds(known, note.slice(0, at), note.slice(at + 1))
}

/** A fact of a day of markets: `SH000001.changePct`, `breadth.up`, `银行.mainNet`. */
function marketFact(day: MarketDay, path: string): number {
  if (/^\d+$/.test(path)) return Number(path)
  const { indices, overnight, breadth, boards } = MARKET_DAYS[day]
  const [name = '', field = ''] = path.split('.')
  const { industries, concepts } = boards ?? { industries: { top: [], bottom: [] }, concepts: { top: [], bottom: [] } }
  const named = [
    ...[...indices, ...overnight].filter(({ key }) => key === name),
    ...[...industries.top, ...industries.bottom, ...concepts.top, ...concepts.bottom].filter(
      (one) => one.name === name,
    ),
  ][0]
  const found = name === 'breadth' ? breadth : named
  const value: unknown =
    found === null || found === undefined ? undefined : Object.entries(found).find(([key]) => key === field)?.[1]
  if (typeof value !== 'number') throw new Error(`no fact «${path}» of ${day}`)
  return value
}

export function marketNoteHolds(day: MarketDay, note: string): boolean {
  const [expression = '', told] = note.split('=')
  const [greater, smaller] = expression.split('>')
  if (told === undefined) return marketFact(day, greater ?? '') > marketFact(day, smaller ?? '')
  const [a = '', b] = expression.split('-')
  return bears(marketFact(day, a) - (b === undefined ? 0 : marketFact(day, b)), told)
}
