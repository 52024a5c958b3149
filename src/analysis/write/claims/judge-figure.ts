// Whether a figure is the value of its subject in the data.

import type { Figure } from './figures.ts'
import { type FactName, type Finding, type KnownFacts, moneyOf, SIGNED, UNITS } from './known.ts'
import type { Mention } from './name-table.ts'

const SIGNS: ReadonlySet<string> = new Set(SIGNED)

const UP =
  /涨|增|升|放大|picked up|heavier|\bmore than (?:a day|yesterday|the day|the previous)|\bmore\b(?! than)|많|inched up|高出|多了|高于|高(?!点|位|达)|多出|上方|climb|\brose|\brise|\b(?:re)?gain|\bup\b|grew|grow|higher|above|over (?!the|five|twenty|sixty|\d)|put on|\badded|\bjump|\badvanc|increase|expand|\bsurg|\bsoar|\brall(?:y|ied)|rebound|\brecover|improv|\bbetter|\bfirmer|\bclimb|攀|올랐|올라|오른|상승|증가|(?<!오)늘|높|위에|위로|급등|반등|뛰|불어|개선|확대|성장|상한가/i
const DOWN =
  /跌|降|减|surrender|gave (?:back|up)|lighter|fewer|\bless than (?:a day|yesterday|the day|the previous)|\bless\b(?! than)|적었|적은|少了|回落|低于|低(?!点|位)|下滑|下方|\bfell|\bfall|lost|\bloss|\bdown\b|below|slip|\bshed\b|\bslid\b|\bsank\b|\beased\b|shr[aiu]nk|declin|lower|drop|contract(?:ed|ing|ion)|retreat|plung|tumbl|slump|weaken|\bdip|\bworse|손실|萎缩|收缩|缩水|缩减|走弱|滑落|하락|내렸|내려|내린|감소|줄|낮|빠졌|아래|밀려|밀렸|밀린|급락|떨어|빠지|빠진|축소|위축|악화|후퇴|뒷걸음|하한가/i

/** 1 up, −1 down, 0 when the words express neither or both. */
export function directionOf(words: string): 1 | -1 | 0 {
  const [isUp, isDown] = [UP.test(words), DOWN.test(words)]
  return isUp === isDown ? 0 : isUp ? 1 : -1
}

export type Subject = {
  readonly fact: FactName
  readonly direction: 1 | -1 | 0
  /** The text between the name and the figure; in Korean also the text after it. */
  readonly beside?: string
}

const FILLER =
  /不足|不到|超过|接近|将近|高达|大约|仅|目前|slightly|nearly|almost|less than|more than|under|나타났\S*|나타나\S*|기록\S*|집계\S*|同比|环比|累计|涨跌幅|涨跌|增速|增长率|幅度|为|是|约|达到?|到|的|在|有|分别|依次|最近|过去|目前|表现|收益率|较上年|上年|year|growth|rate|change|return|performance|move|\b(?:is|was|are|were|has|been|of|at|by|the|a|an|to|its|it|and|on|over|in|for|about|around|roughly|some|just|now|yoy|stands?|stood|comes?|came|reads?|reached|amounts?|brought|gave|saw|showed?|last|past|from|compared|with|earlier|respectively|percent)\b|앞지르\S*|앞질\S*|육박하\S*|못 미치\S*|미치지 못\S*|달하\S*|가까\S*|넘는\S*|밑도는\S*|웃도는\S*|전년|대비|증가율|성장률|수익률|등락률|누적|기준|입니다|이었다|였다|이다|이며|이고|각각|약|정도|안팎|수준|최근|동안/gi

/** A word that may be the figure's verb, and that is unknown. */
const isUnread = (beside: string): boolean => {
  const rest = beside.replace(FILLER, ' ')
  return /[a-z]{4,}/i.test(rest) || /\p{Script=Han}{2,}/u.test(rest) || /\p{Script=Hangul}{3,}/u.test(rest)
}

/** The text between a figure and the name before it, and in Korean after it: the words for its direction. In other
 * languages the text after a figure may be about something else, so it counts only if it expresses a direction. */
export function besideOf(
  text: string,
  { at, end }: { at: number; end: number },
  tokens: readonly { kind: string; at: number; end: number }[],
): string {
  const name = tokens.findLast((token) => token.at < at)
  const before = text.slice(name?.end ?? at, at)
  const after =
    text
      .slice(end)
      .split(
        /[，。,;；.!?\n\d]|(?<=[가-힣])고 |인 가운데|지만|이며 |\b(?:and|but|yet|while|whereas|(?:even |al)?though)\b/,
      )[0]
      ?.trimEnd() ?? ''
  const own = before.split(/[，。;；\n]/).at(-1) ?? ''
  const isMore = directionOf(own) === 0 && (/[가-힣]/.test(after) || directionOf(after) !== 0)
  return isMore ? `${own} ${after}` : own
}

