// Parses the recorders' file: the places that each entry covers, and the texts of the code in its input and output.

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Reached } from '../../test/support/kit-sample/record.ts'
import type { Corpus } from '../../test/support/kit-sample/sample.ts'
import type { FilePlaces } from './places.ts'

/** `reached` are numbers of places, and behind them those of the words. */
export type Recorded = { corpus: Corpus; group: string; id: string; script: string; ms: number; reached: Uint32Array }

type Words = {
  first: number
  last: number
  begin: number
  plain: ReadonlyMap<string, number>
  phrases: readonly [string, number][]
}

const WORD = /^[\w-]+$/
const WORDS = /[\w-]+/g

/** The words of a file are numbered behind all places. */
function wordsOf(places: readonly FilePlaces[]): { files: Words[]; end: number } {
  const [last] = places.slice(-1)
  let end = last === undefined ? 0 : last.first + last.lines.length
  const files = places.map(({ first, lines, texts }) => {
    const numbered = texts.map((text, at): [string, number] => [text, end + at])
    end += texts.length
    const plain = new Map(numbered.filter(([text]) => WORD.test(text)))
    const phrases = numbered.filter(([text]) => !WORD.test(text))
    return { first, last: first + lines.length, begin: end, plain, phrases }
  })
  return { files, end }
}

/** Reads a record line by line, because the whole file exceeds the maximum length of a string. */
export async function readRecord(path: string, places: readonly FilePlaces[]): Promise<Recorded[]> {
  const { files } = wordsOf(places)
  const read: Recorded[] = []
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const { marks, output, ...entry } = JSON.parse(line) as Reached
    const reached = numbersOf(marks)
    const said = saidIn(files, reached, `${entry.script}\n${output}`)
    read.push({ ...entry, reached: Uint32Array.from([...reached, ...said]) })
  }
  return read
}

function numbersOf(marks: string): number[] {
  let at = 0
  return marks === '' ? [] : marks.split(' ').map((gap) => (at += Number.parseInt(gap, 36)))
}

/** Only texts of files that the entry executes count. */
function saidIn(files: readonly Words[], reached: readonly number[], text: string): number[] {
  const spoken = new Set([...text.matchAll(WORDS)].flatMap(([word]) => [word, word.replace(/^-+/, '')]))
  const said: number[] = []
  let at = 0
  for (const { first, last, plain, phrases } of files) {
    while ((reached[at] ?? Number.POSITIVE_INFINITY) < first) at++
    if ((reached[at] ?? Number.POSITIVE_INFINITY) >= last) continue
    for (const [word, number] of plain) if (spoken.has(word)) said.push(number)
    for (const [phrase, number] of phrases) if (text.includes(phrase)) said.push(number)
  }
  return said
}

export function reachedBy(entries: readonly Recorded[]): Set<number> {
  const all = new Set<number>()
  for (const { reached } of entries) for (const place of reached) all.add(place)
  return all
}
