// Whether the figures of a review support a sentence of a model: who rose and fell, by how much, at what level, how
// many stocks. Nothing is rewritten. A sentence passes only when something in it is confirmed and no claim in it stays
// unchecked.

import { tellsEvent, type Verdict } from '../write/claims/check.ts'
import { daysIn, isDay } from '../write/claims/dates.ts'
import { type Figure, figuresIn } from '../write/claims/figures.ts'
import { isStrangeDay } from '../write/claims/frames.ts'
import { isWithin } from '../write/claims/judge-figure.ts'
import { MARKS, placedIn } from '../write/claims/keys.ts'
import type { Finding } from '../write/claims/known.ts'
import { quotationIn } from '../write/claims/quotations.ts'
import { plain } from '../write/sentences.ts'
import { countsIn, directionIn, OTHER_SPAN, onlyDirectionIn, statesIn, withoutDirections } from './claim-states.ts'
import type { RegionFacts } from './facts.ts'
import { judgeKeyed, type KeyedFigure } from './keys.ts'
import { type Measure, type Named, namedIn, namesOf, type Subject } from './subjects.ts'

/** `used` are the figures that the sentence names by their keys, each followed by its mark. */
export function checkReviewSentence(sentence: string, facts: RegionFacts, used: readonly KeyedFigure[] = []): Verdict {
  const words = plain(sentence)
  const quotation = quotationIn(words, headlinesOf(facts))
  const findings: Finding[] = quotation === null ? claimsIn(words, facts, used) : [quotation.verdict]
  if (findings.includes(false)) return 'false'
  if (quotation === null && tellsEvent(words)) return 'doubtful'
  if (findings.includes(null)) return 'doubtful'
  return findings.length === 0 ? 'undecidable' : 'confirmed'
}

export const headlinesOf = ({ news }: Pick<RegionFacts, 'news'>) => ({
  headlines: news.map(({ title, source, publishedDate }) => ({ title, source, date: publishedDate })),
})

function claimsIn(given: string, facts: RegionFacts, used: readonly KeyedFigure[]): Finding[] {
  const sessions = [facts.date, ...facts.indices.map(({ date }) => date), ...facts.overnight.map(({ date }) => date)]
  const days = daysIn(given)
  const placed = placedIn(given, used)
  const text = days
    .reduce((rest, { at, end }) => rest.slice(0, at) + '\u0001'.repeat(end - at) + rest.slice(end), given)
    .replace(MARKS, ' ')
  const named = namedIn(text, namesOf(facts))
  const isTaken = (at: number, end: number) => named.some((one) => at < one.end && one.at < end)
  const figures = figuresIn(text, isTaken).filter((figure) => !isHorizon(text, figure))
  const counts = countsIn(text, { figures, named }, facts)
  const others = figures.filter((figure) => !counts.has(figure))
  const ofKey = ({ at }: Figure) => placed.find((one) => at >= one.at && at < one.end)
  const told = new Map<Figure, Finding>(counts)
  for (const group of groupsOf(named, others)) {
    const found = judgeGroup(group, text)
    for (const [i, figure] of group.figures.entries()) told.set(figure, found[i] ?? null)
  }
  return [
    ...days.map((day) => (sessions.some((session) => isDay(day, session)) ? true : null)),
    ...[...told].flatMap(([figure, finding]) => (ofKey(figure) === undefined ? [finding] : [])),
    ...placed.map((one) => {
      const own = figures.filter((figure) => ofKey(figure) === one).map((figure) => told.get(figure) ?? null)
      return judgeKeyed(one, { text, named, figures }, own.length === 1 ? (own[0] ?? null) : null)
    }),
    ...statesIn(text, { named, figures: others, facts }),
    ...(CAUSE.test(text) || isStrangeDay(text, facts.date) ? [null] : []),
  ]
}

// Figures do not explain why something moved.
const CAUSE =
  /原因是|因此|由于|受.{1,16}(?:影响|提振|拖累)|\bbecause\b|due to|driven by|on the back of|thanks to|때문에|덕분에|힘입어|영향으로/i