/** Revenue with a currency is an amount, with a percentage its growth: both are called revenue. */
export const AMOUNTS: Readonly<Partial<Record<FactName, FactName>>> = {
  revenueGrowthPct: 'revenue',
  profitGrowthPct: 'netProfit',
}
const isAmount = ({ currencies, value }: Figure) => currencies.length > 0 || Math.abs(value) >= 1e5

/** Null: the figure has another kind than the fact, so its meaning is unknown. */
export function judgeFigure(
  figure: Figure,
  { fact, direction, beside = '' }: Subject,
  known: KnownFacts,
): boolean | null {
  const extreme = fact === 'belowHigh52Pct' ? 'high52' : fact === 'aboveLow52Pct' ? 'low52' : null
  if (extreme !== null && figure.unit === 'plain') return judgeFigure(figure, { fact: extreme, direction }, known)
  const amount = AMOUNTS[fact]
  if (amount !== undefined && figure.unit === 'plain' && isAmount(figure))
    return judgeFigure(figure, { fact: amount, direction, beside }, known)
  const value = known.values[fact]
  const unit = UNITS[fact]
  if (unit === 'ratio') return judgeRatio(figure, value, direction)
  const isMoney = unit === 'price' || unit === 'money'
  if (figure.unit === 'percent' && isMoney) return judgeApart(figure, { fact, direction }, known)
  if (value === null) return false
  if (figure.unit === 'percent' && fact === 'volume')
    return judgeVolumeMove(figure, directionOf(beside) || direction, known)
  if (figure.currencies.length > 0 && !(isMoney && figure.currencies.includes(moneyOf(fact, known)))) return false
  if (figure.unit === 'percent' && unit !== 'percent') return false
  if (figure.unit === 'times' && fact.endsWith('GrowthPct')) return isGrownTo(figure.value, value, direction)
  if (figure.unit === 'times' && unit === 'percent') return null
  if (figure.unit === 'times' && fact === 'volume')
    return judgeFigure(figure, { fact: 'volumeVsPrevious', direction: 0 }, known)
  if (figure.unit === 'shares' && unit !== 'shares') return false
  // A drawdown is a fall by its name, so it is written with or without a sign.
  if (fact === 'drawdown250Pct') return isWithin({ ...figure, value: -Math.abs(figure.value) }, value)
  // The verb at the figure is more specific than those of its sentence.
  const told = directionOf(beside) || direction
  if (SIGNS.has(fact) && !figure.isSigned && directionOf(beside) === 0 && isUnread(beside)) return null
  const sign = SIGNS.has(fact) && !figure.isSigned && told !== 0 ? told : 1
  return isWithin({ ...figure, value: figure.value * sign }, value)
}

/** Volume that is stated as more or less than on the day before. */
function judgeVolumeMove(
  figure: Figure,
  direction: number,
  { values: { volumeVsPrevious } }: KnownFacts,
): boolean | null {
  if (volumeVsPrevious === null || (direction === 0 && !figure.isSigned)) return null
  return isWithin(signed(figure, direction), (volumeVsPrevious - 1) * 100)
}

/** Grown by one time means doubled: 95 to 130 %. The data decide no other factor: null. */
const isGrownTo = (times: number, growthPct: number, direction: number): boolean | null => {
  if (direction < 0) return false
  return times === 1 ? growthPct >= 95 && growthPct <= 130 : null
}

const BIASES = { ma5: 'bias5', ma10: 'bias10', ma20: 'bias20' } as const

/** A percentage next to a price level is the distance of the price from it. */
function judgeApart(figure: Figure, { fact, direction }: Subject, { values }: KnownFacts): boolean | null {
  const [level, price] = [values[fact], values.price]
  if (fact === 'price') return isWithin(signed(figure, direction), values.changePct ?? 0)
  if (fact === 'change' || UNITS[fact] === 'money') return false
  if (level === null || price === null) return false
  // A range, a stop and a target are stated as a share of the price.
  if (fact === 'atr') return isWithin(figure, (level / price) * 100)
  if (
    /^(?:stop|target)/.test(fact) &&
    isWithin({ ...figure, value: Math.abs(figure.value) }, Math.abs(level / price - 1) * 100)
  )
    return true
  const bias = fact === 'ma5' || fact === 'ma10' || fact === 'ma20' ? values[BIASES[fact]] : null
  const apart = bias ?? Math.round((price / level - 1) * 10_000) / 100
  if (fact === 'high52' || fact === 'low52')
    return isWithin({ ...figure, value: Math.abs(figure.value) }, Math.abs(apart))
  return isWithin(signed(figure, direction), apart)
}

