// How many stocks rose and fell, and how many could not rise or fall any further, counted from the list of all of them.

import type { Breadth } from './facts.ts'

/** One listed stock at the end of its day. */
export type ListedPrice = { code: string; name: string; price: number; prevClose: number; amount: number }

/** The exchanges' limits on a day's move, as a fraction. */
function limitOf({ code, name }: ListedPrice): number {
  if (/^(4|8|92)/.test(code)) return 0.3
  if (/^(30|68)/.test(code)) return 0.2
  return /ST/i.test(name) ? 0.05 : 0.1
}

/** Half up to the cent, as the exchanges round; the little more is for what binary fractions lose. */
const toCent = (value: number): number => Math.floor(value * 100 + 0.5 + 1e-6) / 100

/** What is suspended or was not traded counts nowhere. `unit` is how much of the currency one unit of turnover is. */
export function countBreadth(prices: readonly ListedPrice[], unit: number): Breadth {
  const breadth = { up: 0, down: 0, flat: 0, limitUp: 0, limitDown: 0, totalAmount: 0 }
  for (const listed of prices) {
    const { price, prevClose, amount } = listed
    if (!(price > 0 && prevClose > 0 && amount > 0)) continue
    if (price > prevClose) breadth.up += 1
    else if (price < prevClose) breadth.down += 1
    else breadth.flat += 1
    const limit = limitOf(listed)
    if (price === toCent(prevClose * (1 + limit))) breadth.limitUp += 1
    else if (price === toCent(prevClose * (1 - limit))) breadth.limitDown += 1
    breadth.totalAmount += amount / unit
  }
  return { ...breadth, totalAmount: Math.round(breadth.totalAmount * 100) / 100 }
}
