// The command line of `diff`.

import type { PosixRegex } from '../../../posix-regex/posix-regex.ts'
import { RegexError } from '../../../posix-regex/syntax.ts'
import { basicRegex } from '../basic-regex.ts'
import { Misuse, refusal } from '../misuse.ts'
import { type GivenOptions, optionTable, readOptions } from '../options.ts'
import type { Ignored } from './line-keys.ts'
import type { Sides } from './side-by-side.ts'

// `-d`, `-H` and the horizon control the effort of the search; the result here is always the shortest.
const OPTIONS = optionTable(`text=a ignore-space-change=b ignore-blank-lines=B c context:: C: lines: minimal=d
  ignore-tab-expansion=E speed-large-files=H ignore-case=i label=L: ed=e rcs=n new-file=N unidirectional-new-file=P
  show-c-function=p brief=q recursive=r report-identical-files=s expand-tabs=t u unified:: U: width=W:
  ignore-all-space=w exclude=x: exclude-from=X: ignore-matching-lines=I: side-by-side=y ignore-trailing-space=Z normal color:: strip-trailing-cr
  suppress-common-lines left-column horizon-lines: no-ignore-file-name-case`)

const USUAL_CONTEXT = 3
const USUAL_WIDTH = 130

export type Style =
  | { kind: 'plain' }
  | { kind: 'ed' }
  | { kind: 'rcs' }
  | { kind: 'unified' | 'context'; lines: number }
  | { kind: 'sides'; sides: Sides }

export interface DiffSettings {
  style: Style
  ignored: Ignored
  ignoresBlankLines: boolean
  /** A change with only such lines is ignored. */
  ignoredLines: PosixRegex[]
  isText: boolean
  isBrief: boolean
  isRecursive: boolean
  reportsSame: boolean
  /** The side that may be missing and is then treated as empty. */
  newFiles: 'both' | 'first' | 'none'
  stripsReturns: boolean
  showsFunction: boolean
  labels: string[]
  excluded: string[]
  excludedFrom: string[]
  /** As given on the command line. */
  given: string[]
  operands: string[]
}

export function diffSettings(words: readonly string[]): DiffSettings {
  const args = words.flatMap((arg) => (/^-\d+$/.test(arg) ? ['--lines', arg.slice(1)] : [arg]))
  const given = readOptions(args, OPTIONS)
  const color = given.list.findLast(({ name }) => name === 'color')
  if (color !== undefined && color.value !== 'never' && color.value !== 'auto') {
    throw refusal(`option '--color=${color.value ?? 'always'}' is not available here`, 2)
  }
  const values = (name: string) => given.list.filter((option) => option.name === name).map(({ value }) => value ?? '')
  const width = given.value('W')
  if (width !== undefined && !/^0*[1-9]\d{0,8}$/.test(width)) throw new Misuse(`invalid width '${width}'`)
  return {
    style: styleOf(given),
    ignored: {
      case: given.has('i'),
      allSpace: given.has('w'),
      spaceChange: given.has('b'),
      trailingSpace: given.has('Z'),
      tabExpansion: given.has('E'),
    },
    ignoresBlankLines: given.has('B'),
    ignoredLines: values('I').map(lineRegex),
    isText: given.has('a'),
    isBrief: given.has('q'),
    isRecursive: given.has('r'),
    reportsSame: given.has('s'),
    newFiles: given.has('N') ? 'both' : given.has('P') ? 'first' : 'none',
    stripsReturns: given.has('strip-trailing-cr'),
    showsFunction: given.has('p'),
    labels: values('L'),
    excluded: values('x'),
    excludedFrom: values('X'),
    given: wordsOf(words, given.operands),
    operands: given.operands,
  }
}

function lineRegex(source: string): PosixRegex {
  try {
    return basicRegex(source)
  } catch (error) {
    if (!(error instanceof RegexError)) throw error
    throw refusal(`${source}: ${error.message}`, 2)
  }
}

function styleOf(given: GivenOptions): Style {
  const styles = given.list.filter(({ name }) => STYLES.has(name))
  const kinds = new Set(styles.map(({ name }) => STYLES.get(name)))
  if (kinds.size > 1) throw new Misuse('conflicting output style options')
  const [kind] = kinds
  if (kind === 'sides') return { kind, sides: sidesOf(given) }
  const counts = [...styles.map(({ value }) => value), given.value('lines') ?? null].filter((value) => value !== null)
  const lines = Math.max(...counts.map(lengthOf), counts.length > 0 ? 0 : USUAL_CONTEXT)
  if (kind === 'unified' || kind === 'context') return { kind, lines }
  if (kind === 'ed') return { kind }
  if (kind === 'rcs') return { kind }
  return given.has('p') ? { kind: 'context', lines } : { kind: 'plain' }
}

const STYLES: ReadonlyMap<string, 'unified' | 'context' | 'sides' | 'plain' | 'ed' | 'rcs'> = new Map([
  ['u', 'unified'],
  ['e', 'ed'],
  ['n', 'rcs'],
  ['U', 'unified'],
  ['unified', 'unified'],
  ['c', 'context'],
  ['C', 'context'],
  ['context', 'context'],
  ['y', 'sides'],
  ['normal', 'plain'],
])

function lengthOf(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Misuse(`invalid context length '${text}'`)
  return Number(text)
}

function sidesOf(given: GivenOptions): Sides {
  const width = given.value('W') ?? String(USUAL_WIDTH)
  if (!/^[1-9]\d{0,8}$/.test(width)) throw new Misuse(`invalid width '${width}'`)
  return {
    width: Number(width),
    expandsTabs: given.has('t'),
    leftColumn: given.has('left-column'),
    hidesCommon: given.has('suppress-common-lines'),
  }
}

/** The options as given, for the line above each of several comparisons. */
function wordsOf(args: readonly string[], operands: readonly string[]): string[] {
  const left = [...operands]
  const words: string[] = []
  for (const arg of [...args].reverse()) {
    if (left.length > 0 && arg === left.at(-1)) left.pop()
    else if (arg !== '--') words.unshift(arg)
  }
  return words
}
