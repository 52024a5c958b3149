// `fmt`: paragraphs with lines of similar length. The line breaks are chosen for the whole paragraph at once, by their
// cost: for lines that are short or of different length, and for sentences that start or end alone.

import { linesOf } from './bytes.ts'
import type { TextCall } from './call.ts'
import { curly, refusal } from './misuse.ts'
import { optionTable, readOptions } from './options.ts'

const OPTIONS = optionTable('crown-margin=c split-only=s tagged-paragraph=t uniform-spacing=u width=w: goal=g:')

const USUAL_WIDTH = 75
/** In per cent, by how much lines are shorter than allowed. */
const LEEWAY = 7
const MAX_WIDTH = 2500
const TAB = 8
const TAG_INDENT = 3

const square = (n: number) => n * n
const LINE_COST = square(70)
const SENTENCE_BONUS = square(50)
const NO_BREAK_COST = square(600)
const PAREN_BONUS = square(40)
const PUNCTUATION_BONUS = square(40)

interface Word {
  text: string
  /** Blanks after it unless a line ends there. */
  space: number
  isOpening: boolean
  isPunctuated: boolean
  /** Ends with a full stop or similar. */
  isPeriod: boolean
  /** Ends a sentence. */
  isFinal: boolean
}

interface Settings {
  width: number
  goal: number
  isCrown: boolean
  isTagged: boolean
  splitsOnly: boolean
  isUniform: boolean
}

interface Paragraph {
  firstIndent: number
  otherIndent: number
  words: Word[]
}

export async function fmt(call: TextCall): Promise<void> {
  const args = call.args.map((arg, i) => (i === 0 && /^-\d+$/.test(arg) ? `-w${arg.slice(1)}` : arg))
  const given = readOptions(args, OPTIONS)
  const size = (name: string, most: number) => {
    const text = given.value(name)
    if (text === undefined) return null
    if (!/^\d+$/.test(text)) throw refusal(`invalid width: ${curly(text)}`)
    if (Number(text) > most) throw refusal(`invalid width: ${curly(text)}: Numerical result out of range`)
    return Number(text)
  }
  const wanted = size('w', MAX_WIDTH)
  const goal = size('g', wanted ?? USUAL_WIDTH)
  const width = wanted ?? (goal === null ? USUAL_WIDTH : goal + 10)
  const settings: Settings = {
    width,
    goal: goal ?? Math.floor((width * (2 * (100 - LEEWAY) + 1)) / 200),
    isCrown: given.has('c'),
    isTagged: given.has('t'),
    splitsOnly: given.has('s'),
    isUniform: given.has('u'),
  }
  for (const name of given.operands.length > 0 ? given.operands : ['-']) {
    const bytes = await call.input(name, (reason) => `cannot open '${name}' for reading: ${reason}`)
    if (bytes !== null) await formatFile(call, bytes, settings)
  }
}

async function formatFile(call: TextCall, bytes: string, settings: Settings): Promise<void> {
  const lines = linesOf(bytes)
  let usesTabs = false
  for (let at = 0; at < lines.length; ) {
    if (/^[ \t]*$/.test(lines[at] ?? '')) {
      call.write('\n')
      at++
      continue
    }
    const count = paragraphLength(lines, at, settings)
    const paragraph = paragraphOf(lines.slice(at, at + count), settings)
    // The indentation of the next line is read before this one is written.
    usesTabs ||=
      lines.slice(at, at + count).some((line) => line.includes('\t')) || /^ *\t/.test(lines[at + count] ?? '')
    call.write(laidOut(paragraph, settings, usesTabs))
    at += count
    await call.pause()
  }
}

function indentOf(line: string | undefined): number {
  let column = 0
  for (const char of line ?? '') {
    if (char === '\t') column += TAB - (column % TAB)
    else if (char === ' ') column++
    else break
  }
  return column
}

/** Lines with the same indentation belong together; the first one may have its own. */
function paragraphLength(lines: readonly string[], at: number, { splitsOnly, isCrown, isTagged }: Settings): number {
  if (splitsOnly) return 1
  const isFilled = (i: number) => i < lines.length && !/^[ \t]*$/.test(lines[i] ?? '')
  const first = indentOf(lines[at])
  const second = isFilled(at + 1) ? indentOf(lines[at + 1]) : null
  let indent = first
  if (isCrown && second !== null) indent = second
  if (isTagged && second !== null) {
    if (second === first) return 1
    indent = second
  }
  let count = 1
  while (isFilled(at + count) && indentOf(lines[at + count]) === indent) count++
  return count
}