const signed = (figure: Figure, direction: number): Figure =>
  figure.isSigned || direction === 0 ? figure : { ...figure, value: figure.value * direction }

function judgeRatio({ value, other, half, mode }: Figure, fact: number | null, direction: number): boolean {
  if (fact === null) return false
  if (other === null) return isWithin({ value, half, mode }, fact)
  const [reward, risk] = direction < 0 ? [other, value] : [value, other]
  return risk === 1 && isWithin({ value: reward, half: direction < 0 ? halfOf(reward) : half, mode }, fact)
}

const halfOf = (value: number) => 0.5 / 10 ** (String(value).split('.')[1]?.length ?? 0)

export function isWithin({ value, half, mode }: Pick<Figure, 'value' | 'half' | 'mode'>, fact: number): boolean {
  const [apart, size] = [Math.abs(value - fact), Math.abs(fact)]
  const slack = 1e-9 * Math.max(1, size)
  if (mode === 'exact') return apart <= half * 1.02 + slack
  if (mode === 'about') return apart <= Math.max(0.03 * size, half) + slack
  const short = Math.abs(value) - size
  if (Math.sign(value) !== Math.sign(fact)) return false
  if (mode === 'over') return short <= slack + 0.002 * size && -short <= Math.max(0.12 * size, 2.2 * half)
  return short > -slack - 0.002 * size && short <= Math.max(0.09 * size, 2 * half)
}

// The name to which a figure belongs, when the first reading does not support the sentence: within a part of a sentence
// names come all before their figures or all after them, or a figure's unit identifies its fact. One of these readings
// must make every figure of the part right.

/** Words that connect a figure with the name after it: "8.2 for the MA5", "20 % below its average". */
const BOUND = /^\s?(?:above|below|over|under|off|from|for|of|on)\s(?:the\s|its\s)?$/i

type Token = Mention | Figure
type PlacedFinding = { readonly finding: Finding; readonly at: number }
type Read = { readonly text: string; readonly tokens: readonly Token[]; readonly known: KnownFacts }

const BREAK =
  /[，。；！？;!?\n()]|(?:(?<!\d),|,(?!\d))(?! where| which| the (?:high|low) of)|\bbut\b|\byet\b|\bwhile\b|\bwhereas\b|\b(?:even |al)?though\b|\bwith\b|\bagainst\b|\band\b|지만|인 가운데|[이]?며 |(?<=[가-힣])고 |而/gi

/** The findings, replaced by true for the parts of the text that another reading supports completely. */
export function settled(told: readonly PlacedFinding[], read: Read): Finding[] {
  const bounds = [...read.text.matchAll(BREAK)]
    .filter(({ index }) => !read.tokens.some(({ at, end }) => at <= index && index < end))
    .map(({ index, 0: word }) => index + word.length)
  const starts = [0, ...bounds]
  return starts.flatMap((start, i) => {
    const end = starts[i + 1] ?? read.text.length
    const own = told.filter(({ at }) => at >= start && at < end)
    if (own.every(({ finding }) => finding === true)) return own.map(() => true)
    return isBorne(read, start, end) ? own.map(() => true) : own.map(({ finding }) => finding)
  })
}

function isBorne({ text, tokens, known }: Read, start: number, end: number): boolean {
  const inside = tokens.filter(({ at }) => at >= start && at < end)
  const figures = inside.filter((token) => token.kind === 'figure')
  const mentions = inside.filter((token) => token.kind === 'mention')
  const before = tokens.filter((token): token is Mention => token.kind === 'mention' && token.at < start).at(-1)
  const place = { text, start, part: text.slice(start, end) }
  const fits = (figure: Figure, facts: readonly FactName[]) =>
    facts.length > 0 &&
    !facts.includes('rewardRisk') &&
    facts.some(
      (fact) =>
        judgeFigure(
          figure,
          { fact, direction: directionAt(figure, place), beside: besideOf(text, figure, inside) },
          known,
        ) === true,
    )
  const unnamed = (figure: Figure) => byUnit(figure, text)
  const next = (figure: Figure) => mentions.find(({ at }) => at > figure.at)
  const bound = (figure: Figure) => {
    const name = next(figure)
    return name && BOUND.test(text.slice(figure.end, name.at)) ? name : undefined
  }
  const last = (figure: Figure) => bound(figure) ?? mentions.findLast(({ at }) => at < figure.at)
  const named: ((figure: Figure) => readonly FactName[])[] =
    mentions.length > 0
      ? [
          inTurn(figures, last, (figure) => (figure.currencies.length > 0 ? unnamed(figure) : [])),
          inTurn(figures, next),
          inTurn(figures, (figure) => bound(figure) ?? nearest(mentions, figure)),
        ]
      : [unnamed, () => singly(start > 0 ? (before?.facts ?? []) : []), () => secondOf(before)]
  if (isFromTo(place.part, figures) && mentions.every(({ facts }) => facts[0] === 'price'))
    return isMoveBetween(figures, text, fits)
  if (/respectively|分别|각각/i.test(text)) return false
  return (
    figures.length > 0 &&
    named.some((factsOf) => figures.every((figure) => fits(figure, moved(figure, place) ?? factsOf(figure))))
  )
}

