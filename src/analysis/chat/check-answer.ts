// Checks the answer of a talk: each figure must occur in a result of the talk, and no sentence may contradict the known
// facts about a stock. Nothing is rewritten: a sentence is cited or marked.

import { z } from 'zod'
import type { ReportLanguage } from '../schemas.ts'
import { checkSentence } from '../write/claims/check.ts'
import { daysIn, isDay } from '../write/claims/dates.ts'
import { type Figure, figuresIn } from '../write/claims/figures.ts'
import { isWithin } from '../write/claims/judge-figure.ts'
import type { KnownFacts } from '../write/claims/known.ts'
import { mentionsIn } from '../write/claims/name-table.ts'
import { plain, sentencesIn } from '../write/sentences.ts'
import { CHAT_TEXTS } from './texts.ts'

export const Source = z.object({ label: z.string(), at: z.string().nullable(), url: z.string().nullable() })
export type Source = z.infer<typeof Source>

/** What a result contains besides its text: its source, and its facts about stocks, in the form for the checker of reports. */
const Record_ = z.object({
  sources: z.array(Source),
  known: z.array(z.custom<KnownFacts>((value) => typeof value === 'object')),
})

export const recordText = (record: { sources: Source[]; known: KnownFacts[] }): string => JSON.stringify(record)

export type TalkResult = { text: string; record: string }

type Evidence = { numbers: readonly number[]; sources: Source[]; isOfFacts: boolean }

/** The results, the newest first. */
export function checkAnswer(text: string, results: readonly TalkResult[], language: ReportLanguage): string {
  if (text.trim() === '') return text
  const checker = new AnswerChecker(results, language)
  return checker.check(text)
}

class AnswerChecker {
  readonly #language: ReportLanguage
  readonly #evidence: Evidence[] = []
  readonly #known: KnownFacts[] = []
  readonly #cited: Source[] = []

