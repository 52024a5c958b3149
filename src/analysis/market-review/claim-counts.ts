// What is said of how many stocks rose and fell, and of what the whole market turned over.

import type { Figure } from '../write/claims/figures.ts'
import { isWithin } from '../write/claims/judge-figure.ts'
import type { Finding } from '../write/claims/known.ts'
import type { Breadth, RegionFacts } from './facts.ts'
import { REGION_SPECS } from './regions.ts'
import type { Named } from './subjects.ts'

const COUNTED =
  /^\s*(?:家|只|个股|개|종목|(?:stocks|shares|names|issues|companies|advancers|decliners|gainers|losers)\b|(?:hit )?the (?:upper|lower) )/i
const COUNTED_BEFORE = /(?:家数|个股|股票|advancers|decliners|gainers|losers|종목(?: ?수)?)[^\d，。,;]{0,8}$/i
const isCount = (text: string, { at, end, unit }: Figure) =>
  (unit === 'plain' || unit === 'shares') && (COUNTED.test(text.slice(end)) || COUNTED_BEFORE.test(text.slice(0, at)))

const COUNTS: readonly (readonly [RegExp, keyof Breadth])[] = [
  [/涨停|limit[- ]up|upper (?:limit|one)|상한가/i, 'limitUp'],
  [/跌停|limit[- ]down|lower (?:limit|one)|하한가/i, 'limitDown'],
  [/平盘|持平|unchanged|flat|보합/i, 'flat'],
  [/上涨|收涨|走高|飘红|advanc|rose|risen|gain|higher|\bup\b|상승|올랐|오른/i, 'up'],
  [/下跌|收跌|走低|飘绿|declin|fell|fallen|los|lower|\bdown\b|하락|내렸|내린/i, 'down'],
]

/** Whether the words say which stocks a count is of. */
export const namesCount = (words: string, count: keyof Breadth): boolean =>
  COUNTS.find(([word]) => word.test(words))?.[1] === count

const PART = /[，。、;,]|\d|\band\b|\bwhile\b|고 /

function judgeCount(text: string, figure: Figure, breadth: Breadth | null): Finding {
  const after = text.slice(figure.end).split(PART)[0] ?? ''
  const before = text.slice(0, figure.at).split(PART).at(-1) ?? ''
  const field = [before, after].flatMap((part) => COUNTS.find(([word]) => word.test(part))?.[1] ?? [])[0]
  if (field === undefined) return null
  return breadth !== null && isWithin(figure, breadth[field])
}

/** "Gainers outnumbered losers, 2,871 to 2,204": the figures in the order of the words. */
const VERSUS =
  /\b(gainers|advancers|winners|losers|decliners)\b[^\d.;]{0,30}\b(gainers|advancers|winners|losers|decliners)\b[^\d.;]{0,16}$/i

function versus(text: string, figures: readonly Figure[], breadth: Breadth | null): Map<Figure, Finding> {
  const told = new Map<Figure, Finding>()
  for (const [i, figure] of figures.entries()) {
    const [words, second] = [VERSUS.exec(text.slice(0, figure.at)), figures[i + 1]]
    if (
      words === null ||
      second === undefined ||
      !/^\s?(?:to|against|versus|-)\s?$/i.test(text.slice(figure.end, second.at))
    )
      continue
    for (const [of, word] of [
      [figure, words[1]],
      [second, words[2]],
    ] as const) {
      const field = /^(?:lo|de)/i.test(word ?? '') ? 'down' : 'up'
      told.set(of, breadth !== null && isWithin(of, breadth[field]))
    }
  }
  return told
}

const TOTAL = /两市|沪深|全市场|total|combined|market|turnover (?:in|on|across)|거래대금/i
const TURNOVER = /成交|turnover|거래대금/i

/** What the market turned over; undefined where the figure is of something else. */
function judgeTotal(text: string, figure: Figure, { breadth, region }: RegionFacts): Finding | undefined {
  const clause =
    text
      .slice(0, figure.at)
      .split(/[，。;；]|,(?!\d)/)
      .at(-1) ?? ''
  if (!TOTAL.test(clause) || !TURNOVER.test(clause) || figure.unit !== 'plain' || Math.abs(figure.value) < 1e8)
    return undefined
  if (breadth === null) return null
  const { size } = REGION_SPECS[region].turnover
  const isOurs = region !== 'cn' || figure.currencies.length === 0 || figure.currencies.includes('CNY')
  return isOurs && isWithin(figure, breadth.totalAmount * size)
}

/** The findings of the figures that count stocks or the market's turnover, by figure; the others are of something named. */
export function countsIn(
  text: string,
  { figures, named }: { figures: readonly Figure[]; named: readonly Named[] },
  facts: RegionFacts,
): Map<Figure, Finding> {
  const told = versus(text, figures, facts.breadth)
  for (const figure of figures) {
    if (told.has(figure)) continue
    if (isCount(text, figure)) told.set(figure, judgeCount(text, figure, facts.breadth))
    else if (!named.some(({ at }) => at < figure.at)) {
      const total = judgeTotal(text, figure, facts)
      if (total !== undefined) told.set(figure, total)
    }
  }
  return told
}
