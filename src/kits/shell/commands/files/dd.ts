// `dd`, like GNU's, for blocks of files and devices.

import { bytesToText, textToBytes } from '../../../../workspace/text-encodings.ts'
import { type Context, type Result, shellMessage } from '../../interpreter-command.ts'
import { quotedWord, shownName } from './names.ts'
import { sizeOf } from './size.ts'

const KNOWN = [
  'if',
  'of',
  'bs',
  'ibs',
  'obs',
  'count',
  'skip',
  'seek',
  'iseek',
  'oseek',
  'conv',
  'status',
  'iflag',
  'oflag',
]
const CONVERSIONS = new Set([
  'notrunc',
  'nocreat',
  'excl',
  'fsync',
  'fdatasync',
  'sync',
  'lcase',
  'ucase',
  'swab',
  'noerror',
])
const FLAGS = new Set(['count_bytes', 'skip_bytes', 'seek_bytes', 'append', 'fullblock', 'sync', 'dsync'])
const ENDLESS = new Set(['/dev/zero', '/dev/urandom', '/dev/random'])

class Misuse extends Error {}

type Words = ReadonlyMap<string, string>

export async function dd(args: string[], context: Context): Promise<Result> {
  try {
    const words = wordsOf(args)
    return await transfer(words, context)
  } catch (error) {
    if (!(error instanceof Misuse)) throw error
    return { stdout: '', stderr: `dd: ${error.message}\n`, exitCode: 1 }
  }
}

function wordsOf(args: readonly string[]): Words {
  const words = new Map<string, string>()
  for (const arg of args) {
    const equals = arg.indexOf('=')
    const name = arg.slice(0, equals)
    const [option] = /^-[^-=]|^--[^=]+/.exec(arg) ?? []
    if (option !== undefined) {
      const problem = option.startsWith('--')
        ? `unrecognized option '${arg}'`
        : `invalid option -- '${option.charAt(1)}'`
      throw new Misuse(problem + HINT)
    }
    if (equals < 0 || !KNOWN.includes(name)) {
      throw new Misuse(`unrecognized operand ${quotedWord(arg)}\nTry 'dd --help' for more information.`)
    }
    words.set(name, arg.slice(equals + 1))
  }
  checkWords(words)
  return words
}

const HINT = "\nTry 'dd --help' for more information."

function checkWords(words: Words): void {
  const conversions = listed(words, 'conv')
  const unknown = conversions.find((one) => !CONVERSIONS.has(one))
  if (unknown !== undefined || words.get('conv') === '')
    throw new Misuse(`invalid conversion: ${quotedWord(unknown ?? '')}${HINT}`)
  for (const side of ['input', 'output']) {
    const wrong = listed(words, side === 'input' ? 'iflag' : 'oflag').find((one) => !FLAGS.has(one))
    if (wrong !== undefined) throw new Misuse(`invalid ${side} flag: ${quotedWord(wrong)}${HINT}`)
  }
  const status = words.get('status') ?? 'progress'
  if (!['none', 'noxfer', 'progress'].includes(status))
    throw new Misuse(`invalid status level: ${quotedWord(status)}${HINT}`)
  if (conversions.includes('lcase') && conversions.includes('ucase')) throw new Misuse('cannot combine lcase and ucase')
  if (conversions.includes('excl') && conversions.includes('nocreat'))
    throw new Misuse('cannot combine excl and nocreat')
}

const listed = (words: Words, name: string): string[] => (words.get(name) ?? '').split(',').filter(Boolean)

function count(words: Words, name: string): number | null {
  const text = words.get(name)
  if (text === undefined) return null
  const size = text.split('x').reduce<number | null>((product, part) => {
    const factor = sizeOf(part)
    return product === null || factor === null ? null : product * factor
  }, 1)
  if (size === null) throw new Misuse(`invalid number: ${quotedWord(text)}`)
  if (size === 0 && name.endsWith('bs')) throw new Misuse(`invalid number: ${quotedWord(text)}`)
  return size
}