/** 从 46.30 到 37.04: from the previous close to the price. */
const isFromTo = (part: string, figures: readonly Figure[]): figures is [Figure, Figure, ...Figure[]] =>
  figures.length >= 2 &&
  figures.slice(2).every(({ unit }) => unit === 'percent') &&
  /[从由].*[到至]|\bfrom .*\bto\b|에서 .*로/i.test(part)

/** From the previous close to the price, in the stated direction, and by the day's change. */
function isMoveBetween(
  [from, to, ...rest]: readonly [Figure, Figure, ...Figure[]],
  text: string,
  fits: (figure: Figure, facts: readonly FactName[]) => boolean,
): boolean {
  const way = directionOf(text.slice(from.end, to.at).replace(/涨跌/g, ''))
  if (way !== 0 && way !== Math.sign(to.value - from.value)) return false
  return fits(from, ['prevClose']) && fits(to, ['price']) && rest.every((figure) => fits(figure, ['changePct']))
}

const SECOND: Partial<Record<FactName, FactName>> = { target1: 'target2', idealBuy: 'secondaryBuy' }

/** The second of two levels whose first was named. */
function secondOf(before: Mention | undefined): readonly FactName[] {
  const second = before?.facts[0] === undefined ? undefined : SECOND[before.facts[0]]
  return second === undefined ? [] : [second]
}

/** The amount by which the price moved; null when no verb says that it moved. */
function moved({ at, end, currencies, unit }: Figure, { text, start }: TextPart): readonly FactName[] | null {
  if (unit !== 'plain' || currencies.length === 0) return null
  const isMove =
    /(?:adding|gaining|losing|shedding|added|gained|rose|fell|shed|lost|up|down|涨|跌|高出|高|低|多|少|增|减)了?(?: by)?\s*$/i.test(
      text.slice(start, at).replace(/(?:HK\$|US\$|[$¥₩€]|[A-Z]{3})\s*$/, ''),
    ) ||
    /^\s?(?:오른|내린|올라|내려|상승|하락|높|낮|뛴|빠진)|^ (?:better|higher|lower|worse|more|less|above|below|up|down)\b/.test(
      text.slice(end),
    )
  return isMove ? ['change'] : null
}

const nearest = (mentions: readonly Mention[], { at, end }: Figure): Mention | undefined =>
  mentions.toSorted((a, b) => gap(a, at, end) - gap(b, at, end))[0]

const gap = (mention: Mention, at: number, end: number) => (mention.at < at ? at - mention.end : mention.at - end)

/** The facts of each figure's name; a name of several facts (a range) assigns them in turn, when it has as many figures. */
function inTurn(
  figures: readonly Figure[],
  nameOf: (figure: Figure) => Mention | undefined,
  otherwise: (figure: Figure) => readonly FactName[] = () => [],
): (figure: Figure) => readonly FactName[] {
  return (figure) => {
    const name = nameOf(figure)
    if (name === undefined) return otherwise(figure)
    if (name.facts.length === 1) return name.facts
    const own = figures.filter((one) => nameOf(one) === name)
    const fact = name.facts[own.indexOf(figure)]
    return fact === undefined || own.length !== name.facts.length ? [] : [fact]
  }
}

const singly = (facts: readonly FactName[]) => (facts.length === 1 ? facts : [])

/** The fact of a figure without a name: shares are volume, money is the price, and a move in percent is the day's. */
function byUnit({ at, unit, currencies, mode, half, value }: Figure, text: string): readonly FactName[] {
  if (unit === 'shares') return ['volume']
  if (unit === 'score') return ['score']
  if (unit === 'percent') return ['changePct']
  if (currencies.length > 0) return ['price']
  // A single figure with the precision of prices: "limit-up at 19.64".
  const isFine = mode === 'exact' && unit === 'plain' && Math.abs(value) >= 100 * half
  return isFine && /(?:\bat|@|[报收])\s?$/.test(text.slice(0, at)) ? ['price'] : []
}

type TextPart = { readonly text: string; readonly start: number; readonly part: string }

function directionAt({ at }: Figure, { text, start, part }: TextPart): 1 | -1 | 0 {
  return (
    directionOf(text.slice(start, at).replace(/涨跌/g, '')) ||
    directionOf(part.replace(/涨跌/g, '')) ||
    directionOf(text.replace(/涨跌/g, ''))
  )
}
