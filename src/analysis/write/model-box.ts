// The model's text, in a box of its own. It fills no other field: values for programs are made by code. Each sentence
// is checked against the data; it is kept, marked or dropped, and never rewritten. A kept one cites the rows that
// support it.

import type { Action, ReportLanguage } from '../schemas.ts'
import { fill, textsOf } from '../texts/book.ts'
import { checkSentence, readOf, type Verdict } from './claims/check.ts'
import { figuresIn } from './claims/figures.ts'
import { AMOUNTS, isWithin } from './claims/judge-figure.ts'
import { shownText } from './claims/judge-keyed.ts'
import {
  factLabel,
  factText,
  figuresByKey,
  figuresOf,
  type KeyedFigure,
  keyedFigures,
  markedText,
  piecesOf,
} from './claims/keys.ts'
import type { FactName, KnownFacts } from './claims/known.ts'
import { mentionsIn } from './claims/name-table.ts'
import { quotationIn } from './claims/quotations.ts'
import { plain, sentencesIn } from './sentences.ts'

export type BoxSentence = {
  text: string
  /** Why a reader should doubt it; null when the data support it. */
  mark: 'doubtful' | 'undecidable' | null
  /** Numbers of evidence rows. */
  cites: number[]
}

export type EvidenceItem = { n: number; fact: string; text: string }

export type ModelBox = {
  notice: string
  model: string | null
  /** The action that the model suggests; always null for a market. */
  action: Action | null
  /** The opinion as text if it differs from the report's. */
  contradiction: string | null
  sentences: BoxSentence[]
  evidence: EvidenceItem[]
  counts: { checked: number; confirmed: number; marked: number; dropped: number }
}

/** A sentence after the check: its shown text, its verdict, and the rows that support it, each with a name and a text. */
export type Checked = { text: string; verdict: Verdict; sources: () => [name: string, text: string][] }
export type Checker = (sentence: string) => Checked

type Author = { model: string | null; action: Action | null; advised: Action | null; language: ReportLanguage }

/** The box of a stock. */
export function modelBox(texts: readonly string[], known: KnownFacts, author: Author): ModelBox {
  const { action, advised, language } = author
  const { report, analysis } = textsOf(language)
  const differs = action !== null && action !== advised
  const figures = figuresByKey(keyedFigures(known, language))
  return {
    ...boxOf(texts, (sentence) => checkedSentence(sentence, { figures, known, language }), {
      notice: fill(analysis.modelBox, { model: author.model ?? '?' }),
    }),
    ...{ model: author.model, action },
    contradiction: differs ? fill(analysis.modelDiffers, { action: report.action[action] }) : null,
  }
}

type Facts = { figures: ReadonlyMap<string, KeyedFigure>; known: KnownFacts; language: ReportLanguage }

/** A sentence with its figures inserted; an unknown key is as wrong as an unknown figure. */
function checkedSentence(sentence: string, { figures, known, language }: Facts): Checked {
  const pieces = piecesOf(sentence, figures)
  if (pieces === null) return { text: sentence, verdict: 'false', sources: () => [] }
  const [marked, used] = [markedText(pieces), figuresOf(pieces)]
  return {
    text: used.length === 0 ? marked : shownText(pieces, readOf(plain(marked), known), language),
    verdict: checkSentence(marked, known, used),
    sources: () => sourcesOf(marked, { used, known, language }),
  }
}

/** The sentences that the data do not contradict, with their marks, and the rows that they cite. */
export function boxOf(texts: readonly string[], checker: Checker, head: { notice: string }): ModelBox {
  const rows = new Map<string, EvidenceItem>()
  const cite = (fact: string, text: string): number => {
    const row = rows.get(fact) ?? { n: rows.size + 1, fact, text }
    rows.set(fact, row)
    return row.n
  }
  const checked = texts
    .flatMap(sentencesIn)
    // A sentence without letters and figures has no content: a dash for "none".
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))
    .map(checker)
  const sentences = checked.flatMap(({ text, verdict, sources }): BoxSentence[] => {
    if (verdict === 'false') return []
    const cites = verdict === 'confirmed' ? sources().map(([fact, told]) => cite(fact, told)) : []
    return [{ text: text.trim(), mark: verdict === 'confirmed' ? null : verdict, cites: [...new Set(cites)] }]
  })
  const counts = countsOf(checked)
  return {
    ...{ notice: head.notice, model: null, action: null, contradiction: null },
    ...{ sentences, evidence: [...rows.values()], counts },
  }
}

function countsOf(checked: readonly { verdict: Verdict }[]): ModelBox['counts'] {
  const of = (...verdicts: Verdict[]) => checked.filter(({ verdict }) => verdicts.includes(verdict)).length
  return {
    checked: checked.length,
    confirmed: of('confirmed'),
    marked: of('doubtful', 'undecidable'),
    dropped: of('false'),
  }
}

/**
 * The facts whose figures a sentence contains, and the headlines that it quotes, each with its text. The contents of a
 * quotation are not facts.
 */
function sourcesOf(
  sentence: string,
  { used, known, language }: Omit<Facts, 'figures'> & { used: readonly KeyedFigure[] },
): [string, string][] {
  const words = plain(sentence)
  const quotation = quotationIn(words, known)
  const byWords = factsTold(quotation === null ? words : quotation.rest, known)
  const told = [...new Set([...used.map(({ fact }) => fact), ...byWords])].flatMap((fact): [string, string][] => {
    const value = known.values[fact]
    return value === null ? [] : [[fact, `${factLabel(fact, language)}: ${factText(fact, value, { known, language })}`]]
  })
  if (quotation?.verdict !== true) return told
  const quoted = known.headlines.filter(({ title }) => words.includes(plain(title)))
  return [
    ...told,
    ...quoted.map(({ title, source, date }): [string, string] => [title, `${source ?? '?'} ${date ?? ''}: ${title}`]),
  ]
}

/** The named facts whose figure is in the text; all named facts if there is no figure: "above its average". */
function factsTold(text: string, { values }: KnownFacts): FactName[] {
  const mentions = mentionsIn(text)
  const facts = mentions.flatMap((mention) => mention.facts).flatMap((fact) => [AMOUNTS[fact] ?? fact, fact])
  const named = [...new Set<FactName>(facts)]
  const figures = figuresIn(text, (at, end) => mentions.some((it) => at < it.end && it.at < end))
  const said = named.filter((fact) => {
    const value = values[fact]
    return value !== null && figures.some((it) => isWithin({ ...it, value: Math.abs(it.value) }, Math.abs(value)))
  })
  return said.length === 0 ? named : said
}

/** The counts under the names that clients know: sentences, none of which is ever corrected. */
export function figureCheck(told: { box: ModelBox | null } | null) {
  if (told === null || told.box === null) return null
  const { checked, confirmed, dropped } = told.box.counts
  return { checked, matched: confirmed, corrected: 0, struck: dropped }
}
