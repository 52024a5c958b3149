// Every figure of made-up histories against an oracle that counts in fractions, to the last of eight places; a sample of
// fixed seed, 10,000 when everything is to be proved.

import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { exact, formatAmount, LARGEST, numberOf, parseAmount, plus, rounded, ZERO } from '../../src/lib/decimal.ts'
import { type CostMethod, keyOf, Ledger, type LedgerEvent, Oversell, replay } from '../../src/portfolio/ledger.ts'
import { add, decimal, frac, Oracle, printed } from '../support/portfolio-oracle.ts'

const RUNS = inject('isProof') ? 10_000 : 2_000

const amountOf = (text: string) => {
  const amount = parseAmount(text)
  if (amount === null) throw new Error(`${text} is no amount`)
  return amount
}

const HOLDINGS = [
  { symbol: '600519', market: 'cn', currency: 'CNY' },
  { symbol: 'AAPL', market: 'us', currency: 'USD' },
  { symbol: 'AAPL', market: 'us', currency: 'HKD' },
]

/** A decimal of up to that many places, as text. */
const decimalText = (max: number, places: number) =>
  fc
    .tuple(fc.nat({ max }), fc.nat({ max: 10 ** places - 1 }), fc.constantFrom(0, 2, places))
    .map(([whole, rest, shown]) =>
      shown === 0 ? `${whole}` : `${whole}.${`${rest}`.padStart(places, '0').slice(0, shown)}`,
    )
const positive = (max: number, places: number) =>
  decimalText(max, places).map((text) => (/[1-9]/.test(text) ? text : '1'))

const day = fc.nat({ max: 40 }).map((n) => `2026-0${1 + Math.floor(n / 28)}-${String(1 + (n % 28)).padStart(2, '0')}`)

type Plan =
  | {
      kind: 'trade'
      date: string
      at: number
      side: 'buy' | 'sell'
      quantity: string
      price: string
      fee: string
      tax: string
    }
  | { kind: 'split'; date: string; at: number; ratio: string }
  | { kind: 'dividend'; date: string; at: number; perShare: string }
  | { kind: 'payout'; date: string; at: number; gross: string; fee: string; tax: string }
  | { kind: 'cash'; date: string; direction: 'in' | 'out'; amount: string; currency: string }

const at = fc.nat({ max: HOLDINGS.length - 1 })
const plan: fc.Arbitrary<Plan> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('trade' as const),
      date: day,
      at,
      side: fc.constantFrom('buy' as const, 'buy' as const, 'sell' as const),
      quantity: fc.oneof(positive(200, 8), positive(1_000_000, 2)),
      price: positive(5_000, 8),
      fee: decimalText(20, 4),
      tax: decimalText(20, 8),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('split' as const),
      date: day,
      at,
      ratio: fc.oneof(fc.constantFrom('2', '10', '0.1', '1.5', '0.33333333'), positive(20, 8)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('dividend' as const), date: day, at, perShare: decimalText(9, 8) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('payout' as const),
      date: day,
      at,
      // What is taken back is below zero.
      gross: fc.tuple(fc.constantFrom('', '', '-'), positive(9_000, 8)).map(([sign, text]) => sign + text),
      fee: decimalText(20, 4),
      tax: decimalText(900, 8),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('cash' as const),
      date: day,
      direction: fc.constantFrom('in' as const, 'out' as const),
      amount: positive(1_000_000, 8),
      currency: fc.constantFrom('CNY', 'USD'),
    }),
  },
)

function eventOf(planned: Plan, id: number): LedgerEvent {
  const { kind, date } = planned
  if (planned.kind === 'cash') {
    return {
      kind: 'cash',
      id,
      date,
      direction: planned.direction,
      amount: amountOf(planned.amount),
      currency: planned.currency,
    }
  }
  const holding = HOLDINGS[planned.at]
  if (holding === undefined) throw new Error('no such holding')
  if (planned.kind === 'split') return { kind: 'split', id, date, ...holding, ratio: amountOf(planned.ratio) }
  if (planned.kind === 'dividend')
    return { kind: 'dividend', id, date, ...holding, perShare: amountOf(planned.perShare) }
  if (planned.kind === 'payout') {
    const [gross, fee, tax] = [planned.gross, planned.fee, planned.tax].map(amountOf)
    return { kind: 'payout', id, date, ...holding, gross: gross ?? 0n, fee: fee ?? 0n, tax: tax ?? 0n }
  }
  const { side, quantity, price, fee, tax } = planned
  const figures = { quantity: amountOf(quantity), price: amountOf(price), fee: amountOf(fee), tax: amountOf(tax) }
  return { kind, id, date, ...holding, side, ...figures } as LedgerEvent
}

const RANK = { cash: 0, dividend: 1, payout: 1, split: 1, trade: 2 }

/** Sales of more than there is are left out of the plans, by what the oracle says. */
function oracleOf(plans: readonly Plan[], method: CostMethod) {
  const books = HOLDINGS.map(() => new Oracle(method))
  const cash = new Map<string, ReturnType<typeof frac>>()
  const refused = new Set<number>()
  const order = plans
    .map((planned, id) => ({ planned, id }))
    .sort((a, b) =>
      a.planned.date < b.planned.date
        ? -1
        : a.planned.date > b.planned.date
          ? 1
          : RANK[a.planned.kind] - RANK[b.planned.kind] || a.id - b.id,
    )
  for (const { planned, id } of order) {
    if (planned.kind === 'cash') {
      const moved = decimal(`${planned.direction === 'out' ? '-' : ''}${planned.amount}`)
      cash.set(planned.currency, add(cash.get(planned.currency) ?? frac(0n), moved))
    } else {
      const book = books[planned.at]
      if (planned.kind === 'split') book?.split(planned.ratio)
      else if (planned.kind === 'dividend') book?.dividend(planned.perShare)
      else if (planned.kind === 'payout') book?.payout(planned.gross, [planned.fee, planned.tax])
      else if (book?.trade(planned) === false) refused.add(id)
    }
  }
  HOLDINGS.forEach(({ currency }, i) => {
    cash.set(currency, add(cash.get(currency) ?? frac(0n), books[i]?.cash ?? frac(0n)))
  })
  return { books, cash, refused }
}

