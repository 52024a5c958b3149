// Splits the input of `xargs` into words, and builds the command lines.

import { byteLength } from '../../../../workspace/file-system.ts'
import { Misuse, type Settings } from './options.ts'

/** The words added to the command in each run; with `-I` the whole command. */
export interface CommandLines {
  groups: string[][]
  /** Why the rest of the input is not used; commands for the part before it are run. */
  problem: string | null
}

export function commandLines(settings: Settings, input: string): CommandLines {
  const { command, replaced, separator, lastWord } = settings
  const isByLines = settings.maxLines !== Number.POSITIVE_INFINITY
  const { lines: all, problem } = separator === null ? wordsOf(input, settings, isByLines) : itemsOf(input, separator)
  const lines = lastWord === null || separator !== null ? all : until(all, lastWord)
  if (replaced !== null) {
    const groups = lines.flat().map((item) => command.map((word) => word.replaceAll(replaced, () => item)))
    return { groups, problem }
  }
  const groups = groupsOf(isByLines ? lines : lines.flat().map((word) => [word]), settings)
  if (groups.length === 0 && !settings.skipsEmpty && problem === null) groups.push([])
  return { groups, problem }
}

const sizeOf = (words: readonly string[]): number => words.reduce((sum, word) => sum + byteLength(word) + 1, 0)

/** Items are never split: single words, or the words of a line. */
function groupsOf(items: readonly string[][], settings: Settings): string[][] {
  const { maxLines, maxWords, maxChars, command, isExact } = settings
  const most = Math.min(maxLines, maxWords)
  const room = maxChars - sizeOf(command)
  const groups: string[][] = []
  let [count, length] = [most, 0]
  for (const item of items) {
    const own = sizeOf(item)
    if (own > room) throw new Misuse('argument line too long')
    const isFull = length + own > room
    if (isFull && isExact && count < most && most !== Number.POSITIVE_INFINITY) {
      throw new Misuse('argument list too long')
    }
    const last = groups.at(-1)
    if (last && count < most && !isFull) {
      for (const word of item) last.push(word)
      count++
      length += own
    } else {
      groups.push([...item])
      count = 1
      length = own
    }
  }
  return groups
}

type Lines = { lines: string[][]; problem: string | null }

/** With a separator each item is a separate line. */
function itemsOf(input: string, separator: string): Lines {
  const items = input.split(separator)
  if (items.at(-1) === '') items.pop()
  return { lines: items.map((item) => [separator === '\0' ? item : untilNul(item)]), problem: null }
}

// Blanks, line ends, quoted parts, escaped characters, and all other parts of a word.
const TOKEN = /(\n)|([ \t]+)|'([^'\n]*)'|"([^"\n]*)"|\\([\s\S])|([^\s'"\\]+)|(['"])/g

/** The words of each line. With `-L` a line that ends in a blank continues in the next one. */
function wordsOf(input: string, { replaced }: Settings, isByLines: boolean): Lines {
  const lines: string[][] = [[]]
  let word: string | null = null
  const end = () => {
    if (word !== null) lines.at(-1)?.push(untilNul(word))
    word = null
  }
  let endsInBlank = false
  for (const [, newline, blank, single, double, escaped, plain, open] of input.matchAll(TOKEN)) {
    if (open !== undefined) {
      const kind = open === "'" ? 'single' : 'double'
      const problem = `unmatched ${kind} quote; by default quotes are special to xargs unless you use the -0 option`
      return { lines: lines.filter((words) => words.length > 0), problem }
    }
    if (newline !== undefined) {
      end()
      if (!(isByLines && endsInBlank && lines.at(-1)?.length)) lines.push([])
    } else if (blank !== undefined && replaced === null) end()
    else if (blank === undefined || word !== null) {
      word = (word ?? '') + (blank ?? single ?? double ?? escaped ?? plain ?? '')
    }
    endsInBlank = blank !== undefined
  }
  end()
  return { lines: lines.filter((words) => words.length > 0), problem: null }
}

function until(lines: readonly string[][], lastWord: string): string[][] {
  const kept: string[][] = []
  for (const words of lines) {
    const at = words.indexOf(lastWord)
    if (at !== 0) kept.push(at < 0 ? words : words.slice(0, at))
    if (at >= 0) break
  }
  return kept
}

/** An argument cannot contain a NUL, so it ends there. */
const untilNul = (word: string): string => (word.includes('\0') ? word.replace(/\0[\s\S]*/, '') : word)
