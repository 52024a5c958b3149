// `/dev/stdin`, `/dev/stdout` and `/dev/stderr` as operands of a command: its input and outputs, including
// redirections. The devices with those names are the terminal's.

import { bytesToText, textToBytes } from '../../workspace/text-encodings.ts'
import { type Context, inBytes, nestedTooDeeply, type Result } from './interpreter-command.ts'

type Run = (args: string[], context: Context) => Promise<Result>
type Files = Context['fs']
type OutputStream = 'stdout' | 'stderr'

const INPUT = '/dev/stdin'
const OUTPUTS: Readonly<Record<string, OutputStream>> = { '/dev/stdout': 'stdout', '/dev/stderr': 'stderr' }
/** By their numbers. */
const OTHER_NAMES = /^\/(?:dev|proc\/self)\/fd\/([012])$/
const NAMES = [INPUT, '/dev/stdout', '/dev/stderr']

export function withStandardStreams(name: string, run: Run): Run {
  return async (args, context) => {
    try {
      return await withNames(run, args, context)
    } catch (error) {
      return nestedTooDeeply(name, error)
    }
  }
}

async function withNames(run: Run, args: string[], context: Context): Promise<Result> {
  if (!args.some((arg) => arg.includes('/dev/') || arg.includes('/proc/'))) return run(args, context)
  const streams = new StandardStreams(context)
  return streams.joinedTo(await run(args, withProperty(context, 'fs', streams.fs)))
}

/** The same with another property: lazy properties, such as the input, are not evaluated. */
export function withProperty<T extends object, Name extends keyof T>(whole: T, name: Name, value: T[Name]): T {
  const properties = { ...Object.getOwnPropertyDescriptors(whole), [name]: { value, enumerable: true } }
  const copy: T = Object.create(Object.getPrototypeOf(whole), properties)
  return copy
}

class StandardStreams {
  readonly fs: Files
  readonly #context: Context
  /** One character per byte. */
  readonly #written: Record<OutputStream, string> = { stdout: '', stderr: '' }

  constructor(context: Context) {
    this.#context = context
    this.fs = new Proxy(context.fs, { get: (files, name) => this.#method(files, name) })
  }

  /** Output to these names comes before the command's other output. */
  joinedTo(result: Result): Result {
    const { stdout, stderr } = this.#written
    const errors = { ...result, stderr: bytesToText(textToBytes(stderr, 'latin1'), 'utf8') + result.stderr }
    return stdout === '' ? errors : { ...errors, ...outputOf(stdout + inBytes(result)) }
  }

  #method(files: Files, name: PropertyKey): unknown {
    const method: unknown = Reflect.get(files, name)
    if (typeof method !== 'function') return method
    return (given: unknown, ...rest: unknown[]): unknown => {
      const path = typeof given === 'string' ? plainName(given) : given
      if (path === INPUT && name === 'readFile') return this.#input(rest[0])
      if (path === INPUT && name === 'readFileBuffer') return Promise.resolve(this.#inputBytes())
      const output = typeof path === 'string' && Object.hasOwn(OUTPUTS, path) ? OUTPUTS[path] : undefined
      if (output === undefined) return method.call(files, path, ...rest)
      if (name === 'writeFile' || name === 'appendFile') return this.#write(output, rest[0], rest[1])
      return name === 'chmod' || name === 'utimes' ? Promise.resolve() : method.call(files, path, ...rest)
    }
  }

  #inputBytes(): Uint8Array {
    return textToBytes(String(this.#context.stdin), 'latin1')
  }

  async #input(options: unknown): Promise<string> {
    return bytesToText(this.#inputBytes(), encodingOf(options))
  }

  async #write(output: OutputStream, content: unknown, options: unknown): Promise<void> {
    const bytes = content instanceof Uint8Array ? content : textToBytes(String(content), encodingOf(options))
    this.#written[output] += bytesToText(bytes, 'latin1')
  }
}

function plainName(path: string): string {
  const number = OTHER_NAMES.exec(path)?.[1]
  return number === undefined ? path : (NAMES[Number(number)] ?? path)
}

function encodingOf(options: unknown): string {
  if (typeof options === 'string') return options
  const encoding: unknown = typeof options === 'object' && options !== null && Reflect.get(options, 'encoding')
  return typeof encoding === 'string' ? encoding : 'utf8'
}

const ABOVE_ASCII = /[^\0-\x7f]/
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** As text if it is valid: the interpreter counts bytes above ASCII wrongly next to redirected errors. */
export function outputOf(bytes: string): Pick<Result, 'stdout' | 'stdoutKind'> {
  if (!ABOVE_ASCII.test(bytes)) return { stdout: bytes, stdoutKind: 'text' }
  try {
    return { stdout: strict.decode(textToBytes(bytes, 'latin1')), stdoutKind: 'text' }
  } catch {
    // The decoder throws for invalid UTF-8; this is an expected result.
    return { stdout: bytes, stdoutKind: 'bytes' }
  }
}
