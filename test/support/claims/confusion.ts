// The checker's results for a set of labelled sentences, by language, form and label.

import { checkSentence, type Verdict } from '../../../src/analysis/write/claims/check.ts'
import type { KnownFacts } from '../../../src/analysis/write/claims/known.ts'
import { SHEETS } from '../../fixtures/sentences/facts.ts'
import type { Sentence } from '../../fixtures/sentences/sentence.ts'
import { knownOfSheet } from './known-of-sheet.ts'

export type Row = { of: string; label: string } & Record<Verdict, number>

export function confusion<S extends Pick<Sentence, 'sheet' | 'label' | 'text'>>(
  sentences: readonly S[],
  groupOf: (sentence: S) => string,
): Row[] {
  const known = new Map<string, KnownFacts>(SHEETS.map((sheet) => [sheet.key, knownOfSheet(sheet)]))
  const rows = new Map<string, Row>()
  for (const sentence of sentences) {
    const facts = known.get(sentence.sheet)
    if (facts === undefined) throw new Error(`no sheet ${sentence.sheet}`)
    const key = `${groupOf(sentence)} ${sentence.label}`
    const row = rows.get(key) ?? { of: groupOf(sentence), label: sentence.label, ...NONE }
    row[checkSentence(sentence.text, facts)]++
    rows.set(key, row)
  }
  return [...rows.values()].sort((a, b) => `${a.of} ${a.label}`.localeCompare(`${b.of} ${b.label}`))
}

const NONE = { confirmed: 0, doubtful: 0, undecidable: 0, false: 0 }

/** The share of false sentences that pass unmarked, and of true ones that are marked or dropped. */
export function faults(rows: readonly Row[]): { passed: number; hurt: number } {
  const of = (label: string, count: (row: Row) => number) =>
    rows.filter((row) => row.label === label).reduce((sum, row) => sum + count(row), 0)
  const all = (row: Row) => row.confirmed + row.doubtful + row.undecidable + row.false
  return {
    passed: of('false', ({ confirmed }) => confirmed) / Math.max(1, of('false', all)),
    hurt: of('true', (row) => all(row) - row.confirmed) / Math.max(1, of('true', all)),
  }
}
