// `head` and `tail`: the beginning and the end of files.

import { shellMessage } from '../../interpreter-command.ts'
import { sizeOf } from './bytes.ts'
import type { TextCall } from './call.ts'
import { curly, Misuse, refusal } from './misuse.ts'
import { type GivenOptions, optionTable, readOptions } from './options.ts'

const HEAD = optionTable('bytes=c: lines=n: quiet=q silent=q verbose=v zero-terminated=z')
// A file cannot grow while a command runs here, so following is refused.
const TAIL = optionTable('bytes=c: lines=n: quiet=q silent=q verbose=v zero-terminated=z')

const DEFAULT_COUNT = 10

interface Amount {
  unit: 'c' | 'n'
  /** `-n -5` of `head`, `-n +5` of `tail`. */
  sign: '' | '-' | '+'
  count: number
}

interface Reader {
  table: ReturnType<typeof optionTable>
  /** The requested part. */
  part: (bytes: string, amount: Amount, end: string) => string
  /** The sign that inverts the meaning of a number. */
  turning: '-' | '+'
}

export function head(call: TextCall): Promise<void> {
  return show(call, modernHead(call.args), { table: HEAD, part: headPart, turning: '-' })
}

export function tail(call: TextCall): Promise<void> {
  const following = call.args.find((arg) => /^(-[a-z]*[fF]|-\d+[a-z]*f|--follow(=.*)?|--retry|--pid(=.*)?)$/.test(arg))
  if (following !== undefined && !isValue(call.args, following)) {
    throw refusal(`${following}: following a file is not available here, as nothing writes to it while tail runs`)
  }
  return show(call, modernTail(call.args), { table: TAIL, part: tailPart, turning: '+' })
}

/** After `--` there are only names. */
function isValue(args: readonly string[], arg: string): boolean {
  const end = args.indexOf('--')
  return end >= 0 && args.indexOf(arg) > end
}

async function show(call: TextCall, args: readonly string[], { table, part, turning }: Reader): Promise<void> {
  const given = readOptions(args, table)
  const amount = amountOf(given, turning)
  const names = given.operands.length > 0 ? given.operands : ['-']
  const end = given.has('z') ? '\0' : '\n'
  const last = given.lastOf('qv')
  const isTitled = last === 'v' || (last === undefined && names.length > 1)
  // An empty part of several files prints nothing at all.
  if (part === tailPart && amount.count === 0 && amount.sign === '') return
  let isFirst = true
  for (const name of names) {
    const isStdin = name === '-'
    const title = `${isFirst ? '' : '\n'}==> ${isStdin ? 'standard input' : name} <==\n`
    try {
      const bytes = await contents(call, name, amount)
      const shown = part(bytes, amount, end)
      if (isTitled) call.writeText(title)
      call.write(shown)
      if (isStdin && part === headPart) call.stdinTaken = shown.length
      isFirst = false
    } catch (error) {
      const reason = shellMessage(error)
      if (reason !== 'Is a directory') {
        call.complain(`cannot open '${name}' for reading: ${reason}`)
        continue
      }
      if (isTitled) call.writeText(title)
      isFirst = false
      call.complain(`error reading '${name}': ${reason}`)
    }
    await call.pause()
  }
}

/** Endless devices are read as one mebibyte, which may be less than requested. */
const ENDLESS: ReadonlySet<string> = new Set(['/dev/zero', '/dev/urandom', '/dev/random'])
/** The maximum length of a shell string. */
const MOST_BYTES = 32 * 1024 * 1024

async function contents(call: TextCall, name: string, { unit, sign, count }: Amount): Promise<string> {
  if (!ENDLESS.has(name)) return call.read(name)
  if (unit === 'n' || sign !== '') throw refusal(`${name}: a device has no end, and only \`head -c\` reads it here`)
  if (count > MOST_BYTES) throw refusal(`${name}: more than ${MOST_BYTES} bytes of a device are not available here`)
  const pieces: string[] = []
  for (let length = 0; length < count; length += pieces.at(-1)?.length ?? count) pieces.push(await call.read(name))
  return pieces.join('')
}

