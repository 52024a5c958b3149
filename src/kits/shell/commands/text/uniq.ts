// `uniq`: removes or counts repeated consecutive lines.

import { linesOf } from './bytes.ts'
import type { TextCall } from './call.ts'
import { curly, Misuse, refusal } from './misuse.ts'
import { type GivenOptions, optionTable, readOptions } from './options.ts'

const OPTIONS = optionTable(`count=c repeated=d D all-repeated:: skip-fields=f: ignore-case=i skip-chars=s: unique=u
  zero-terminated=z check-chars=w: group::`)

const DELIMITS = ['none', 'prepend', 'separate']
const GROUPS = ['prepend', 'append', 'separate', 'both']
const COUNT_WIDTH = 7

interface Group {
  first: string
  lines: string[]
}

export async function uniq(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const [input = '-', output, extra] = given.operands
  if (extra !== undefined) throw new Misuse(`extra operand ${curly(extra)}`)
  const isListing = given.has('D') || given.has('all-repeated')
  if (given.has('c') && isListing) throw new Misuse('printing all duplicated lines and repeat counts is meaningless')
  if (given.has('group') && (given.has('c') || given.has('d') || given.has('u') || isListing))
    throw new Misuse('--group is mutually exclusive with -c/-d/-D/-u')
  const end = given.has('z') ? '\0' : '\n'
  const key = keyOf(given)
  const groups: Group[] = []
  let last: string | null = null
  for (const line of linesOf(await call.mustRead(input), end)) {
    const compared = key(line)
    if (compared === last) groups.at(-1)?.lines.push(line)
    else groups.push({ first: line, lines: [line] })
    last = compared
  }
  const shown = given.has('group')
    ? grouped(groups, choice(given, 'group', GROUPS) ?? 'separate', end)
    : isListing
      ? repeated(groups, choice(given, 'all-repeated', DELIMITS) ?? 'none', given.has('u'), end)
      : single(groups, given, end)
  if (output === undefined || output === '-') call.write(shown)
  else await call.save(output, shown)
}

function choice(given: GivenOptions, name: string, known: string[]): string | undefined {
  const value = given.value(name)
  if (value === undefined) return undefined
  const fitting = known.filter((one) => one.startsWith(value))
  if (fitting.length === 1) return fitting[0]
  const valid = known.map((one) => `\n  - ${curly(one)}`).join('')
  throw new Misuse(`invalid argument ${curly(value)} for ${curly(`--${name}`)}\nValid arguments are:${valid}`)
}

function single(groups: readonly Group[], given: GivenOptions, end: string): string {
  const [wantsRepeated, wantsUnique] = [given.has('d'), given.has('u')]
  const shown: string[] = []
  for (const { first, lines } of groups) {
    if (wantsRepeated && lines.length === 1) continue
    if (wantsUnique && lines.length > 1) continue
    shown.push(given.has('c') ? `${String(lines.length).padStart(COUNT_WIDTH)} ${first}${end}` : first + end)
  }
  return shown.join('')
}

function repeated(groups: readonly Group[], delimit: string, isUniqueToo: boolean, end: string): string {
  if (isUniqueToo) return ''
  let shown = ''
  for (const { lines } of groups) {
    if (lines.length === 1) continue
    if (delimit === 'prepend' || (delimit === 'separate' && shown !== '')) shown += end
    shown += lines.join(end) + end
  }
  return shown
}

function grouped(groups: readonly Group[], kind: string, end: string): string {
  const blocks = groups.map(({ lines }) => lines.join(end) + end)
  if (blocks.length === 0) return ''
  const before = kind === 'prepend' || kind === 'both' ? end : ''
  const after = kind === 'append' || kind === 'both' ? end : ''
  return before + blocks.join(end) + after
}

function keyOf(given: GivenOptions): (line: string) => string {
  const fields = count(given.value('f'), 'number of fields to skip') ?? 0
  const chars = count(given.value('s'), 'number of bytes to skip') ?? 0
  const width = count(given.value('w'), 'number of bytes to compare')
  const ignoresCase = given.has('i')
  const skipped = new RegExp(`^(?:[ \\t\\n]*[^ \\t\\n]*){${Math.min(fields, 1000)}}`)
  return (line) => {
    let part = fields > 0 ? line.replace(skipped, '') : line
    if (chars > 0) part = part.slice(chars)
    if (width !== null) part = part.slice(0, width)
    return ignoresCase ? part.replace(/[a-z]+/g, (letters) => letters.toUpperCase()) : part
  }
}

function count(text: string | undefined, what: string): number | null {
  if (text === undefined) return null
  if (!/^\d+$/.test(text)) throw refusal(`${text}: invalid ${what}`)
  return Number(text)
}
