// Labelled sentences as a model would write them that names its figures by key: what a note says of a fact stands in the text as its figure, and
// the key takes its place.

import { type Figure, figuresIn } from '../../../src/analysis/write/claims/figures.ts'
import { isWithin } from '../../../src/analysis/write/claims/judge-figure.ts'
import { type KeyedFigure, keyedFigures } from '../../../src/analysis/write/claims/keys.ts'
import type { KnownFacts } from '../../../src/analysis/write/claims/known.ts'
import { plain } from '../../../src/analysis/write/sentences.ts'
import type { UnseenSentence } from '../../fixtures/sentences/unseen.ts'

type KeyedSentence = { readonly text: string; readonly keys: readonly KeyedFigure[] }

const SIGN = /(?:HK\$|US\$|NT\$|[$¥₩€]|RMB|CNY|HKD|USD|JPY|KRW)\s?$/

/** The sentence with a key for each figure that a note tells of a fact of the sheet; null where there is none. */
export function keyedSentence(
  { text: given, notes, language }: Pick<UnseenSentence, 'text' | 'notes' | 'language'>,
  known: KnownFacts,
): KeyedSentence | null {
  const keys = new Map(keyedFigures(known, language).map((figure) => [figure.fact as string, figure]))
  const facts = notes.split(' ').flatMap((note) => {
    const name = /^([A-Za-z]\w*)=[-+~]?[\d.]/.exec(note)?.[1] ?? ''
    const figure = keys.get(name)
    return figure === undefined ? [] : [figure]
  })
  let text = plain(given)
  const used: KeyedFigure[] = []
  for (const keyed of facts) {
    const found = figuresIn(text, (at) => text[at] === '{' || /\{\{[^}]*$/.test(text.slice(0, at))).filter(
      (figure) => figure.mode === 'exact' && figure.other === null && isOf(figure, keyed),
    )
    const [figure] = found
    if (figure === undefined || found.length > 1) continue
    const before = text.slice(0, figure.at).replace(SIGN, '')
    text = `${before}{{${keyed.key}}}${text.slice(figure.end)}`
    used.push(keyed)
  }
  return used.length === 0 ? null : { text, keys: used }
}

const isOf = (figure: Figure, { value }: KeyedFigure) =>
  isWithin({ ...figure, value: Math.abs(figure.value) }, Math.abs(value)) && figure.unit !== 'sessions'