async function transfer(words: Words, context: Context): Promise<Result> {
  const block = count(words, 'bs') ?? count(words, 'ibs') ?? 512
  const outBlock = count(words, 'bs') ?? count(words, 'obs') ?? 512
  const flags = new Set([...listed(words, 'iflag'), ...listed(words, 'oflag')])
  const units = (name: string, size: number, flag: string) => {
    const value = count(words, name)
    const isBytes = flags.has(flag) || (words.get(name) ?? '').endsWith('B')
    return value === null ? null : value * (isBytes ? 1 : size)
  }
  const most = units('count', block, 'count_bytes')
  const skip = units('skip', block, 'skip_bytes') ?? units('iseek', block, 'skip_bytes') ?? 0
  const seek = units('seek', outBlock, 'seek_bytes') ?? units('oseek', outBlock, 'seek_bytes') ?? 0
  const whole = await inputOf(words, most === null ? null : skip + most, context)
  const isShort = skip > whole.byteLength && words.has('if')
  const input = whole.subarray(skip)
  const taken = most === null ? input : input.subarray(0, most)
  const bytes = converted(taken, listed(words, 'conv'), block)
  const stdout = await put(
    bytes,
    { words, seek, outBlock, appends: listed(words, 'oflag').includes('append') },
    context,
  )
  const problems = [
    ...(isShort ? [`dd: ${words.get('if')}: cannot skip to specified offset\n`] : []),
    ...(flags.has('append') && !listed(words, 'conv').includes('notrunc') && listed(words, 'oflag').includes('append')
      ? ['dd: you probably want conv=notrunc with oflag=append\n']
      : []),
  ]
  const stderr = problems.join('') + report(words, { bytes: bytes.byteLength, read: taken.byteLength, block, outBlock })
  const isShared = !words.has('if') && most !== null
  const left = isShared ? { internalStdinConsumed: Math.min(String(context.stdin).length, skip + most) } : {}
  return { stdout, stdoutKind: 'bytes', stderr, exitCode: 0, ...left }
}

async function inputOf(words: Words, most: number | null, context: Context): Promise<Uint8Array> {
  const { fs, cwd, limits } = context
  const name = words.get('if')
  if (name === undefined) return textToBytes(String(context.stdin), 'latin1')
  const path = fs.resolvePath(cwd, name)
  if (ENDLESS.has(path)) {
    if (most === null) throw new Misuse(`${name} has no end: count= is needed here`)
    if (most > limits.maxStringLength) throw new Misuse(`memory exhausted by input buffer of size ${most} bytes`)
    return endless(path, most)
  }
  try {
    return await fs.readFileBuffer(path)
  } catch (error) {
    throw new Misuse(`failed to open ${shownName(name)}: ${shellMessage(error)}`)
  }
}

/** Random bytes are generated in pieces. */
const RANDOM_PIECE = 65_536

function endless(path: string, size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  if (path === '/dev/zero') return bytes
  for (let at = 0; at < size; at += RANDOM_PIECE) crypto.getRandomValues(bytes.subarray(at, at + RANDOM_PIECE))
  return bytes
}

function converted(bytes: Uint8Array, conversions: readonly string[], block: number): Uint8Array {
  let result = bytes
  const shift = (from: number, by: number) =>
    result.map((byte) => (byte >= from && byte < from + 26 ? byte + by : byte))
  if (conversions.includes('ucase')) result = shift(97, -32)
  if (conversions.includes('lcase')) result = shift(65, 32)
  if (conversions.includes('swab')) {
    result = result.map((byte, i) => result[i % 2 === 0 ? i + 1 : i - 1] ?? byte)
  }
  if (conversions.includes('sync') && result.byteLength % block > 0) {
    const filled = new Uint8Array(Math.ceil(result.byteLength / block) * block)
    filled.set(result)
    result = filled
  }
  return result
}

type Putting = { words: Words; seek: number; outBlock: number; appends: boolean }

/** Writes to the standard output. */
async function put(
  bytes: Uint8Array,
  { words, seek, outBlock, appends }: Putting,
  { fs, cwd }: Context,
): Promise<string> {
  const name = words.get('of')
  if (name === undefined) return bytesToText(bytes, 'latin1')
  const conversions = listed(words, 'conv')
  const path = fs.resolvePath(cwd, name)
  try {
    const isThere = await fs.exists(path)
    if (conversions.includes('nocreat') && !isThere)
      throw new Misuse(`failed to open ${shownName(name)}: No such file or directory`)
    if (conversions.includes('excl') && isThere) throw new Misuse(`failed to open ${shownName(name)}: File exists`)
    const before = isThere ? await fs.readFileBuffer(path) : new Uint8Array()
    const keepsEnd = conversions.includes('notrunc')
    // The file is truncated when it is opened unless at least one whole block is skipped.
    const old = keepsEnd || seek >= outBlock ? before : new Uint8Array()
    const at = appends ? old.byteLength : seek
    const next = new Uint8Array(Math.max(at + bytes.byteLength, keepsEnd ? old.byteLength : 0))
    next.set(old.subarray(0, keepsEnd ? next.byteLength : at))
    next.set(bytes, at)
    await fs.writeFile(path, next)
    return ''
  } catch (error) {
    if (error instanceof Misuse) throw error
    throw new Misuse(`failed to open ${shownName(name)}: ${shellMessage(error)}`)
  }
}

type Figures = { bytes: number; read: number; block: number; outBlock: number }

function report(words: Words, { bytes, read, block, outBlock }: Figures): string {
  const status = words.get('status')
  if (status === 'none') return ''
  const records = (size: number, unit: number) => `${Math.floor(size / unit)}+${size % unit > 0 ? 1 : 0}`
  const lines = `${records(read, block)} records in\n${records(bytes, outBlock)} records out\n`
  if (status === 'noxfer') return lines
  return `${lines}${bytes} byte${bytes === 1 ? '' : 's'} copied, 0 s, Infinity B/s\n`
}
