// Which name a figure belongs to, where the first reading does not bear the sentence: within a part of a sentence names stand all
// before their figures or all behind them, or a figure says by its unit what it is of. One way must make every figure of the part right.

import type { Figure } from './figures.ts'
import { besideOf, directionOf, judgeFigure } from './judge-figure.ts'
import type { FactName, Finding, Known } from './known.ts'
import type { Mention } from './names.ts'

/** What ties a figure to the name behind it: "8.2 for the MA5", "20 % below its average". */
const BOUND = /^\s?(?:above|below|over|under|off|from|for|of|on)\s(?:the\s|its\s)?$/i

type Token = Mention | Figure
type PlacedFinding = { readonly finding: Finding; readonly at: number }
type Read = { readonly text: string; readonly tokens: readonly Token[]; readonly known: Known }

const BREAK =
  /[，。；！？;!?\n()]|(?:(?<!\d),|,(?!\d))(?! where| which| the (?:high|low) of)|\bbut\b|\byet\b|\bwhile\b|\bwhereas\b|\b(?:even |al)?though\b|\bwith\b|\bagainst\b|\band\b|지만|인 가운데|[이]?며 |(?<=[가-힣])고 |而/gi

/** The findings, true instead for the parts of the text that another reading bears as a whole. */
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

/** 从 46.30 到 37.04: from the close before to the price. */
const isFromTo = (part: string, figures: readonly Figure[]): figures is [Figure, Figure, ...Figure[]] =>
  figures.length >= 2 &&
  figures.slice(2).every(({ unit }) => unit === 'percent') &&
  /[从由].*[到至]|\bfrom .*\bto\b|에서 .*로/i.test(part)

/** From the close before to the price, the way that the words tell, and by the day's change. */
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

/** By how much the price moved, in money; null where no verb says that it moved. */
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

/** The facts of each figure's name; a name of several facts (a range) gives them in turn, when as many figures are its own. */
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

/** What a figure without a name is of: shares are volume, money is the price, and a move in percent is the day's. */
function byUnit({ at, unit, currencies, mode, half, value }: Figure, text: string): readonly FactName[] {
  if (unit === 'shares') return ['volume']
  if (unit === 'score') return ['score']
  if (unit === 'percent') return ['changePct']
  if (currencies.length > 0) return ['price']
  // A figure alone, written as finely as prices are: "limit-up at 19.64".
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