function paragraphOf(lines: readonly string[], { isCrown, isTagged, isUniform }: Settings): Paragraph {
  const firstIndent = indentOf(lines[0])
  const second = lines.length > 1 ? indentOf(lines[1]) : firstIndent
  const alone = isTagged ? (firstIndent === 0 ? TAG_INDENT : 0) : firstIndent
  const otherIndent = isTagged && lines.length === 1 ? alone : isCrown || isTagged ? second : firstIndent
  const words: Word[] = []
  for (const line of lines) {
    const parts = line.trimEnd().match(/[^ \t]+[ \t]*/g) ?? []
    let column = indentOf(line)
    for (const [i, part] of parts.entries()) {
      const text = part.replace(/[ \t]+$/, '')
      const start = column + text.length
      column = start
      for (const blank of part.slice(text.length)) column += blank === '\t' ? TAB - (column % TAB) : 1
      words.push(wordOf(text, { space: column - start, isLineEnd: i === parts.length - 1, isUniform }))
    }
  }
  const last = words.at(-1)
  if (last) Object.assign(last, { isPeriod: true, isFinal: true })
  return { firstIndent, otherIndent, words }
}

type Spacing = { space: number; isLineEnd: boolean; isUniform: boolean }

function wordOf(text: string, { space, isLineEnd, isUniform }: Spacing): Word {
  const isPeriod = /[.?!]$/.test(text.replace(/["')\]]+$/, ''))
  const isFinal = isPeriod && (isLineEnd || space > 1)
  return {
    text,
    space: isLineEnd || isUniform ? (isFinal ? 2 : 1) : space,
    isOpening: /^[(['"`]/.test(text),
    isPunctuated: /[!-/:-@[-`{-~]$/.test(text),
    isPeriod,
    isFinal,
  }
}

/** From its end backwards: for each word, the cheapest layout of the rest if a line starts with it. */
function laidOut(paragraph: Paragraph, { width, goal }: Settings, usesTabs: boolean): string {
  const { words, firstIndent, otherIndent } = paragraph
  const count = words.length
  const costs = new Float64Array(count + 1)
  const lengths = new Float64Array(count + 1)
  const nexts = new Int32Array(count + 1)
  lengths[count] = width
  for (let start = count - 1; start >= 0; start--) {
    let best = Infinity
    let length = start === 0 ? firstIndent : otherIndent
    let at = start
    length += words[at]?.text.length ?? 0
    do {
      at++
      const cost =
        lineCost({ at, count, length, goal, nextLength: lengths[at] ?? 0, isNextLast: nexts[at] === count }) +
        (costs[at] ?? 0)
      if (cost < best) {
        best = cost
        nexts[start] = at
        lengths[start] = length
      }
      if (at === count) break
      length += (words[at - 1]?.space ?? 0) + (words[at]?.text.length ?? 0)
    } while (length < width)
    costs[start] = best + baseCost(words, start)
  }
  let text = ''
  for (let at = 0; at < count; at = nexts[at] ?? count) {
    const column = at === 0 ? firstIndent : otherIndent
    const line = lineOf(words, { from: at, to: nexts[at] ?? count, column, usesTabs })
    text += `${blanks(0, column, usesTabs)}${line}\n`
  }
  return text
}

type LinePart = { from: number; to: number; column: number; usesTabs: boolean }

function lineOf(words: readonly Word[], { from, to, column, usesTabs }: LinePart): string {
  let [line, at] = ['', column]
  for (let i = from; i < to; i++) {
    const text = words[i]?.text ?? ''
    const space = i + 1 < to ? (words[i]?.space ?? 0) : 0
    line += text + blanks(at + text.length, space, usesTabs)
    at += text.length + space
  }
  return line
}

/** If the input has a tab, blanks become tabs wherever more than one column is before the stop. */
function blanks(column: number, count: number, usesTabs: boolean): string {
  const goal = column + count
  let [text, at] = ['', column]
  const lastStop = goal - (goal % TAB)
  if (usesTabs && at + 1 < lastStop) {
    for (; at < lastStop; at += TAB - (at % TAB)) text += '\t'
  }
  return text + ' '.repeat(goal - at)
}

type Line = { at: number; count: number; length: number; goal: number; nextLength: number; isNextLast: boolean }

/** Of a line with that length before the word `at`; the last line costs nothing. */
function lineCost({ at, count, length, goal, nextLength, isNextLast }: Line): number {
  if (at === count) return 0
  const cost = square((goal - length) * 10)
  return isNextLast ? cost : cost + square((length - nextLength) * 10) / 2
}

/** Of a line that starts with the word. */
function baseCost(words: readonly Word[], at: number): number {
  const word = words[at]
  let cost = LINE_COST
  if (at > 0) {
    const before = words[at - 1]
    if (before?.isPeriod) cost += before.isFinal ? -SENTENCE_BONUS : NO_BREAK_COST
    else if (before?.isPunctuated) cost -= PUNCTUATION_BONUS
    else if (at > 1 && words[at - 2]?.isFinal) cost += square(200) / ((before?.text.length ?? 0) + 2)
  }
  if (word?.isOpening) cost -= PAREN_BONUS
  else if (word?.isFinal) cost += square(150) / (word.text.length + 2)
  return cost
}
