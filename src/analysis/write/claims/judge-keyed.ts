// Whether the words around a figure that a model named by its key match its fact, and how the figure is shown next to
// them.

import type { ReportLanguage } from '../../schemas.ts'
import { aside } from '../../texts/format.ts'
import { type Figure, figuresIn } from './figures.ts'
import { isOtherMoney } from './frames.ts'
import { AMOUNTS, besideOf, directionOf } from './judge-figure.ts'
import { figuresOf, type KeyedFigure, MARKS, type Pieces, type Placed, placedIn, SIGNS } from './keys.ts'
import { type FactName, type Finding, type KnownFacts, moneyOf } from './known.ts'
import type { Mention } from './name-table.ts'

type Read = { readonly text: string; readonly tokens: readonly (Mention | Figure)[]; readonly known: KnownFacts }

/** A part of a sentence about one thing. */
const PART =
  /[，。；！？;!?\n]|(?:(?<!\d),|,(?!\d))|\b(?:but|while|whereas|though|yet)\b|지만|인 가운데|(?<=[가-힣])고 /

/** Separators of the figures of a list. */
const LISTED = /^[\uE000-\uF8FF\s)]*(?:[、,，/·;]|和|与|及|\band\b|\bvs\.?|과|와|및)?[\s(]*$/i

/**
 * The name that a figure follows: the one at the same position of a list, or the last one before it; null when there is
 * none.
 */
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
    // A number of sessions can also name a value that was measured over them.
    ...{ change5Pct: ['flow5', 'outflow5'], change20Pct: ['turnover20'] },
    ...{ change60Pct: ['volatility60Pct'], change250Pct: ['drawdown250Pct'] },
    volume: ['volumeVsPrevious', 'volumeRatio'],
    outflowToday: ['flowToday'],
    outflow5: ['flow5'],
    outflow10: ['flow10'],
  },
}

/** Whether a name of these facts may mean this one. */
const isOf = (facts: readonly FactName[], fact: FactName): boolean =>
  facts.some((own) => own === fact || AMOUNTS[own] === fact || BESIDE[own]?.includes(fact) === true)

/** Words that name a measure and express no direction of their own. */
const NEUTRAL = /涨跌幅?|增速|增长率|成长率|등락[률액]?|증가율|성장률|\bgrowth(?: rate)?\b|\breturn\b/gi

/** The direction that the words at a figure express. */
function wayOf(placed: Placed, read: Read): 1 | -1 | 0 {
  const { text, tokens } = read
  const mention = nameOf(placed, read)?.mention
  const name = mention === undefined ? '' : text.slice(mention.at, mention.end)
  const clause = text.slice(0, placed.at).split(PART).at(-1) ?? ''
  const told = [besideOf(text.replace(MARKS, ' '), placed, tokens), name, clause]
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

/** The verdict on a figure that is named by its key; `isRead` is whether the words support it like a figure written by hand. */
export function judgeKeyed(placed: Placed, read: Read, isRead: boolean): Finding {
  const { fact, value } = placed.figure
  if (isOutflow(placed, read) && value > 0) return false
  if (SIGNS.has(fact) && value !== 0) {
    const way = wayOf(placed, read)
    if (way !== 0 && way !== Math.sign(value)) return false
  }
  const between = otherBehind(placed, read)
  if (isAcrossZero(placed, read) || isInOtherMoney(placed, read) || (between !== null && IS.test(between))) return false
  if (SAID_BEHIND[fact]?.test(read.text.slice(placed.end)) === true) return true
  if (between !== null && RIGHT_BEHIND.test(between)) return null
  const name = nameOf(placed, read)
  // The figure's own words say which end of a range it is.
  if (!isRead && isOneOfMany(placed, read)) return null
  if (isRead || name === null || isOf(name.facts, fact)) return true
  const behind = nextName(placed, read)
  if (behind !== undefined && behind.at - placed.end <= 4 && isOf(behind.facts, fact)) return true
  return LINK.test(read.text.slice(name.mention.end, placed.at)) ? false : null
}

const nextName = ({ end }: Placed, { tokens }: Read): Mention | undefined =>
  tokens.find((token): token is Mention => token.kind === 'mention' && token.at >= end)

/** The name of another fact after a figure, if it has no figure of its own; null when there is none. */
function otherBehind({ end, figure }: Placed, { text, tokens }: Read): string | null {
  const at = tokens.findIndex((token) => token.kind === 'mention' && token.at >= end)
  const [name, next] = [tokens[at], tokens[at + 1]]
  if (name?.kind !== 'mention' || isOf(name.facts, figure.fact)) return null
  if (next?.kind === 'figure' && next.at - name.end <= 4) return null
  const between = text.slice(end, name.at)
  // An apposition claims identity: "fell to 20.50, the low of the day."
  return APPOSED.test(between) && /^\s?(?:[.,;)。，；）]|$)/.test(text.slice(name.end)) ? ' is ' : between
}

const APPOSED = /^[\s\uE000-\uF8FF]?(?:, (?:(?:the|its|an?) )?|[,，] ?(?:即|也就是))$/i

/** The last name before it means one of several facts, for example of a range. */
function isOneOfMany({ at, figure }: Placed, { tokens }: Read): boolean {
  const name = tokens.findLast((token): token is Mention => token.kind === 'mention' && token.at < at)
  return name !== undefined && name.facts.length > 1 && name.facts.includes(figure.fact)
}

/** Another currency before or after it, besides its own. */
function isInOtherMoney({ at, end, figure }: Placed, { text, tokens, known }: Read): boolean {
  const own = moneyOf(figure.fact, known)
  const read = tokens.find((token): token is Figure => token.kind === 'figure' && token.at >= at - 4 && token.at < end)
  const behind = `1${text.slice(end, end + 16)}`
  const [next] = figuresIn(behind, () => false)
  const told = [read?.currencies ?? [], next?.at === 0 ? next.currencies : []]
  return told.some((money) => money.length > 0 && !money.includes(own)) || (own !== 'TWD' && isOtherMoney(behind))
}

/** "18.40 is the ideal entry": the name that a figure is claimed to be. */
const IS = /^\s?(?:\)|）)?\s?(?:是|为|作为|is|as|serves as|marks|[은는])\s?(?:the |its |an? )?$/i
/** "a 1.22% yield" */
const RIGHT_BEHIND = /^(?:的|의)?\s?$/

/** Whether it is claimed to be on the other side of zero. */
function isAcrossZero({ at, figure: { value } }: Placed, { text }: Read): boolean {
  const part = text.slice(0, at).split(PART).at(-1) ?? ''
  return value < 0 ? POSITIVE.test(part) : value > 0 && NEGATIVE.test(part)
}
const POSITIVE = /\bpositive\b|\babove zero\b|为正|正值|양수|양의 값|플러스/i
const NEGATIVE = /\bnegative\b|\bbelow zero\b|为负|负值|음수|음의 값/i

/**
 * How each figure of the sentence is shown: a move without its sign if the words express it, and with its name if they
 * do not contain it.
 */
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

/** Whether the part of the sentence around a figure names its fact in known words. */
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
