// The inputs of a program: values one after another, from files or from the standard input.

import { textToBytes } from '../../../../workspace/text-encodings.ts'
import { type Context, shellMessage } from '../../interpreter-command.ts'
import type { JqOptions } from './command-line.ts'
import { JsonError, JsonReader } from './json-read.ts'
import { piecesOf } from './paths.ts'
import type { JqValue } from './value.ts'

type Source = { name: string | null; text: string }

export class JqInputs {
  readonly #options: JqOptions
  readonly #context: Context
  #sources: Source[] = []
  #reader: JsonReader | null = null
  #streamed: JqValue[] = []
  #failure: JsonError | null = null
  #isSlurped = false
  #place: { name: string; line: number } | null = null
  #rawAt = 0
  /** Errors of files, reported at the end. */
  readonly problems: string[] = []

  constructor(options: JqOptions, context: Context) {
    this.#options = options
    this.#context = context
  }

  static valuesIn(text: string): JqValue[] {
    const reader = new JsonReader(text)
    const values: JqValue[] = []
    for (let next = reader.next(); next !== null; next = reader.next()) values.push(next.value)
    return values
  }

  /** Reads all inputs; afterwards everything is synchronous. */
  async open(): Promise<void> {
    const { fs, cwd } = this.#context
    if (this.#options.files.length === 0) {
      this.#sources = [
        { name: null, text: new TextDecoder().decode(textToBytes(String(this.#context.stdin), 'latin1')) },
      ]
      return
    }
    for (const name of this.#options.files) {
      try {
        this.#sources.push({ name, text: await fs.readFile(fs.resolvePath(cwd, name)) })
      } catch (error) {
        this.problems.push(`jq: error: Could not open file ${name}: ${shellMessage(error)}\n`)
      }
    }
  }

  get name(): JqValue {
    return this.#place === null ? null : (this.#current?.name ?? null)
  }

  get line(): number {
    return this.#reader?.lines ?? 0
  }

  /** The form in messages. */
  get place(): string {
    return this.#place === null ? '<unknown>' : `${this.#place.name}:${this.#place.line}`
  }

  /** Throws `JsonError`. */
  next(): { value: JqValue } | null {
    const { flags } = this.#options
    if (flags.has('R'))
      return flags.has('s') ? this.#once(() => this.#sources.map(({ text }) => text).join('')) : this.#line()
    if (flags.has('s')) return this.#once(() => this.#all())
    return flags.has('stream') ? this.#nextStreamed() : this.#nextValue()
  }

  get #current(): Source | undefined {
    return this.#sources[0]
  }

  #once(value: () => JqValue): { value: JqValue } | null {
    if (this.#isSlurped) return null
    this.#isSlurped = true
    return { value: value() }
  }

  #all(): JqValue {
    const values: JqValue[] = []
    const take = () => (this.#options.flags.has('stream') ? this.#nextStreamed() : this.#nextValue())
    for (let next = take(); next !== null; next = take()) values.push(next.value)
    return values
  }

  #nextValue(): { value: JqValue } | null {
    for (;;) {
      const source = this.#current
      if (!source) return null
      this.#reader ??= new JsonReader(source.text)
      try {
        const next = this.#reader.next()
        this.#place = { name: source.name ?? '<stdin>', line: this.#reader.lines }
        if (next !== null) return next
      } catch (error) {
        // The rest after invalid text is not read.
        if (error instanceof JsonError) this.#sources = []
        throw error
      }
      this.#reader = null
      this.#sources.shift()
    }
  }

  #nextStreamed(): { value: JqValue } | null {
    while (this.#streamed.length === 0) {
      const failure = this.#failure
      this.#failure = null
      if (failure !== null) throw failure
      try {
        const next = this.#nextValue()
        if (next === null) return null
        this.#streamed = [...eventsOf(next.value, [])].reverse()
      } catch (error) {
        if (!(error instanceof JsonError)) throw error
        // Values read before the invalid position are returned first.
        this.#failure = error
        this.#streamed = [...eventsBefore(this.#reader?.unfinished ?? [])].reverse()
      }
    }
    const value = this.#streamed.pop()
    return value === undefined ? null : { value }
  }

  #line(): { value: JqValue } | null {
    for (;;) {
      const source = this.#current
      if (!source) return null
      const { text } = source
      if (this.#rawAt >= text.length) {
        this.#rawAt = 0
        this.#sources.shift()
        continue
      }
      const end = text.indexOf('\n', this.#rawAt)
      const value = end < 0 ? text.slice(this.#rawAt) : text.slice(this.#rawAt, end)
      this.#rawAt = end < 0 ? text.length : end + 1
      this.#place = { name: source.name ?? '<stdin>', line: (this.#place?.line ?? 0) + 1 }
      return { value }
    }
  }
}

/** Of unclosed containers, from the outermost to the innermost. */
function* eventsBefore(containers: JsonReader['unfinished']): Generator<JqValue> {
  const path: JqValue[] = []
  for (const pieces of containers) {
    for (const [key, piece] of pieces) if (piece !== undefined) yield* eventsOf(piece, [...path, key])
    path.push(pieces.at(-1)?.[0] ?? null)
  }
}

/** Leaves with their paths, and the end of each container. */
function* eventsOf(value: JqValue, path: readonly JqValue[]): Generator<JqValue> {
  const pieces: [JqValue, JqValue][] =
    typeof value !== 'object' || value === null ? [] : [...piecesOf(value)].map(([key, piece]) => [key, piece])
  if (pieces.length === 0) {
    yield [path, value]
    return
  }
  for (const [key, piece] of pieces) yield* eventsOf(piece, [...path, key])
  const last = pieces.at(-1)?.[0] ?? null
  yield [[...path, last]]
}
