// Figures that a model names by a key, `{{rsi_12}}`, and that code puts in as the report prints them: with unit, sign and currency, in its
// language. A key says for certain which fact is meant; what the words around it say of the fact is still checked.

import type { ReportLanguage } from '../../schemas.ts'
import { aside, fixed, keptDecimals, largeNumber, round, signedPct, withUnit } from '../../texts/format.ts'
import type { Figure } from './figures.ts'
import { AMOUNTS, besideOf, directionOf } from './judge-figure.ts'
import { type FactName, type Finding, type Known, moneyOf, SIGNED, UNITS } from './known.ts'
import { factLabel } from './labels.ts'
import type { Mention } from './names.ts'
import { plain } from './plain.ts'

export type KeyedFigure = {
  readonly key: string
  readonly fact: FactName
  readonly value: number
  /** As the report prints it. */
  readonly text: string
  readonly label: string
}

const keyOf = (fact: FactName) =>
  fact
    .replace(/([a-z])(\d)/g, '$1_$2')
    .replace(/([A-Z])/g, '_$1')
    .toLowerCase()

/** Every fact with a value, under its key. */
export function keyedFigures(known: Known, language: ReportLanguage): KeyedFigure[] {
  return (Object.keys(UNITS) as FactName[]).flatMap((fact) => {
    const value = known.values[fact]
    // What flows out is what does not flow in: one of both is told.
    if (value === null || !Number.isFinite(value) || fact.startsWith('outflow')) return []
    return [
      {
        key: keyOf(fact),
        fact,
        value,
        text: factText(fact, value, { known, language }),
        label: factLabel(fact, language),
      },
    ]
  })
}

const SHARES: Readonly<Record<ReportLanguage, string>> = { zh: '股', en: ' shares', ko: '주' }
const SIGNS: ReadonlySet<string> = new Set(SIGNED)
/** Differences of averages: of a small price the usual digits leave nothing. */
const FINE: ReadonlySet<FactName> = new Set(['dif', 'dea', 'histogram'])
const WHOLE = /^score/

type Style = { readonly known: Known; readonly language: ReportLanguage }

/** The figure of a fact as reports print it. */
export function factText(fact: FactName, value: number, { known, language }: Style): string {
  const unit = UNITS[fact]
  const money = moneyOf(fact, known)
  if (unit === 'price') return withUnit(fixed(value, known.decimals), money, language)
  // Renminbi of a company that is listed elsewhere is never taken for the listing's money: it is named in full.
  const full = money === 'CNY' && known.currency !== 'CNY' ? 'renminbi' : money
  if (unit === 'money') return withUnit(largeNumber(value, language), full, language)
  if (unit === 'percent') return SIGNS.has(fact) ? signedPct(value) : `${fixed(value, 2)}%`
  if (unit === 'shares') return largeNumber(value, language) + SHARES[language]
  // A ratio is never rounded up to one that a plan does not have.
  if (unit === 'ratio') return fixed(Math.floor(value * 100 + 1e-9) / 100, 2)
  if (WHOLE.test(fact)) return String(value)
  if (!FINE.has(fact)) return fixed(value, 2)
  return fixed(round(value, keptDecimals(known.decimals)), Math.max(2, known.decimals + 1))
}

/** A sentence in pieces: its own words, and the figures that it names. */
export type Pieces = readonly (string | KeyedFigure)[]

const KEY = /[{｛]{2}\s*([^{}｛｝]{0,60}?)\s*[}｝]{2}/g
/** What looks like a key and is none. */
const BROKEN = /[{｛]{2}|[}｝]{2}|[{｛]\s*[a-z]\w*\s*[}｝]/i
/** No sentence that anybody reads has so many. */
const MOST_KEYS = 24
/** Marks of the checker's own; they mean nothing in a text. */
const PRIVATE = /[\uE000-\uF8FF]/g

const spelled = (key: string) => key.toLowerCase().replace(/[_\-\s]/g, '')