const HORIZON = /^[- ]?(?:days?|weeks?|months?|years?|sessions?|日|天|周|个?月|年|个?交易日|일|주|개월|년|거래일)/i
const isHorizon = (text: string, { end, unit }: Figure) => unit === 'plain' && HORIZON.test(text.slice(end, end + 8))

type Group = { readonly named: Named[]; readonly figures: Figure[] }

/** Adjacent names, with the figures up to the next name. Figures before the first name have none. */
function groupsOf(named: readonly Named[], figures: readonly Figure[]): Group[] {
  const groups: Group[] = []
  for (const token of [...named, ...figures].sort((a, b) => a.at - b.at)) {
    const last = groups.at(-1)
    if ('subject' in token) {
      if (last && last.figures.length === 0) last.named.push(token)
      else groups.push({ named: [token], figures: [] })
    } else if (last) last.figures.push(token)
    else groups.push({ named: [], figures: [token] })
  }
  return groups.filter(({ figures: told }) => told.length > 0)
}

function judgeGroup({ named, figures }: Group, text: string): Finding[] {
  const last = named.at(-1)
  if (last === undefined) return figures.map(() => null)
  const isPaired = named.length === figures.length && named.length > 1
  if (!isPaired && named.length > 1) return figures.map(() => null)
  return figures.map((figure, i) => {
    const { subject } = (isPaired ? named[i] : last) ?? last
    const from = figures[i - 1]?.end ?? last.end
    const between = text.slice(from, figure.at)
    if (!isPaired && isOfAnother(between)) return null
    return judgeFigure(
      { figure, subject },
      {
        ...{ between, before: text.slice(last.end, figure.at), after: afterOf(text, figure) },
        ahead:
          text
            .slice(0, last.at)
            .split(/[，。;；]|,(?!\d)/)
            .at(-1) ?? '',
        shared: onlyDirectionIn(text),
        bound: boundOf(text, figures, i),
      },
    )
  })
}

/** Which end of a range between two figures the figure is; null when there is no range. */
function boundOf(text: string, figures: readonly Figure[], i: number): 'low' | 'high' | null {
  const [one, two] = [figures[i], figures[i + 1]]
  const joins = (a: Figure | undefined, b: Figure | undefined) =>
    a !== undefined &&
    b !== undefined &&
    [a, b].every(({ unit }) => unit === 'plain') &&
    /^\s?(?:点|포인트)?(?:and|to|至|到|和|与|-|~|에서|와|과)\s?$/i.test(text.slice(a.end, b.at).trim()) &&
    (/between\s?$|从\s?$|在\s?$/i.test(text.slice(0, a.at)) ||
      /^(?:点|포인트)?\s?(?:之间|사이)/.test(text.slice(b.end)))
  if (joins(one, two)) return 'low'
  return joins(figures[i - 1], one) ? 'high' : null
}

const afterOf = (text: string, { end }: Figure) =>
  text
    .slice(end)
    .split(/[，。;,、\d]|\band\b/)[0]
    ?.slice(0, 24) ?? ''

// Words of amount and direction; other words may be the name of something else.
const FILLER =
  /收盘|收|报|于|至|到|为|约|分别|涨幅|跌幅|指数|板块|今日|当日|全天|小幅|大幅|成交额?|振幅|最高|最低|开盘|点位?|亿元|主力|资金|净流[入出]|index|sector|clos\w*|ended|ending|finish\w*|settled|stood|trading|traded|opened|session|today|points?|respectively|percent|turnover|range|inflow|outflow|지수|업종|마감|장을|각각|오늘|거래대금|진폭|종가/gi

