// `sort`: sorts lines, by their bytes or by keys.

import { linesOf, textOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { curly, Misuse, refusal } from '../misuse.ts'
import { type GivenOptions, optionTable, readOptions } from '../options.ts'
import { type KeyOrder, keyOrder, type Value } from './compare.ts'
import { checkOrdering, globalOrdering, keyOf, type Ordering } from './keys.ts'

// Buffer sizes, temporary folders and numbers of threads do not affect the output.
const OPTIONS = optionTable(`ignore-leading-blanks=b dictionary-order=d ignore-case=f general-numeric-sort=g
  ignore-nonprinting=i month-sort=M human-numeric-sort=h numeric-sort=n random-sort=R reverse=r sort:
  version-sort=V C check:: c files0-from: key=k: merge=m output=o: stable=s field-separator=t: unique=u zero-terminated=z
  buffer-size=S: temporary-directory=T: parallel: batch-size: compress-program:`)

const EXIT_FAILURE = 2
const SALT_BYTES = 16
/** The number of lines that are sorted before other work gets a turn. */
const RUN_LENGTH = 20_000

interface Row {
  line: string
  values: Value[]
}

interface Order {
  rowOf: (line: string) => Row
  /** By the keys, and then by the whole line unless the sort is stable. */
  compare: (a: Row, b: Row) => number
}

/** They have no effect here, because everything is done in memory, but must be valid. */
function checkSizes(given: GivenOptions): void {
  const wrong = (name: string, isRight: (text: string) => boolean) =>
    given.list.find((option) => option.name === name && !isRight(option.value ?? ''))?.value
  const buffer = wrong('S', (text) => /^\d+[bKMGTPEZYRQkm%]?$/.test(text))
  if (buffer != null) throw refusal(`invalid -S argument '${buffer}'`, 2)
  const batch = wrong('batch-size', (text) => /^\d+$/.test(text) && Number(text) >= 2)
  if (batch != null) {
    throw refusal(
      /^\d+$/.test(batch)
        ? `invalid --batch-size argument ${curly(batch)}\nsort: minimum --batch-size argument is ${curly('2')}`
        : `invalid --batch-size argument '${batch}'`,
      2,
    )
  }
  const parallel = wrong('parallel', (text) => /^\d+$/.test(text) && Number(text) >= 1)
  if (parallel != null) {
    throw refusal(
      /^\d+$/.test(parallel) ? 'number in parallel must be nonzero' : `invalid --parallel argument '${parallel}'`,
      2,
    )
  }
}

export async function sort(call: TextCall): Promise<void> {
  call.misuseExit = EXIT_FAILURE
  const given = readOptions(call.args, OPTIONS)
  checkSizes(given)
  const end = given.has('z') ? '\0' : '\n'
  const order = orderOf(given, String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SALT_BYTES))))
  const names = await namesOf(call, given)
  const check = checking(given)
  if (check !== null)
    return checkOrder(call, { names, order, end, isQuiet: check === 'quiet', isStrict: given.has('u') })
  const files: Row[][] = []
  for (const name of names) {
    const bytes = await call.mustRead(name, (reason) => readFailure(name, reason), EXIT_FAILURE)
    files.push(linesOf(bytes, end).map(order.rowOf))
    await call.pause()
  }
  const rows = given.has('m') ? merged(files, order) : await sorted(files.flat(), { order, pause: call.pause })
  const kept = given.has('u') ? rows.filter((row, i) => i === 0 || order.compare(rows[i - 1] ?? row, row) !== 0) : rows
  const text = kept.length === 0 ? '' : kept.map(({ line }) => line).join(end) + end
  const output = given.value('o')
  if (output === undefined) call.write(text)
  else await call.save(output, text, 'open failed: ')
}

const readFailure = (name: string, reason: string): string =>
  `${reason === 'Is a directory' ? 'read failed' : 'cannot read'}: ${name}: ${reason}`

async function namesOf(call: TextCall, given: GivenOptions): Promise<string[]> {
  const list = given.value('files0-from')
  if (list === undefined) return given.operands.length > 0 ? given.operands : ['-']
  const [extra] = given.operands
  if (extra !== undefined)
    throw new Misuse(`extra operand '${extra}'\nfile operands cannot be combined with --files0-from`)
  const bytes = await call.mustRead(list, (reason) => `open failed: ${list}: ${reason}`, EXIT_FAILURE)
  if (bytes === '') throw refusal(`no input from '${list}'`)
  const listed = textOf(bytes).replace(/\0$/, '').split('\0')
  const empty = listed.indexOf('')
  if (empty >= 0) throw refusal(`${list}:${empty + 1}: invalid zero-length file name`)
  if (list === '-' && listed.includes('-'))
    throw refusal("when reading file names from stdin, no file name of '-' allowed")
  return listed
}

function checking(given: GivenOptions): 'told' | 'quiet' | null {
  const ways = new Set(given.list.flatMap(({ name, value }) => ('cC'.includes(name) ? [name] : wayOf(name, value))))
  if (ways.size > 1) throw refusal("options '-cC' are incompatible")
  const [way] = ways
  if (way !== undefined && given.has('o')) throw refusal(`options '-${way}o' are incompatible`)
  return way === undefined ? null : way === 'C' ? 'quiet' : 'told'
}