for (const method of ['fifo', 'avg'] as const) {
  test(`made-up histories by ${method} have the quantities, costs, profits, dividends and cash of exact fractions`, () => {
    fc.assert(
      fc.property(fc.array(plan, { maxLength: 60 }), (plans) => {
        const { books, cash, refused } = oracleOf(plans, method)
        const events = plans.flatMap((planned, id) => (refused.has(id) ? [] : [eventOf(planned, id)]))
        const ledger = replay(events, method)
        HOLDINGS.forEach((holding, i) => {
          const [position, book] = [ledger.positions.get(keyOf(holding)), books[i]]
          const told = (value: Parameters<typeof rounded>[0] | undefined) => formatAmount(rounded(value ?? ZERO))
          expect({
            quantity: told(position?.quantity),
            cost: told(position?.cost),
            realized: told(position?.realized),
            dividends: told(position?.dividends),
          }).toEqual({
            quantity: printed(book?.quantity ?? frac(0n)),
            cost: printed(book?.cost ?? frac(0n)),
            realized: printed(book?.realized ?? frac(0n)),
            dividends: printed(book?.dividends ?? frac(0n)),
          })
        })
        const money = (currency: string) => formatAmount(rounded(ledger.cash.get(currency) ?? ZERO))
        for (const [currency, amount] of cash)
          expect(`${currency} ${money(currency)}`).toBe(`${currency} ${printed(amount)}`)
      }),
      { numRuns: RUNS },
    )
  })
}

test('the first sale of more than is held is named, with its day and what there was', () => {
  const buy = { kind: 'trade', side: 'buy', symbol: 'AAPL', market: 'us', currency: 'USD', fee: 0n, tax: 0n } as const
  const events: LedgerEvent[] = [
    { ...buy, id: 1, date: '2026-01-05', quantity: amountOf('10'), price: amountOf('1') },
    { ...buy, side: 'sell', id: 2, date: '2026-01-06', quantity: amountOf('10.00000001'), price: amountOf('1') },
  ]
  expect(() => replay(events, 'fifo')).toThrow('10.00000001 of AAPL are sold on 2026-01-06, but only 10 are held then')
  expect(() => replay(events, 'avg')).toThrow(Oversell)
  // Bought later, booked earlier: the order of the days decides.
  const late = events.map((event) => (event.id === 1 ? { ...event, date: '2026-01-07' } : event))
  expect(() => replay(late, 'fifo')).toThrow('but only 0 are held then')
  expect(replay(events, 'fifo', '2026-01-05').positions.size).toBe(1)
})

test('twenty thousand trades of one stock, each of an odd quantity, are replayed by average without end of digits', () => {
  const ledger = new Ledger('avg')
  const holding = { symbol: 'AAPL', market: 'us', currency: 'USD' }
  for (let i = 0; i < 20_000; i++) {
    const side = i % 2 === 0 ? 'buy' : 'sell'
    const quantity = side === 'buy' ? 100_000_007n + BigInt(i) : 100_000_000n
    ledger.apply({
      kind: 'trade',
      id: i,
      date: '2026-01-05',
      ...holding,
      side,
      quantity,
      price: 123_456_789n,
      fee: 1n,
      tax: 0n,
    })
  }
  const position = ledger.positions.get(keyOf(holding))
  // The quantity that is left, at nearly the price that all was bought at.
  expect(formatAmount(rounded(position?.quantity ?? ZERO))).toBe('1.0006')
  const cost = rounded(position?.cost ?? ZERO)
  expect(numberOf(cost)).toBeGreaterThan(1.2352)
  expect(numberOf(cost)).toBeLessThan(1.2354)
})

test('decimals are read exactly or not at all, and written as they were', () => {
  for (const text of ['0', '1', '-1', '0.1', '123456789012.12345678', '-0.00000001', '1000000000000']) {
    expect(formatAmount(amountOf(text))).toBe(text)
  }
  expect([1e-7, 1.5e-7, 1e21, 0.1, 100, -2.5e-8, 12345.678].map((n) => parseAmount(n))).toEqual([
    10n,
    15n,
    null,
    10_000_000n,
    100n * 10n ** 8n,
    null,
    1_234_567_800_000n,
  ])
  for (const bad of [
    '',
    '1e5',
    '1,000',
    '0.123456789',
    'NaN',
    '１',
    '=1',
    '1.',
    '.5',
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ]) {
    expect(parseAmount(bad)).toBe(null)
  }
  expect(parseAmount('0.100000000000')).toBe(10_000_000n)
  expect(numberOf(LARGEST)).toBe(1e12)
  expect([5n, 15n, 25n, -5n, -15n, 26n].map((n) => rounded({ n, d: 10n }))).toEqual([0n, 2n, 2n, 0n, -2n, 3n])
  expect(rounded(plus(exact(1n), { n: 1n, d: 3n }))).toBe(1n)
})
