// Whether the figures of a review bear a sentence of a model: who rose and fell, by how much, at what level, how many stocks.
// Nothing is rewritten. A sentence passes only when something in it is confirmed and nothing in it is left over.

import { tellsEvent, type Verdict } from '../write/claims/check.ts'
import { daysIn, isDay } from '../write/claims/dates.ts'
import { type Figure, figuresIn } from '../write/claims/figures.ts'
import { isWithin } from '../write/claims/judge-figure.ts'
import type { Finding } from '../write/claims/known.ts'
import { plain } from '../write/claims/plain.ts'
import { quotationIn } from '../write/claims/quotations.ts'
import { isNegated } from '../write/claims/states.ts'
import type { Breadth, RegionFacts } from './facts.ts'
import { REGION_SPECS } from './regions.ts'

const RISE =
  /涨|升|走高|收高|收红|反弹|走强|\b(?:up|rose|ris(?:e|es|en|ing)|gain\w*|climb\w*|advanc\w*|added|higher|jump\w*|surg\w*|rall\w*)\b|상승|올랐|오른|올라|오르|뛰/gi
const FALL =
  /跌|走低|收低|收绿|回落|下挫|走弱|\b(?:down|fell|fall\w*|los[te]s?|losing|declin\w*|drop\w*|slid\w*|lower|sank|retreat\w*|shed)\b|하락|내렸|내린|내려|내리|떨어|밀렸|밀려/gi

/** 1 or -1 for the last word of a direction, 0 where there is none. */
function directionIn(text: string): 1 | -1 | 0 {
  const bare = text.replace(/涨跌|[涨跌]停|limit[- ](?:up|down)/gi, (word) => ' '.repeat(word.length))
  const last = (pattern: RegExp) => [...bare.matchAll(pattern)].at(-1)?.index ?? -1
  const [up, down] = [last(RISE), last(FALL)]
  return up === down ? 0 : up > down ? 1 : -1
}

export function checkReviewSentence(sentence: string, facts: RegionFacts): Verdict {
  const words = plain(sentence)
  const quotation = quotationIn(words, headlinesOf(facts))
  const findings: Finding[] = quotation === null ? claimsIn(words, facts) : [quotation.verdict]
  if (findings.includes(false)) return 'false'
  if (quotation === null && tellsEvent(words)) return 'doubtful'
  if (findings.includes(null)) return 'doubtful'
  return findings.length === 0 ? 'undecidable' : 'confirmed'
}

export const headlinesOf = ({ news }: Pick<RegionFacts, 'news'>) => ({
  headlines: news.map(({ title, source, publishedDate }) => ({ title, source, date: publishedDate })),
})

function claimsIn(given: string, facts: RegionFacts): Finding[] {
  const sessions = [facts.date, ...facts.indices.map(({ date }) => date), ...facts.overnight.map(({ date }) => date)]
  const days = daysIn(given)
  const text = days.reduce(
    (rest, { at, end }) => rest.slice(0, at) + '\u0001'.repeat(end - at) + rest.slice(end),
    given,
  )
  const named = namedIn(text, namesOf(facts))
  const isTaken = (at: number, end: number) => named.some((one) => at < one.end && one.at < end)
  const figures = figuresIn(text, isTaken).filter((figure) => !isHorizon(text, figure))
  const counts = figures.filter((figure) => isCount(text, figure))
  const others = figures.filter((figure) => !counts.includes(figure))
  return [
    ...days.map((day) => (sessions.some((session) => isDay(day, session)) ? true : null)),
    ...counts.map((figure) => judgeCount(text, figure, facts.breadth)),
    ...groupsOf(named, others).flatMap((group) => judgeGroup(group, text)),
    ...statesIn(text, { named, figures: others, facts }),
  ]
}

const HORIZON = /^[- ]?(?:days?|weeks?|months?|years?|sessions?|日|天|周|个?月|年|个?交易日|일|주|개월|년|거래일)/i
const isHorizon = (text: string, { end, unit }: Figure) => unit === 'plain' && HORIZON.test(text.slice(end, end + 8))