  constructor(results: readonly TalkResult[], language: ReportLanguage) {
    this.#language = language
    for (const { text, record } of results) {
      const { sources, known } = Record_.parse(JSON.parse(record))
      this.#evidence.push({ numbers: numbersIn(textOf(text)), sources, isOfFacts: known.length > 0 })
      // The newest facts of each stock.
      for (const one of known) if (!this.#known.some(({ names }) => isSame(names, one.names))) this.#known.push(one)
    }
  }

  check(text: string): string {
    let isCode = false
    const lines = text.split('\n').map((line) => {
      if (/^\s*(```|~~~)/.test(line)) isCode = !isCode
      return isCode ? line : this.#line(line)
    })
    return `${lines.join('\n').trimEnd()}${this.#list()}`
  }

  #line(line: string): string {
    if (/^\s*\|/.test(line)) {
      const note = this.#noteOn(line.replaceAll('|', ' '))
      return note === '' ? line : line.replace(/\s*\|?\s*$/, `${note} |`)
    }
    const sentences = sentencesIn(line)
    return (sentences.length === 0 ? [line] : sentences).map((sentence) => this.#sentence(sentence)).join('')
  }

  /** The note is placed before the punctuation mark that ends the sentence. */
  #sentence(sentence: string): string {
    const note = this.#noteOn(sentence)
    return note === '' ? sentence : sentence.replace(/([。！？!?；;.]*\s*)$/, (end) => `${note}${end}`)
  }

  #noteOn(sentence: string): string {
    const { unbacked, contradicted } = CHAT_TEXTS[this.#language]
    const words = plain(sentence)
    const figures = this.#figuresOf(words)
    const backers = figures.map((figure) => this.#evidence.find(({ numbers }) => isBacked(figure, numbers)) ?? null)
    if (backers.includes(null)) return ` [${unbacked}]`
    const isOfFacts = backers.every((backer) => backer?.isOfFacts === true)
    if (isOfFacts && this.#isContradicted(words)) return ` [${contradicted}]`
    const sources = backers.flatMap((backer) => backer?.sources.slice(0, 1) ?? [])
    return [...new Set(sources.map((source) => this.#cite(source)))].map((n) => ` [${n}]`).join('')
  }

  /** A sentence about another day than that of the data does not concern the known facts. */
  #isContradicted(words: string): boolean {
    const named = this.#known.filter(({ names }) => names.some((name) => words.includes(name)))
    const [subject, ...others] = named.length === 0 ? this.#known : named
    if (subject === undefined || others.length > 0) return false
    const isElsewhere = daysIn(words).some((day) => !isDay(day, subject.dates.session))
    return !isElsewhere && checkSentence(words, subject) === 'false'
  }

  /** The figures in a text: without days, codes, names of indicators and list numbers. */
  #figuresOf(words: string): Figure[] {
    const taken = [...daysIn(words), ...mentionsIn(words), ...codesIn(words), ...this.#namesIn(words)]
    const isTaken = (at: number, end: number) => taken.some((it) => at < it.end && it.at < end)
    return figuresIn(words, isTaken).filter((figure) => isQuoted(figure, words))
  }

  #namesIn(words: string): { at: number; end: number }[] {
    return this.#known
      .flatMap(({ names }) => names)
      .flatMap((name) => {
        const at = words.indexOf(name)
        return at < 0 ? [] : [{ at, end: at + name.length }]
      })
  }

  #cite(source: Source): number {
    const known = this.#cited.findIndex(
      (one) => one.label === source.label && one.at === source.at && one.url === source.url,
    )
    return known >= 0 ? known + 1 : this.#cited.push(source)
  }

  #list(): string {
    if (this.#cited.length === 0) return ''
    // The number is written as text, because a page without list numbers would leave `[1]` without a meaning.
    const lines = this.#cited.map((source, i) => `- [${i + 1}] ${sourceText(source)}`)
    return `\n\n---\n**${CHAT_TEXTS[this.#language].sources}**\n\n${lines.join('\n')}`
  }
}

function sourceText({ label, at, url }: Source): string {
  const name = label.replace(/[[\]()\n]/g, ' ')
  const link = url === null ? name : `[${name}](${url.replace(/[()\s<>]/g, escaped)})`
  return at === null ? link : `${link} · ${at}`
}

/** Inside a Markdown address, where brackets would end it. */
const escaped = (char: string): string => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.at(-1) !== undefined && some.at(-1) === others.at(-1)

/** The text of a stored result of a tool. */
function textOf(content: string): string {
  const { content: parts } = z.object({ content: z.array(z.object({ text: z.string() })) }).parse(JSON.parse(content))
  return parts.map(({ text }) => text).join('\n')
}

/** Every number in the text, in digits and in words. */
function numbersIn(text: string): number[] {
  const digits = (text.match(/\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi) ?? []).map(Number)
  const written = figuresIn(plain(text), () => false).map(({ value }) => Math.abs(value))
  return [...new Set([...digits, ...written])]
}

/** Six digits are not a code when they continue as a number, or have a currency or a unit. */
const NO_CODE_BEFORE = /[\d][.,]$|[$¥￥€₩]\s?$|\b(?:usd|hkd|cny|rmb|jpy|krw|twd)\s?$/i
const NO_CODE_BEHIND =
  /^(?:[.,]\d|\s*[%％‰]|[元円원엔주倍]|\s*[股手点點](?![价票份东权息指评续])|\s*[万萬亿億만억](?=[元円원股手주美港日韩]|[^\p{L}]|$)|\s*(?:usd|hkd|cny|rmb|jpy|krw|twd|yuan|yen|won|shares?|lots?|points?|thousand|million|billion|times)\b)/iu

const codesIn = (words: string): { at: number; end: number }[] =>
  [...words.matchAll(/\b(?:(?:sh|sz|bj|hk)?\d{5,6}|\d{4})(?:\.[a-z]{1,3})?\b/gi)]
    .filter(({ 0: code, index }) => {
      const isFigure =
        NO_CODE_BEFORE.test(words.slice(0, index)) || NO_CODE_BEHIND.test(words.slice(index + code.length))
      return !isFigure || /[a-z]/i.test(code)
    })
    .filter(([code]) => /^[a-z]|\.[a-z]|^\d{6}$|^0\d{4}$/i.test(code))
    .map((match) => ({ at: match.index, end: match.index + match[0].length }))

function isQuoted({ unit, value, currencies, at, end }: Figure, words: string): boolean {
  if (unit === 'sessions') return false
  const isBare = unit === 'plain' && currencies.length === 0 && Number.isInteger(value)
  if (!isBare) return true
  // Counts, positions in a list, and years.
  if (Math.abs(value) <= 10) return false
  const isYear = value >= 1990 && value <= 2099 && !/[.,]/.test(words.slice(at, end))
  return !isYear
}

/** Signs are ignored, because words express them: a fall of 2 % is -2 in the data. */
const isBacked = ({ value, half, mode }: Figure, numbers: readonly number[]): boolean =>
  numbers.some((number) => isWithin({ value: Math.abs(value), half, mode }, number))
