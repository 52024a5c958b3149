// The figures of a review that a model names by key, `{{SPX.change_pct}}`, and that code inserts. A key identifies the
// index or board of a figure; the words around it are still checked, so that they name no other subject and no other
// direction.

import { textsOf } from '../texts/book.ts'
import { aside, fixed, signedPct } from '../texts/format.ts'
import type { ReviewTexts } from '../texts/texts.ts'
import type { Figure } from '../write/claims/figures.ts'
import { figuresOf, MARKS, type Pieces, type Placed, placedIn } from '../write/claims/keys.ts'
import type { Finding } from '../write/claims/known.ts'
import { directionIn, namesCount } from './claim-states.ts'
import type { Breadth, RegionFacts } from './facts.ts'
import { type Named, namedIn, namesOf } from './subjects.ts'

export type KeyedFigure = {
  readonly key: string
  /** The index or board; null for the stocks of the whole market. */
  readonly name: string | null
  readonly label: string
  readonly text: string
  /** The direction of a move; 0 for other figures. */
  readonly way: number
  /** Which stocks it counts. */
  readonly count?: keyof Breadth
}

export function keyedFigures(facts: RegionFacts): KeyedFigure[] {
  const texts = textsOf(facts.language).review
  return [...ofIndices(facts, texts), ...ofBreadth(facts, texts), ...ofBoards(facts, texts)]
}

function ofIndices({ indices, overnight }: RegionFacts, { column }: ReviewTexts): KeyedFigure[] {
  const own = new Set(indices.map(({ key }) => key))
  return [...indices, ...overnight.filter(({ key }) => !own.has(key))].flatMap((fact) => {
    const level = (measure: string, value: number | null, what: string): KeyedFigure[] =>
      value === null
        ? []
        : [
            {
              key: `${fact.key}.${measure}`,
              name: fact.name,
              label: `${fact.name} ${what}`,
              text: fixed(value, 2),
              way: 0,
            },
          ]
    return [
      ...level('last', fact.current, column.current),
      moveOf(`${fact.key}.change_pct`, fact.name, { pct: fact.changePct, what: column.change }),
      ...level('high', fact.high, column.high),
      ...level('low', fact.low, column.low),
    ]
  })
}

function ofBreadth({ breadth }: RegionFacts, { breadthTable, gap }: ReviewTexts): KeyedFigure[] {
  const counts = breadth === null ? [] : (['up', 'down', 'flat', 'limitUp', 'limitDown'] as const)
  return counts.map((field): KeyedFigure => {
    const key = field.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`)
    const label = `${gap.breadth} ${breadthTable[field]}`
    return { key: `breadth.${key}`, name: null, label, text: String(breadth?.[field] ?? 0), way: 0, count: field }
  })
}

function ofBoards({ boards }: RegionFacts, { column }: ReviewTexts): KeyedFigure[] {
  const groups = Object.entries(boards ?? {}).flatMap(([group, ends]) =>
    Object.entries(ends).map(([end, list]) => ({
      name: `${group === 'industries' ? 'industry' : 'concept'}_${end}`,
      list,
    })),
  )
  return groups.flatMap(({ name, list }) =>
    list.flatMap((board, i) =>
      board.changePct === null
        ? []
        : [moveOf(`${name}_${i + 1}.change_pct`, board.name, { pct: board.changePct, what: column.change })],
    ),
  )
}

function moveOf(key: string, name: string, { pct, what }: { pct: number; what: string }): KeyedFigure {
  return { key, name, label: `${name} ${what}`, text: signedPct(pct), way: Math.sign(pct) }
}

type Read = { readonly text: string; readonly named: readonly Named[]; readonly figures: readonly Figure[] }

const PART = /[，。；！？;!?\n]|(?:(?<!\d),|,(?!\d))|\b(?:but|while|whereas|though)\b|지만/

/**
 * The subject of the words before a figure: in a list the one at the same position, else the last one named in its part
 * of the sentence.
 */
function ownerOf({ at, end }: Placed<KeyedFigure>, { text, named, figures }: Read): Named | null {
  const before = named.filter((one) => one.end <= at)
  const last = before.at(-1)
  if (last === undefined) return null
  const from = figures.findLast((figure) => figure.end <= last.at)?.end ?? 0
  const listed = before.filter((one) => one.at >= from)
  const run = figures.filter(
    (figure) => figure.at >= last.end && !named.some((one) => one.at >= last.end && one.at < figure.at),
  )
  const i = run.findIndex((figure) => figure.at >= at && figure.at < end)
  if (listed.length > 1 && listed.length === run.length) return listed[i] ?? null
  return PART.test(text.slice(last.end, at)) && i > 0 ? null : last
}

/** The direction that the words at a figure express. */
function wayOf({ at, end }: Placed<KeyedFigure>, { text, named }: Read): number {
  const start = Math.max(0, ...named.filter((one) => one.end <= at).map((one) => one.end))
  const before = text.slice(start, at).split(PART).at(-1) ?? ''
  return directionIn(before) || directionIn(text.slice(end).split(PART)[0]?.slice(0, 14) ?? '')
}

/** The verdict on a figure that is named by its key; `isRead` is whether the words support it like a figure written by hand. */
export function judgeKeyed(placed: Placed<KeyedFigure>, read: Read, isRead: Finding): Finding {
  const { name, way } = placed.figure
  const told = way === 0 ? 0 : wayOf(placed, read)
  if (told !== 0 && told !== way) return false
  if (isRead === true) return true
  if (name === null) return isRead !== false
  const owner = ownerOf(placed, read)
  if (owner === null || owner.subject.name === name) return true
  return PART.test(read.text.slice(owner.end, placed.at)) ? null : false
}

const partAround = (text: string, { at, end }: Placed<KeyedFigure>) =>
  `${text.slice(0, at).split(PART).at(-1) ?? ''} ${text.slice(end).split(PART)[0] ?? ''}`

/**
 * The sentence as it is shown: a figure gets its name if the sentence does not contain it, and no sign if a word
 * expresses the direction.
 */
export function shownText(pieces: Pieces<KeyedFigure>, text: string, facts: RegionFacts): string {
  const named = namedIn(text, namesOf(facts))
  const placed = placedIn(text, figuresOf(pieces))
  const read = { text: text.replace(MARKS, ' '), named, figures: [] }
  let n = 0
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return piece
      const at = placed[n++]
      const isTold = at !== undefined && piece.way !== 0 && wayOf(at, read) !== 0
      const figure = isTold ? piece.text.replace(/^[+-]/, '') : piece.text
      const isNamed =
        piece.count === undefined
          ? named.some(({ subject }) => subject.name === piece.name)
          : at !== undefined && namesCount(partAround(read.text, at), piece.count)
      return isNamed ? figure : figure + aside(piece.label, facts.language)
    })
    .join('')
}