const COUNTED = /^\s?(?:家|只|个股|개|종목|(?:stocks|shares|names|issues|companies|advancers|decliners)\b)/i
const COUNTED_BEFORE = /(?:家数|个股|股票|advancers|decliners|gainers|losers|종목(?: ?수)?)[^\d，。,;]{0,8}$/i
const isCount = (text: string, { at, end, unit }: Figure) =>
  (unit === 'plain' || unit === 'shares') && (COUNTED.test(text.slice(end)) || COUNTED_BEFORE.test(text.slice(0, at)))

const COUNTS: readonly (readonly [RegExp, keyof Breadth])[] = [
  [/涨停|limit[- ]up|상한가/i, 'limitUp'],
  [/跌停|limit[- ]down|하한가/i, 'limitDown'],
  [/平盘|持平|unchanged|flat|보합/i, 'flat'],
  [/上涨|收涨|走高|飘红|advanc|rose|risen|gain|higher|\bup\b|상승|올랐|오른/i, 'up'],
  [/下跌|收跌|走低|飘绿|declin|fell|fallen|los|lower|\bdown\b|하락|내렸|내린/i, 'down'],
]

function judgeCount(text: string, figure: Figure, breadth: Breadth | null): Finding {
  const after = text.slice(figure.end).split(/[，。、;,]|\d|\band\b|\bwhile\b|고 /)[0] ?? ''
  const before =
    text
      .slice(0, figure.at)
      .split(/[，。、;,]|\d|\band\b|\bwhile\b|고 /)
      .at(-1) ?? ''
  const field = [before, after].flatMap((part) => COUNTS.find(([word]) => word.test(part))?.[1] ?? [])[0]
  if (field === undefined) return null
  return breadth !== null && isWithin(figure, breadth[field])
}

type Group = { readonly named: Named[]; readonly figures: Figure[] }

/** Names that stand together, with the figures up to the next name. Figures before every name have none. */
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
      { between, before: text.slice(last.end, figure.at), after: afterOf(text, figure) },
    )
  })
}

const afterOf = (text: string, { end }: Figure) =>
  text
    .slice(end)
    .split(/[，。;,、\d]|\band\b/)[0]
    ?.slice(0, 24) ?? ''

// Words that say how much and where to; what is left beside them may be the name of something else.
const FILLER =
  /收盘|收|报|于|至|到|为|约|分别|涨幅|跌幅|指数|板块|今日|当日|全天|小幅|大幅|成交额?|振幅|最高|最低|开盘|点位?|亿元|主力|资金|净流[入出]|index|sector|clos\w*|ended|ending|finish\w*|settled|stood|trading|traded|opened|session|today|points?|respectively|percent|turnover|range|inflow|outflow|지수|업종|마감|장을|각각|오늘|거래대금|진폭|종가/gi