function amountOf(given: GivenOptions, turning: '-' | '+'): Amount {
  const unit = given.lastOf('cn') === 'c' ? 'c' : 'n'
  const text = given.value(unit)
  if (text === undefined) return { unit, sign: '', count: DEFAULT_COUNT }
  const [, sign = '', digits = ''] = /^([-+]?)(.*)$/s.exec(text) ?? []
  const count = sizeOf(digits)
  if (count === null) throw refusal(`invalid number of ${unit === 'c' ? 'bytes' : 'lines'}: ${curly(text)}`)
  return { unit, sign: sign === turning ? turning : '', count }
}

function headPart(bytes: string, { unit, sign, count }: Amount, end: string): string {
  if (unit === 'c') return bytes.slice(0, sign === '-' ? Math.max(0, bytes.length - count) : count)
  return bytes.slice(0, sign === '-' ? startOfLast(bytes, count, end) : endOfFirst(bytes, count, end))
}

function tailPart(bytes: string, { unit, sign, count }: Amount, end: string): string {
  if (unit === 'c') return bytes.slice(sign === '+' ? Math.max(0, count - 1) : Math.max(0, bytes.length - count))
  return bytes.slice(sign === '+' ? endOfFirst(bytes, Math.max(0, count - 1), end) : startOfLast(bytes, count, end))
}

/** The end of the first lines. */
function endOfFirst(bytes: string, count: number, end: string): number {
  let at = 0
  for (let i = 0; i < count && at < bytes.length; i++) {
    const next = bytes.indexOf(end, at)
    at = next < 0 ? bytes.length : next + 1
  }
  return at
}

/** The start of the last lines; the last one may have no line end. */
function startOfLast(bytes: string, count: number, end: string): number {
  if (count === 0 || bytes === '') return bytes.length
  let at = bytes.endsWith(end) ? bytes.length - 1 : bytes.length
  for (let i = 0; i < count; i++) {
    if (at <= 0) return 0
    at = bytes.lastIndexOf(end, at - 1)
    if (at < 0) return 0
  }
  return at + 1
}

/** Converts `-5`, `-5q` and `-c5` to the modern form. */
function modernHead(args: readonly string[]): string[] {
  const [first = '', ...rest] = args
  const [, digits, letters = ''] = /^-(\d+)([bkmcqlvnz]*)$/.exec(first) ?? []
  if (digits === undefined) {
    const old = args.find(
      (arg, i) => i > 0 && /^-\d+/.test(arg) && !/^-[a-z]*[cn]$|^--(bytes|lines)$/.test(args[i - 1] ?? ''),
    )
    if (old !== undefined && !isValue(args, old)) throw new Misuse(`invalid trailing option -- ${old.charAt(1)}`)
    return [...args]
  }
  const unit = /[bkmc]/.test(letters) ? 'c' : 'n'
  const factor = /[bkm]/.exec(letters)?.[0] ?? ''
  const flags = [...letters].filter((letter) => 'qvz'.includes(letter)).map((letter) => `-${letter}`)
  return [`-${unit}`, digits + factor, ...flags, ...rest]
}

/** Converts `-5`, `+5` and `-5c` to the modern form; the old form has one such word and at most one file. */
function modernTail(args: readonly string[]): string[] {
  const [first = '', ...rest] = args
  const [, sign = '', digits, unit = ''] = /^([-+])(\d+)([lcb]?)$/.exec(first) ?? []
  if (digits === undefined || rest.length > 1) {
    if (digits !== undefined && sign === '-')
      throw new Misuse(`option used in invalid context -- ${digits.charAt(0)}`, { showsHint: false })
    return [...args]
  }
  const count = unit === 'b' ? String(Number(digits) * 512) : digits
  return [unit === 'c' || unit === 'b' ? '-c' : '-n', `${sign === '+' ? '+' : ''}${count}`, ...rest]
}