export const figuresByKey = (figures: readonly KeyedFigure[]): ReadonlyMap<string, KeyedFigure> =>
  new Map(figures.map((figure) => [spelled(figure.key), figure]))

/** The sentence in its pieces; null where a key in it is none of the report's. */
export function piecesOf(given: string, figures: ReadonlyMap<string, KeyedFigure>): Pieces | null {
  const sentence = given.replace(PRIVATE, '')
  const pieces: (string | KeyedFigure)[] = []
  let from = 0
  for (const match of sentence.matchAll(KEY)) {
    const figure = figures.get(spelled(match[1] ?? ''))
    if (figure === undefined) return null
    const end = match.index + match[0].length
    pieces.push(sentence.slice(from, match.index), figure)
    from = end + unitAfter(sentence.slice(end), figure)
  }
  pieces.push(sentence.slice(from))
  const isBroken = pieces.some((piece) => typeof piece === 'string' && BROKEN.test(piece))
  return isBroken || pieces.length > 2 * MOST_KEYS + 1 ? null : pieces
}

/** How much of what follows repeats the unit that the figure brings. */
function unitAfter(after: string, { text }: KeyedFigure): number {
  const unit = /[^\d.,]+$/.exec(text)?.[0].trim() ?? ''
  const blanks = /^ ?/.exec(after)?.[0].length ?? 0
  return unit !== '' && after.slice(blanks).startsWith(unit) ? blanks + unit.length : 0
}

/** The sentence as it is checked: each figure with a mark of its own behind it. */
export const markedText = (pieces: Pieces): string => {
  let n = 0
  return pieces
    .map((piece) => (typeof piece === 'string' ? piece : piece.text + String.fromCharCode(0xe000 + n++)))
    .join('')
}

export const figuresOf = (pieces: Pieces): KeyedFigure[] => pieces.filter((piece) => typeof piece !== 'string')

/** Where a named figure stands in a text with its marks. */
export type Placed = { readonly at: number; readonly end: number; readonly n: number; readonly figure: KeyedFigure }

export function placedIn(text: string, figures: readonly KeyedFigure[]): Placed[] {
  return [...text.matchAll(PRIVATE)].flatMap(({ index, 0: mark }) => {
    const n = mark.charCodeAt(0) - 0xe000
    const figure = figures[n]
    return figure === undefined ? [] : [{ at: index - plain(figure.text).length, end: index + 1, n, figure }]
  })
}

type Read = { readonly text: string; readonly tokens: readonly (Mention | Figure)[] }

/** A part of a sentence about one thing. */
const PART =
  /[，。；！？;!?\n]|(?:(?<!\d),|,(?!\d))|\b(?:but|while|whereas|though|yet)\b|지만|인 가운데|(?<=[가-힣])고 /