function isOfAnother(between: string): boolean {
  if (/期货|债|原油|黄金|汇率|人民币|futures|bond|yield|crude|gold|currency|선물|채권|환율|유가/i.test(between))
    return true
  const rest = between
    .replace(RISE, '')
    .replace(FALL, '')
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
const OTHER_SPAN = /年内|今年|本周|本月|累计|以来|周|月|year|ytd|week|month|since|연초|올해|이번 ?[주달]|누적/i
const REACHED = /(?:站上|突破|收复|above|over|past|웃돌|넘)[^\d]{0,4}$/i
const LOST = /(?:跌破|失守|低于|below|under|밑돌)[^\d]{0,4}$/i

type Judged = { figure: Figure; subject: Subject }
type Around = { between: string; before: string; after: string }

function judgeFigure({ figure, subject }: Judged, { between, before, after }: Around): Finding {
  if (OTHER_SPAN.test(between) || OTHER_SPAN.test(after)) return null
  const { values } = subject
  const direction = directionIn(between) || directionIn(before) || directionIn(after)
  const told = MEASURES.find(([word]) => word.test(between))?.[1] ?? MEASURES.find(([word]) => word.test(after))?.[1]
  const compare = (measure: Measure, sign = 1): Finding => {
    const value = values[measure]
    return value == null ? false : isWithin({ ...figure, value: figure.value * (figure.isSigned ? 1 : sign) }, value)
  }
  if (figure.unit === 'percent') return told === 'amplitude' ? compare(told) : compare('changePct', direction || 1)
  if (figure.unit !== 'plain') return null
  if (told === 'mainNet') return compare(told, /流出|outflow|유출/i.test(between + after) ? -1 : 1)
  if (told !== undefined && told !== 'amplitude') return compare(told)
  const { last } = values
  if (last != null && REACHED.test(between)) return last >= figure.value
  if (last != null && LOST.test(between)) return last < figure.value
  const isMove =
    direction !== 0 && !/(?:报|于|至|到|\bat|\bto)\s?$/i.test(between) && isWithin(figure, Math.abs(values.change ?? 0))
  return isMove ? compare('change', direction) : compare('last')
}

type Told = { named: readonly Named[]; figures: readonly Figure[]; facts: RegionFacts }

const ALL =
  /(?:[三两]大|主要|各大|全部)(?:股?指数?)|(?:all|the|both) (?:\w+ )?(?:major |main )?ind(?:ices|exes)|주요 지수|3대 지수|지수[가는]? 모두/i
const MORE_UP =
  /涨多跌少|上涨(?:家数|个股|股票)?(?:明显|远)?(?:多于|超过)|advancers (?:outnumber\w*|led|beat)|more (?:stocks|shares|names) (?:rose|gained|advanced)|상승 종목이[^,.]*많/i
const MORE_DOWN =
  /跌多涨少|下跌(?:家数|个股|股票)?(?:明显|远)?(?:多于|超过)|decliners (?:outnumber\w*|led|beat)|more (?:stocks|shares|names) (?:fell|declined|dropped)|하락 종목이[^,.]*많/i
const LED = /领涨|涨幅居前|\bled\b|\bleading\b|strongest|best|주도|가장 (?:크게|많이) 올/i
const LAGGED = /领跌|跌幅居前|lagg\w*|weakest|worst|가장 (?:크게|많이) 내/i

/** What is said without a figure, clause by clause. */
function statesIn(text: string, { named, figures, facts }: Told): Finding[] {
  const { breadth, indices } = facts
  const bounds = [...text.matchAll(/[，。；;!?！？\n]|,(?!\d)|\bbut\b|\bwhile\b|지만|이고 |으며 /g)].map(
    ({ index }) => index,
  )
  const starts = [0, ...bounds.map((at) => at + 1)]
  return starts.flatMap((start, i): Finding[] => {
    const end = starts[i + 1] ?? text.length
    const clause = text.slice(start, end)
    const within = <T extends { at: number }>(all: readonly T[]) => all.filter(({ at }) => at >= start && at < end)
    const held = (is: boolean) => is !== isNegated(clause)
    if (MORE_UP.test(clause)) return [breadth === null ? null : held(breadth.up > breadth.down)]
    if (MORE_DOWN.test(clause)) return [breadth === null ? null : held(breadth.down > breadth.up)]
    const direction = directionIn(clause)
    if (OTHER_SPAN.test(clause) || within(figures).length > 0) return []
    const subjects = within(named).map(({ subject }) => subject)
    const ends = subjects.flatMap((subject) => endsIn(clause, subject))
    if (ends.length > 0) return ends.map(held)
    if (direction === 0) return []
    const counted = indices.filter(({ key }) => key !== 'VIX')
    if (ALL.test(clause)) return [held(counted.every(({ changePct }) => direction * changePct > 0))]
    return subjects.map(({ values: { changePct } }) => (changePct == null ? null : held(direction * changePct > 0)))
  })
}

function endsIn(clause: string, { ends }: Subject): boolean[] {
  if (ends === null) return []
  if (LED.test(clause)) return [ends.isTop]
  return LAGGED.test(clause) ? [ends.isBottom] : []
}

// What a sentence about a market's day can be about: an index, a board, the number of stocks that rose; what each is called, and
// what is known of it.

type Measure = 'last' | 'change' | 'changePct' | 'open' | 'high' | 'low' | 'amplitude' | 'amount' | 'mainNet'

type Subject = {
  readonly kind: 'index' | 'board'
  readonly name: string
  readonly values: Readonly<Partial<Record<Measure, number | null>>>
  /** Where it stands in its ranking; null of an index. */
  readonly ends: { readonly isTop: boolean; readonly isBottom: boolean } | null
}

type Named = { readonly at: number; readonly end: number; readonly subject: Subject }

/** What people call an index beside its name; by its key. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  SH000001: ['上证综指', '沪指', '上证', 'Shanghai Composite', '상하이종합지수'],
  SZ399001: ['深成指', '深证', 'Shenzhen Component', '선전성분지수'],
  SZ399006: ['创业板', '차이넥스트지수'],
  HSI: ['恒指', '恒生', 'Hang Seng', '항셍'],
  HSTECH: ['恒生科技指数', '恒科', '항셍테크지수'],
  SPX: ['标普', 'S&P', 'S＆P 500'],
  IXIC: ['纳指', 'Nasdaq', '나스닥지수', '나스닥종합'],
  DJI: ['道指', 'Dow Jones Industrial Average', 'the Dow', '다우'],
  N225: ['日经指数', '日经', 'Nikkei', '닛케이'],
  KS11: ['코스피지수', '韩国KOSPI'],
  KQ11: ['코스닥지수'],
}

type Name = { readonly text: string; readonly subject: Subject }

/** Every name of every subject, the longest first. */
export function namesOf({ indices, overnight, boards, region }: RegionFacts): Name[] {
  const specs = Object.values(REGION_SPECS).flatMap((spec) => [...spec.indices, ...spec.overnight])
  const { top, bottom } = boards?.industries ?? { top: [], bottom: [] }
  const concepts = boards?.concepts ?? { top: [], bottom: [] }
  const own = new Set(REGION_SPECS[region].indices.map(({ key }) => key))
  const ofIndex = [...indices, ...overnight.filter(({ key }) => !own.has(key))].flatMap((fact): Name[] => {
    const { name, key, code, current, change, changePct, open, high, low, amplitude, amount } = fact
    const values = { last: current, change, changePct, open, high, low, amplitude, amount }
    const subject: Subject = { kind: 'index', name, ends: null, values }
    const spec = specs.find((one) => one.key === key)
    const called = [name, key, code, ...(spec ? [spec.zh, spec.en, spec.ko] : []), ...(ALSO[key] ?? [])]
    return called.map((text) => ({ text, subject }))
  })
  const ofBoard = [...top, ...bottom, ...concepts.top, ...concepts.bottom].map((board): Name => {
    const { name, changePct, mainNet } = board
    const isIn = (end: readonly { name: string }[]) => end.some((one) => one.name === name)
    const ends = { isTop: isIn([...top, ...concepts.top]), isBottom: isIn([...bottom, ...concepts.bottom]) }
    return { text: name, subject: { kind: 'board', name, ends, values: { changePct, mainNet } } }
  })
  return [...ofIndex, ...ofBoard].filter(({ text }) => text !== '').sort((a, b) => b.text.length - a.text.length)
}

/** Every place of a text that names a subject, in order. */
export function namedIn(text: string, names: readonly Name[]): Named[] {
  const found: Named[] = []
  const lower = text.toLowerCase()
  for (const { text: name, subject } of names) {
    const wanted = name.normalize('NFKC').toLowerCase()
    for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + 1)) {
      const end = at + wanted.length
      const isWord = !/[a-z0-9]/.test(`${lower[at - 1] ?? ' '}`) && !/[a-z0-9]/.test(lower[end] ?? ' ')
      const isInWord = /^[a-z0-9&. ]+$/.test(wanted) && !isWord
      if (!isInWord && !found.some((other) => at < other.end && other.at < end)) found.push({ at, end, subject })
    }
  }
  return found.sort((a, b) => a.at - b.at)
}