function isOfAnother(between: string): boolean {
  if (/期货|债|原油|黄金|汇率|人民币|futures|bond|yield|crude|gold|currency|선물|채권|환율|유가/i.test(between))
    return true
  const rest = withoutDirections(between)
    .replace(FILLER, '')
    .replace(/\b(?:by|to|at|of|the|a|an|and|with|its|it|was|were|has|had|in|on|after|just|about)\b/gi, '')
  const count = (script: RegExp) => rest.match(script)?.length ?? 0
  return count(/\p{Script=Han}/gu) > 4 || count(/\p{Script=Hangul}/gu) > 7 || count(/[a-z]/gi) > 16
}

const MEASURES: readonly (readonly [RegExp, Measure])[] = [
  [/振幅|amplitude|\brange\b|진폭/i, 'amplitude'],
  [/成交额|turnover|거래대금/i, 'amount'],
  [/净流[入出]|(?:in|out)flow|순유[입출]/i, 'mainNet'],
  [/最高|\bhigh\b|고가|고점/i, 'high'],
  [/最低|\blow\b|저가|저점/i, 'low'],
  [/开盘|高开|低开|\bopen(?:ed)?\b|시가/i, 'open'],
]
const REACHED = /(?:站上|站稳|守住|突破|收复|above|over|past|held|defended|웃돌|넘)[^\d]{0,6}$/i
const LOST = /(?:跌破|失守|低于|below|under|밑돌)[^\d]{0,6}$/i
const REACHED_BEHIND = /^\s?(?:선|포인트)?[을를이가]?\s?(?:지켰|지키|웃돌|넘|회복|상회)/
const LOST_BEHIND = /^\s?(?:선|포인트)?[을를이가]?\s?(?:밑돌|무너|내줬|내주|하회|깨)/

type Judged = { figure: Figure; subject: Subject }
type FigureContext = {
  between: string
  before: string
  after: string
  /** The text before the name in its clause. */
  ahead: string
  /** The direction of all verbs of the sentence. */
  shared: 1 | -1 | 0
  bound: 'low' | 'high' | null
}

function judgeFigure({ figure, subject }: Judged, around: FigureContext): Finding {
  const { between, before, after, ahead, shared, bound } = around
  if (OTHER_SPAN.test(between) || OTHER_SPAN.test(after)) return null
  const { values } = subject
  const direction = directionIn(between) || directionIn(before) || directionIn(after) || shared
  const compare = (measure: Measure, sign = 1): Finding => {
    const value = values[measure]
    return value == null ? false : isWithin({ ...figure, value: figure.value * (figure.isSigned ? 1 : sign) }, value)
  }
  const told = bound ?? measureOf(around)
  if (figure.unit === 'percent') return told === 'amplitude' ? compare(told) : compare('changePct', direction || 1)
  if (figure.unit !== 'plain') return null
  if (told === 'mainNet') return compare(told, /流出|outflow|유출/i.test(ahead + between + after) ? -1 : 1)
  if (told !== null && told !== 'amplitude') return compare(told)
  const { last } = values
  if (last != null && (REACHED.test(between) || REACHED_BEHIND.test(after))) return last >= figure.value
  if (last != null && (LOST.test(between) || LOST_BEHIND.test(after))) return last < figure.value
  const isMove =
    direction !== 0 && !/(?:报|于|至|到|\bat|\bto)\s?$/i.test(between) && isWithin(figure, Math.abs(values.change ?? 0))
  return isMove ? compare('change', direction) : compare('last')
}

/** Which measure of its subject a figure is, by the words before it, directly after it, or before the name. */
function measureOf({ between, after, ahead }: FigureContext): Measure | null {
  if (/장중/.test(between) && /^까지 (?:올|치솟|상승|뛰)/.test(after)) return 'high'
  if (/장중/.test(between) && /^까지 (?:내|밀|떨어|하락)/.test(after)) return 'low'
  const near = after.slice(0, 10)
  return (
    [between, near].flatMap((part) => MEASURES.find(([word]) => word.test(part))?.[1] ?? [])[0] ??
    (/净流[入出]|(?:in|out)flow|순유[입출]/i.test(ahead) ? 'mainNet' : null)
  )
}