/** What joins the figures of a list. */
const LISTED = /^[\uE000-\uF8FF\s)]*(?:[、,，/·;]|和|与|及|\band\b|\bvs\.?|과|와|및)?[\s(]*$/i

/** The name that a figure stands behind: the same of a list, or the last one before it; null where there is none. */
function nameOf(
  { at, end }: Pick<Placed, 'at' | 'end'>,
  { text, tokens }: Read,
): { facts: readonly FactName[]; mention: Mention } | null {
  const own = tokens.findIndex((token) => token.kind === 'figure' && token.at >= at && token.at < end)
  if (own < 0) return null
  const isListed = (i: number) => {
    const [one, next] = [tokens[i], tokens[i + 1]]
    return one?.kind === 'figure' && next?.kind === 'figure' && LISTED.test(text.slice(one.end, next.at))
  }
  let first = own
  while (isListed(first - 1)) first--
  let last = own
  while (isListed(last)) last++
  const names: Mention[] = []
  for (let i = first - 1; i >= 0; i--) {
    const token = tokens[i]
    if (token?.kind !== 'mention') break
    names.unshift(token)
  }
  const mention = names.at(-1)
  if (mention === undefined) return null
  const listed = names.flatMap(({ facts }) => facts)
  const fact = listed.length === last - first + 1 ? listed[own - first] : undefined
  if (fact !== undefined && listed.length > 1) return { facts: [fact], mention }
  const isApart = own !== first || PART.test(text.slice(mention.end, at))
  return isApart ? null : { facts: mention.facts, mention }
}

const BESIDE: Readonly<Partial<Record<FactName, readonly FactName[]>>> = {
  price: [
    'change',
    'changePct',
    'change5Pct',
    'change20Pct',
    'change60Pct',
    'change250Pct',
    'belowHigh52Pct',
    'aboveLow52Pct',
    'position52Pct',
  ],
  ...{ ma5: ['bias5'], ma10: ['bias10'], ma20: ['bias20'], high52: ['belowHigh52Pct'], low52: ['aboveLow52Pct'] },
  ...{
    // A span of sessions is also one of what was measured over it.
    ...{ change5Pct: ['flow5', 'outflow5'], change20Pct: ['turnover20'] },
    ...{ change60Pct: ['volatility60Pct'], change250Pct: ['drawdown250Pct'] },
    volume: ['volumeVsPrevious', 'volumeRatio'],
    outflowToday: ['flowToday'],
    outflow5: ['flow5'],
    outflow10: ['flow10'],
  },
}

/** Whether a name of these facts may stand for this one. */
const isOf = (facts: readonly FactName[], fact: FactName): boolean =>
  facts.some((own) => own === fact || AMOUNTS[own] === fact || BESIDE[own]?.includes(fact) === true)

/** Words that name a measure and tell no direction of their own. */
const NEUTRAL = /涨跌幅?|增速|增长率|成长率|등락[률액]?|증가율|성장률|\bgrowth(?: rate)?\b|\breturn\b/gi

/** Which way the words at a figure say that it went. */
function wayOf(placed: Placed, read: Read): 1 | -1 | 0 {
  const { text, tokens } = read
  const mention = nameOf(placed, read)?.mention
  const name = mention === undefined ? '' : text.slice(mention.at, mention.end)
  const clause = text.slice(0, placed.at).split(PART).at(-1) ?? ''
  const told = [besideOf(text.replace(PRIVATE, ' '), placed, tokens), name, clause]
  return told.map((words) => directionOf(words.replace(NEUTRAL, ' '))).find((way) => way !== 0) ?? 0
}

/** 19.5 times earnings, 7.1 times book. */
const SAID_BEHIND: Readonly<Partial<Record<FactName, RegExp>>> = {
  pe: /^\s?(?:times |x )?(?:its |trailing |the )*(?:earnings|profits?)\b|^\s?倍?(?:的)?市盈率/i,
  pb: /^\s?(?:times |x )?(?:its |the )*(?:net )?(?:book|asset)|^\s?倍?(?:的)?市净率/i,
}
const LINK = /^\s*(?:为|是|在|报|约|现?为|达到?|[:=]|is|was|at|of|stands? at|reads?|[은는이가])?\s*\(?\s*$/i
const isOutflow = (placed: Placed, read: Read) =>
  nameOf(placed, read)?.facts.some((fact) => fact.startsWith('outflow')) === true

/** What a figure that is named by its key comes to among its words; `isRead` is whether they bear it as they would one written by hand. */
export function judgeKeyed(placed: Placed, read: Read, isRead: boolean): Finding {
  const { fact, value } = placed.figure
  if (isOutflow(placed, read) && value > 0) return false
  if (SIGNS.has(fact) && value !== 0) {
    const way = wayOf(placed, read)
    if (way !== 0 && way !== Math.sign(value)) return false
  }
  const between = otherBehind(placed, read)
  if (isAcrossZero(placed, read) || (between !== null && IS.test(between))) return false
  if (SAID_BEHIND[fact]?.test(read.text.slice(placed.end)) === true) return true
  if (between !== null && RIGHT_BEHIND.test(between)) return null
  const name = nameOf(placed, read)
  if (isRead || name === null || isOf(name.facts, fact)) return true
  const behind = nextName(placed, read)
  if (behind !== undefined && behind.at - placed.end <= 4 && isOf(behind.facts, fact)) return true
  return LINK.test(read.text.slice(name.mention.end, placed.at)) ? false : null
}

const nextName = ({ end }: Placed, { tokens }: Read): Mention | undefined =>
  tokens.find((token): token is Mention => token.kind === 'mention' && token.at >= end)

/** The name of another fact behind a figure, where it has no figure of its own; null where there is none. */
function otherBehind({ end, figure }: Placed, { text, tokens }: Read): string | null {
  const at = tokens.findIndex((token) => token.kind === 'mention' && token.at >= end)
  const [name, next] = [tokens[at], tokens[at + 1]]
  if (name?.kind !== 'mention' || isOf(name.facts, figure.fact)) return null
  return next?.kind === 'figure' && next.at - name.end <= 4 ? null : text.slice(end, name.at)
}

/** "18.40 is the ideal entry": the name that a figure is said to be. */
const IS = /^\s?(?:\)|）)?\s?(?:是|为|作为|is|as|serves as|marks|[은는])\s?(?:the |its |an? )?$/i
/** "a 1.22% yield" */
const RIGHT_BEHIND = /^(?:的|의)?\s?$/

/** Whether it is said to be on the other side of zero. */
function isAcrossZero({ at, figure: { value } }: Placed, { text }: Read): boolean {
  const part = text.slice(0, at).split(PART).at(-1) ?? ''
  return value < 0 ? POSITIVE.test(part) : value > 0 && NEGATIVE.test(part)
}
const POSITIVE = /\bpositive\b|\babove zero\b|为正|正值|양수|양의 값|플러스/i
const NEGATIVE = /\bnegative\b|\bbelow zero\b|为负|负值|음수|음의 값/i

/** How each figure of the sentence is shown: a move without its sign where the words tell it, and with its name where they do not. */
export function shownText(pieces: Pieces, read: Read, language: ReportLanguage): string {
  const placed = placedIn(read.text, figuresOf(pieces))
  let n = 0
  return pieces
    .map((piece) => (typeof piece === 'string' ? piece : shown(piece, placed[n++], { read, language })))
    .join('')
}

function shown(
  { fact, text, label }: KeyedFigure,
  placed: Placed | undefined,
  { read, language }: { read: Read; language: ReportLanguage },
): string {
  if (placed === undefined) return text
  const isTold = (SIGNS.has(fact) && wayOf(placed, read) !== 0) || isOutflow(placed, read)
  const figure = isTold ? text.replace(/^[+-]/, '') : text
  return isNamed(placed, read) ? figure : figure + aside(label, language)
}

/** Whether the part of the sentence that a figure stands in names its fact in words that are known. */
function isNamed({ at, end, figure: { fact } }: Placed, { text, tokens }: Read): boolean {
  const breaks = [...text.slice(0, at).matchAll(new RegExp(PART.source, 'g'))]
  const from = Math.max(0, ...breaks.map(({ index, 0: word }) => index + word.length))
  const rest = text.slice(end).search(PART)
  const to = rest < 0 ? text.length : end + rest
  const names = tokens.filter((token) => token.kind === 'mention' && token.at >= from && token.end <= to)
  const facts = names.flatMap((name) => (name.kind === 'mention' ? name.facts : []))
  return facts.some((own) => own === fact || AMOUNTS[own] === fact || SAME_NAME[own] === fact)
}

/** 5 % above MA5, 20 % below the high. */
const SAME_NAME: Readonly<Partial<Record<FactName, FactName>>> = {
  ...{ ma5: 'bias5', ma10: 'bias10', ma20: 'bias20', high52: 'belowHigh52Pct', low52: 'aboveLow52Pct' },
  ...{ outflowToday: 'flowToday', outflow5: 'flow5', outflow10: 'flow10' },
}
