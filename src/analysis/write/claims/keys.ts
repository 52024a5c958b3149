// Figures that a model names by a key, `{{rsi_12}}`, and that code puts in as the report prints them: with unit, sign and currency, in its
// language. A key says for certain which fact is meant; what the words around it say of the fact is still checked.

import type { ReportLanguage } from '../../schemas.ts'
import { fixed, keptDecimals, largeNumber, round, signedPct, withUnit } from '../../texts/format.ts'
import { type FactName, type Known, moneyOf, SIGNED, UNITS } from './known.ts'
import { factLabel } from './labels.ts'
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
export const SIGNS: ReadonlySet<string> = new Set(SIGNED)
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
export type Pieces<Figure extends Shown = KeyedFigure> = readonly (string | Figure)[]

type Shown = { readonly key: string; readonly text: string }

const KEY = /[{｛]{2}\s*([^{}｛｝]{0,60}?)\s*[}｝]{2}/g
/** What looks like a key and is none. */
const BROKEN = /[{｛]{2}|[}｝]{2}|[{｛]\s*[a-z]\w*\s*[}｝]/i
/** No sentence that anybody reads has so many. */
const MOST_KEYS = 24
/** Marks of the checker's own; they mean nothing in a text. */
export const MARKS = /[\uE000-\uF8FF]/g

const spelled = (key: string) => key.toLowerCase().replace(/[_\-\s]/g, '')

export const figuresByKey = <Figure extends Shown>(figures: readonly Figure[]): ReadonlyMap<string, Figure> =>
  new Map(figures.map((figure) => [spelled(figure.key), figure]))

/** The sentence in its pieces; null where a key in it is none of the report's. */
export function piecesOf<Figure extends Shown>(
  given: string,
  figures: ReadonlyMap<string, Figure>,
): Pieces<Figure> | null {
  const sentence = given.replace(MARKS, '')
  const pieces: (string | Figure)[] = []
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
function unitAfter(after: string, { text }: Shown): number {
  const unit = /[^\d.,]+$/.exec(text)?.[0].trim() ?? ''
  const blanks = /^ ?/.exec(after)?.[0].length ?? 0
  return unit !== '' && after.slice(blanks).startsWith(unit) ? blanks + unit.length : 0
}

/** The sentence as it is checked: each figure with a mark of its own behind it. */
export const markedText = (pieces: Pieces<Shown>): string => {
  let n = 0
  return pieces
    .map((piece) => (typeof piece === 'string' ? piece : piece.text + String.fromCharCode(0xe000 + n++)))
    .join('')
}

export const figuresOf = <Figure extends Shown>(pieces: Pieces<Figure>): Figure[] =>
  pieces.filter((piece): piece is Figure => typeof piece !== 'string')

/** Where a named figure stands in a text with its marks. */
export type Placed<Figure extends Shown = KeyedFigure> = {
  readonly at: number
  readonly end: number
  readonly n: number
  readonly figure: Figure
}

export function placedIn<Figure extends Shown>(text: string, figures: readonly Figure[]): Placed<Figure>[] {
  return [...text.matchAll(MARKS)].flatMap(({ index, 0: mark }) => {
    const n = mark.charCodeAt(0) - 0xe000
    const figure = figures[n]
    return figure === undefined ? [] : [{ at: index - plain(figure.text).length, end: index + 1, n, figure }]
  })
}
