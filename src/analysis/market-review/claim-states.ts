// Statements about a market without a figure: who rose, who led, who did better than whom, whether all moved in one
// direction.

import type { Figure } from '../write/claims/figures.ts'
import { isWithin } from '../write/claims/judge-figure.ts'
import type { Finding } from '../write/claims/known.ts'
import { isNegated } from '../write/claims/states.ts'
import type { Breadth, IndexFact, RegionFacts } from './facts.ts'
import { REGION_SPECS } from './regions.ts'
import type { Named, Subject } from './subjects.ts'

export const OTHER_SPAN = /年内|今年|本周|本月|累计|以来|周|月|year|ytd|week|month|since|연초|올해|이번 ?[주달]|누적/i

const ALL =
  /(?:[三两]大|主要|各大|全部)(?:股?指数?)|(?:all|the|both) (?:\w+ )?(?:major |main )?ind(?:ices|exes)|주요 지수|3대 지수|지수[가는]? 모두/i
const MIXED = /涨跌(?:不一|互现)|分化|(?:ended|closed|finished|were|was) mixed|\bmixed\b|diverged|혼조|엇갈/i
const MORE_UP =
  /涨多跌少|上涨(?:家数|个股|股票)?(?:明显|远)?(?:多于|超过)|(?:advancers|gainers|winners) (?:outnumber\w*|led|beat)|more (?:stocks|shares|names) (?:rose|gained|advanced)|breadth was positive|상승 종목이[^,.]*많/i
const MORE_DOWN =
  /跌多涨少|下跌(?:家数|个股|股票)?(?:明显|远)?(?:多于|超过)|(?:decliners|losers) (?:outnumber\w*|led|beat)|more (?:stocks|shares|names) (?:fell|declined|dropped)|breadth was negative|하락 종목이[^,.]*많/i
const LED =
  /领涨|涨幅居[前首]|表现最[强好佳]|\bled\b|\bleading\b|strongest|\bbest\b|top performer|outshone|주도|가장 (?:크게|많이) 올|가장 (?:강|선전)/i
const LAGGED = /领跌|跌幅居[前首]|表现最[弱差]|lagg\w*|weakest|worst|가장 (?:크게|많이) 내|가장 (?:부진|약|저조)/i
const BETTER = /强于|跑赢|优于|好于|outperform\w*|outpac\w*|(?:stronger|better) than|\bbeat\b|보다 (?:강|선전|나았|좋)/i
const WORSE = /弱于|跑输|逊于|差于|underperform\w*|(?:weaker|worse) than|lagged behind|보다 (?:약|부진|저조|나빴)/i
/** Compares falls with rises: which was larger. */
const LARGER = /보다 (?:컸|큰|크)/
const SMALLER = /보다 (?:작|적)/

type ClaimContext = {
  readonly named: readonly Named[]
  readonly figures: readonly Figure[]
  readonly facts: RegionFacts
}

/** The statements without a figure, clause by clause. */
export function statesIn(text: string, { named, figures, facts }: ClaimContext): Finding[] {
  const bounds = [...text.matchAll(/[，。；;!?！？\n]|,(?!\d)|\bbut\b|\bwhile\b|지만|이고 |으며 /g)].map(
    ({ index }) => index,
  )
  const starts = [0, ...bounds.map((at) => at + 1)]
  return starts.flatMap((start, i) => {
    const end = starts[i + 1] ?? text.length
    const within = <T extends { at: number }>(all: readonly T[]) => all.filter(({ at }) => at >= start && at < end)
    const clause = { text: text.slice(start, end), start, named: within(named), figures: within(figures), facts }
    // "…, the weakest of the major gauges" refers to what was named before.
    const before = named.findLast(({ at }) => at < start)
    return clauseStates(clause, before)
  })
}

/** `start` is the position of the clause in the text to which the positions of names refer. */
type Clause = ClaimContext & { text: string; start: number }

function clauseStates(clause: Clause, before: Named | undefined): Finding[] {
  const { text, named, figures, facts } = clause
  const { breadth, indices } = facts
  const held = (is: boolean) => is !== isNegated(text)
  if (MORE_UP.test(text)) return [breadth === null ? null : held(breadth.up > breadth.down)]
  if (MORE_DOWN.test(text)) return [breadth === null ? null : held(breadth.down > breadth.up)]
  const compared = comparedIn(clause, before)
  if (compared !== undefined) return [compared]
  if (OTHER_SPAN.test(text)) return []
  const counted = indices.filter(({ key }) => key !== 'VIX')
  if (MIXED.test(text) && named.length === 0) return [held(isMixed(counted))]
  const subjects = (named.length > 0 ? named : before && /^[\s,，]/.test(text) ? [before] : []).map(
    ({ subject }) => subject,
  )
  const ends = subjects.flatMap((subject) => endsIn(text, subject, counted))
  if (ends.length > 0) return ends.map(held)
  if ((LED.test(text) || LAGGED.test(text)) && figures.length === 0 && named.length === 0) return [null]
  const direction = directionIn(text)
  if (direction === 0 || figures.length > 0) return []
  if (ALL.test(text)) return [held(counted.every(({ changePct }) => direction * changePct > 0))]
  return named.map(({ subject: { values } }) =>
    values.changePct == null ? null : held(direction * values.changePct > 0),
  )
}

