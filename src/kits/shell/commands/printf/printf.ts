// `printf`, like bash's: its format is repeated while there are arguments, and numbers are formatted like in the C
// library.

import { zoneOf } from '../../../../lib/clock.ts'
import { byteText, isByteLocale } from '../../byte-locale.ts'
import { type Context, IS_NAME, original, type Result } from '../../interpreter-command.ts'
import { outputOf } from '../../standard-streams.ts'
import { momentIn, strftime } from '../strftime.ts'
import { bytesOf, textOf } from '../text/bytes.ts'
import { Arguments, isCharacter } from './arguments.ts'
import { convertedBytes, MAX_SIZE, paddedText, sized } from './conversions.ts'
import { type Piece, piecesOf } from './pieces.ts'

const USAGE = 'printf: usage: printf [-v var] format [arguments]\n'
const EXIT_USAGE = 2
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024

export async function printf(args: string[], context: Context): Promise<Result> {
  const read = commandLine(args)
  if (typeof read === 'string') return { stdout: '', stderr: read, exitCode: EXIT_USAGE }
  const { name, format, words } = read
  const run = new Formatting(bytesOf(format), new Arguments(inLocale(words, context)), zoneName(context))
  run.write()
  const { bytes, stderr, exitCode } = run.outcome()
  if (name === null) return { ...outputOf(bytes), stderr, exitCode }
  // Only the interpreter can assign. The bytes are converted to text for it.
  const assigned = await original('printf', context)(['-v', name, '%s', textOf(bytes)])
  return { ...assigned, stderr: stderr + assigned.stderr, exitCode: assigned.exitCode || exitCode }
}

type CommandLine = { name: string | null; format: string; words: string[] }

/** A text is an error. */
function commandLine(args: readonly string[]): CommandLine | string {
  let [name, at]: [string | null, number] = [null, 0]
  for (let arg = args[at]; arg !== undefined && arg.length > 1 && arg.startsWith('-'); arg = args[++at]) {
    if (arg === '--') {
      at++
      break
    }
    if (!arg.startsWith('-v')) return `bash: printf: ${arg.slice(0, 2)}: invalid option\n${USAGE}`
    const value: string | undefined = arg === '-v' ? args[++at] : arg.slice(2)
    if (value === undefined) return `bash: printf: -v: option requires an argument\n${USAGE}`
    if (!IS_NAME.test(value.replace(/\[.+\]$/s, ''))) return `bash: printf: \`${value}': not a valid identifier\n`
    name = value
  }
  const format = args[at]
  return format === undefined ? USAGE : { name, format, words: args.slice(at + 1) }
}

/** In the locale `C`, only the first byte of a character given by its number is used. */
function inLocale(words: readonly string[], { env }: Context): readonly string[] {
  return isByteLocale((name) => env.get(name))
    ? words.map((word) => (isCharacter(word) ? byteText(word) : word))
    : words
}

function zoneName({ exportedEnv, env }: Context): string {
  return exportedEnv?.TZ ?? env.get('TZ') ?? ''
}

class Formatting {
  readonly #pieces: readonly Piece[]
  readonly #args: Arguments
  readonly #zone: string
  #bytes = ''
  #problem: string | null = null
  #isEnded = false

  constructor(format: string, args: Arguments, zone: string) {
    this.#pieces = piecesOf(format)
    this.#args = args
    this.#zone = zone
  }

  write(): void {
    for (;;) {
      const before = this.#args.taken
      for (const piece of this.#pieces) {
        this.#write(piece)
        if (this.#isEnded) return
      }
      // Without a directive, the remaining arguments are ignored.
      if (!this.#args.areLeft || this.#args.taken === before) return
    }
  }

  outcome(): { bytes: string; stderr: string; exitCode: number } {
    const complaints = this.#problem === null ? this.#args.complaints : [...this.#args.complaints, this.#problem]
    const hasFailed = this.#args.hasFailed || this.#problem !== null
    const stderr = complaints.map((complaint) => `bash: printf: ${complaint}\n`).join('')
    return { bytes: this.#bytes, stderr, exitCode: hasFailed ? 1 : 0 }
  }

  #write(piece: Piece): void {
    if (piece.complaint !== undefined) this.#args.complain(piece.complaint)
    if (piece.kind === 'text') this.#add(piece.bytes)
    else if (piece.kind === 'problem') this.#fail(piece.message)
    else this.#convert(piece)
  }

  #convert(piece: Extract<Piece, { kind: 'directive' | 'time' }>): void {
    const { letter } = piece.directive
    const sizes = sized(piece.directive, this.#args)
    if (sizes === null) this.#fail(`a width or a precision over ${MAX_SIZE} is not available here`)
    else if (piece.kind === 'time') this.#add(paddedText(this.#time(piece.format), sizes))
    else if (letter === 'n') this.#fail('%n is not available here')
    else {
      const result = convertedBytes(letter, sizes, this.#args)
      if (result === null) this.#fail(`\`${letter}': invalid format character`)
      else this.#add(result.bytes)
      if (result?.isEnd) this.#isEnded = true
    }
  }

  /** -1, -2 and a missing argument mean now. */
  #time(format: string): string {
    const seconds = this.#args.areLeft ? Number(this.#args.signed()) : -1
    const ms = seconds === -1 || seconds === -2 ? Date.now() : seconds * 1000
    const zone = zoneOf(this.#zone)
    return bytesOf(strftime(format, momentIn(zone, ms), 'library'))
  }

  #add(bytes: string): void {
    if (this.#bytes.length + bytes.length <= MAX_OUTPUT_BYTES) this.#bytes += bytes
    else this.#fail(`more than ${MAX_OUTPUT_BYTES} bytes of output are not kept here`)
  }

  #fail(problem: string): void {
    this.#problem = problem
    this.#isEnded = true
  }
}