function wayOf(name: string, word: string | null): string[] {
  if (name !== 'check') return []
  if (word === null) return ['c']
  const fitting = ['quiet', 'silent', 'diagnose-first'].filter((known) => known.startsWith(word))
  const meanings = new Set(fitting.map((known) => (known === 'diagnose-first' ? 'c' : 'C')))
  if (meanings.size === 1) return [...meanings]
  const what = fitting.length > 1 ? 'ambiguous' : 'invalid'
  const valid = `\n  - ${curly('quiet')}, ${curly('silent')}\n  - ${curly('diagnose-first')}`
  throw new Misuse(`${what} argument ${curly(word)} for ${curly('--check')}\nValid arguments are:${valid}`, {
    exitCode: 1,
  })
}

function orderOf(given: GivenOptions, salt: string): Order {
  const inherited = globalOrdering(given)
  const separator = separatorOf(given)
  const specs = given.list.filter(({ name }) => name === 'k').map(({ value }) => keyOf(value ?? '', inherited))
  if (specs.length === 0) checkOrdering(inherited)
  const whole = { ...inherited, start: { field: 0, char: 0 }, end: null }
  const keys = (specs.length > 0 || isPlain(inherited) ? specs : [whole]).map((key) => keyOrder(key, separator, salt))
  const isStable = given.has('s') || given.has('u')
  const direction = inherited.isReversed ? -1 : 1
  const byLine = (a: Row, b: Row) => (a.line < b.line ? -direction : a.line > b.line ? direction : 0)
  return {
    rowOf: (line) => ({ line, values: keys.map((key) => key.valueOf(line)) }),
    compare: keys.length === 0 ? byLine : comparing(keys, isStable ? () => 0 : byLine),
  }
}

function comparing(keys: readonly KeyOrder[], onTie: Order['compare']): Order['compare'] {
  return (a, b) => {
    for (let i = 0; i < keys.length; i++) {
      const compared = keys[i]?.compare(a.values[i] ?? '', b.values[i] ?? '') ?? 0
      if (compared !== 0) return compared
    }
    return onTie(a, b)
  }
}

function isPlain({ kind, foldsCase, ignored, skipsBlanksBefore }: Ordering): boolean {
  return kind === 'text' && !foldsCase && ignored === null && !skipsBlanksBefore
}

function separatorOf(given: GivenOptions): string | null {
  const separators = given.list.filter(({ name }) => name === 't').map(({ value }) => value ?? '')
  if (new Set(separators).size > 1) throw refusal('incompatible tabs')
  const [separator] = separators
  if (separator === undefined) return null
  if (separator === '') throw refusal('empty tab')
  if (separator === '\\0') return '\0'
  if (separator.length > 1 || separator > '\x7f') throw refusal(`multi-character tab ${curly(separator)}`)
  return separator
}

type Sorting = { order: Order; pause: TextCall['pause'] }

/** Runs of limited length are sorted separately and then merged in pairs, so that an abort is noticed in between. */
async function sorted(rows: Row[], { order, pause }: Sorting): Promise<Row[]> {
  let runs: Row[][] = []
  for (let at = 0; at < rows.length; at += RUN_LENGTH) {
    runs.push(rows.slice(at, at + RUN_LENGTH).sort(order.compare))
    await pause()
  }
  while (runs.length > 1) {
    const next: Row[][] = []
    for (let i = 0; i < runs.length; i += 2) {
      next.push(mergedPair(runs[i] ?? [], runs[i + 1] ?? [], order))
      await pause()
    }
    runs = next
  }
  return runs[0] ?? []
}

/** For sorted files: takes the least of their first lines repeatedly. */
function merged(files: Row[][], order: Order): Row[] {
  let rest = files
  while (rest.length > 1) {
    const pairs: Row[][] = []
    for (let i = 0; i < rest.length; i += 2) pairs.push(mergedPair(rest[i] ?? [], rest[i + 1] ?? [], order))
    rest = pairs
  }
  return rest[0] ?? []
}

function mergedPair(first: Row[], second: Row[], { compare }: Order): Row[] {
  const rows: Row[] = []
  let [i, j] = [0, 0]
  for (;;) {
    const [a, b] = [first[i], second[j]]
    if (a === undefined || b === undefined) break
    if (compare(a, b) <= 0) {
      rows.push(a)
      i++
    } else {
      rows.push(b)
      j++
    }
  }
  for (; i < first.length; i++) rows.push(first[i] as Row)
  for (; j < second.length; j++) rows.push(second[j] as Row)
  return rows
}

type Check = { names: string[]; order: Order; end: string; isQuiet: boolean; isStrict: boolean }

async function checkOrder(call: TextCall, { names, order, end, isQuiet, isStrict }: Check): Promise<void> {
  const [name = '-', extra] = names
  if (extra !== undefined) throw refusal(`extra operand '${extra}' not allowed with -${isQuiet ? 'C' : 'c'}`)
  const bytes = await call.mustRead(name, (reason) => `open failed: ${name}: ${reason}`, EXIT_FAILURE)
  let before: Row | null = null
  for (const [i, line] of linesOf(bytes, end).entries()) {
    const row = order.rowOf(line)
    const compared = before === null ? -1 : order.compare(before, row)
    if (compared > 0 || (isStrict && compared === 0)) {
      if (!isQuiet) call.complain(`${name}:${i + 1}: disorder: ${textOf(line)}`)
      call.exitCode = 1
      return
    }
    before = row
  }
}