const isMixed = (indices: readonly IndexFact[]) =>
  indices.some(({ changePct }) => changePct > 0) && indices.some(({ changePct }) => changePct < 0)

/** Whether the subject is at the stated end: a board in its ranking, an index among those of the market. */
function endsIn(text: string, { kind, ends, values }: Subject, indices: readonly IndexFact[]): boolean[] {
  const [isLed, isLagged] = [LED.test(text), LAGGED.test(text)]
  if (isLed === isLagged) return []
  if (kind === 'board') return ends === null ? [] : [isLed ? ends.isTop : ends.isBottom]
  const { changePct } = values
  if (changePct == null) return []
  return [indices.every((other) => (isLed ? other.changePct <= changePct : other.changePct >= changePct))]
}

/** "…, stronger than B" names the other subject; "…, B was stronger" only says which one it is. */
function isComparedWith(text: string, { at, end }: Pick<Named, 'at' | 'end'>): boolean {
  const word = [BETTER, WORSE, LARGER, SMALLER].flatMap((pattern) => pattern.exec(text) ?? [])[0] ?? ''
  return word.startsWith('보다') ? !/^\s?(?:은|는|이|가|도)/.test(text.slice(end)) : text.indexOf(word) < at
}

/** Whether one did better or worse than the other, as the clause says; null when the other is unknown. */
function comparedIn({ text, start, named }: Clause, before: Named | undefined): boolean | null | undefined {
  const [isBetter, isWorse] = [BETTER.test(text), WORSE.test(text)]
  const [isLarger, isSmaller] = [LARGER.test(text), SMALLER.test(text)]
  if (isBetter === isWorse && isLarger === isSmaller) return undefined
  const [only] = named
  if (only === undefined) return undefined
  const isOther = isComparedWith(text, { at: only.at - start, end: only.end - start })
  if (named.length === 1 && !isOther) return null
  const [one, other] = named.length >= 2 ? named : [before, only]
  const [a, b] = [one?.subject.values.changePct, other?.subject.values.changePct]
  if (a == null || b == null) return undefined
  const is =
    isBetter !== isWorse ? (isBetter ? a > b : a < b) : isLarger ? Math.abs(a) > Math.abs(b) : Math.abs(a) < Math.abs(b)
  return is !== isNegated(text)
}

// Words of direction in statements about a market, and their direction.

const RISE =
  /涨|升|走高|收高|收红|反弹|走强|上扬|冲高|\b(?:up|rose|ris(?:e|es|en|ing)|gain\w*|climb\w*|advanc\w*|added|adding|higher|jump\w*|surg\w*|rall\w*|rebound\w*|recover\w*|eked|firmed|soar\w*)\b|상승|올랐|오른|올라|오르|오름|뛰|뛴|반등|급등|강세/gi
const FALL =
  /跌|走低|收低|收绿|回落|下挫|走弱|下滑|下行|降|\b(?:down|fell|fall\w*|los[te]s?|losing|loss|declin\w*|drop\w*|slid\w*|lower|sank|retreat\w*|shed\w*|slip\w*|eased?|dip\w*|tumbl\w*|slump\w*|plung\w*|weaken\w*)\b|하락|내렸|내린|내려|내리|떨어|밀렸|밀려|밀리|밀린|빠졌|빠진|낙폭|급락|약세/gi

const bare = (text: string) =>
  text
    .replace(/\bg(?:ave|ives?|iving) (?:up|back)\b/gi, (word) => 'fell'.padEnd(word.length))
    .replace(/涨跌(?:不一|互现)?|[涨跌]停|limit[- ](?:up|down)|(?:upper|lower) (?:limit|one)/gi, (word) =>
      ' '.repeat(word.length),
    )

/** 1 or -1 for the last word of direction, 0 when there is none. */
export function directionIn(text: string): 1 | -1 | 0 {
  const last = (pattern: RegExp) => [...bare(text).matchAll(pattern)].at(-1)?.index ?? -1
  const [up, down] = [last(RISE), last(FALL)]
  return up === down ? 0 : up > down ? 1 : -1
}

/** The direction of all words of a text, 0 when they differ: "A 0.3 %, B 0.9 % lower" has one verb for both. */
export function onlyDirectionIn(text: string): 1 | -1 | 0 {
  const [up, down] = [RISE, FALL].map((pattern) => bare(text).match(pattern) !== null)
  return up === down ? 0 : up ? 1 : -1
}

export const withoutDirections = (text: string): string => text.replace(RISE, '').replace(FALL, '')

// Statements about how many stocks rose and fell, and about the turnover of the whole market.

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

/** Whether the words say which stocks a count refers to. */
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

/** The turnover of the market; undefined when the figure refers to something else. */
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

/**
 * The findings for figures that count stocks or give the market's turnover, by figure; the other figures belong to a
 * named subject.
 */
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
