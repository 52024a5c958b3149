// The record and its fields. It is split when a field is read, and joined again when a field was changed and the record
// is read.

import { AwkError } from './syntax.ts'
import { Input, toNumber, toText, type Value } from './values.ts'

export type Splitter = (text: string) => string[]

export interface RecordFormats {
  /** Of FS, for the next records. */
  splitter: Splitter
  ofs: string
  convfmt: string
}

const MAX_FIELDS = 5_000_000

export class AwkRecord {
  readonly #formats: RecordFormats
  #text = ''
  /** Set if the program assigned a value to the record. */
  #whole: Value
  #fields: string[] = []
  /** Values that the program assigned to fields; a number is kept as a number. */
  readonly #given = new Map<number, Value>()
  #splitter: Splitter
  #isSplit = true
  #isJoined = true

  constructor(formats: RecordFormats) {
    this.#formats = formats
    this.#splitter = formats.splitter
    this.#whole = new Input('')
  }

  /** The current FS is used. */
  setText(text: string): void {
    this.#text = text
    this.#whole = undefined
    this.#splitter = this.#formats.splitter
    this.#isSplit = false
    this.#isJoined = true
  }

  get text(): string {
    this.join()
    return this.#text
  }

  /** Joins the fields if one of them has changed. */
  join(): void {
    if (this.#isJoined) return
    this.#text = this.#fields.join(this.#formats.ofs)
    this.#whole = undefined
    this.#isJoined = true
  }

  get fieldCount(): number {
    this.#split()
    return this.#fields.length
  }

  setFieldCount(value: Value): void {
    this.#split()
    const count = Math.trunc(toNumber(value))
    if (!(count >= 0)) throw new AwkError('run time error: negative value assigned to NF')
    this.#resize(count)
    this.#isJoined = false
  }

  field(number: number): Value {
    const at = indexOf(number)
    if (at === 0) {
      const { text } = this
      this.#whole ??= new Input(text)
      return this.#whole
    }
    this.#split()
    if (this.#given.size > 0 && this.#given.has(at)) return this.#given.get(at)
    const text = this.#fields[at - 1]
    return text === undefined ? undefined : new Input(text)
  }

  setField(number: number, value: Value): void {
    const at = indexOf(number)
    if (at === 0) {
      this.setText(toText(value, this.#formats.convfmt))
      this.#whole = value
      return
    }
    this.#split()
    if (at > this.#fields.length) this.#resize(at)
    this.#fields[at - 1] = toText(value, this.#formats.convfmt)
    this.#given.set(at, value)
    this.#isJoined = false
  }

  #resize(count: number): void {
    if (count > MAX_FIELDS) throw new AwkError(`run time error: there are at most ${MAX_FIELDS} fields`)
    while (this.#fields.length > count) this.#given.delete(this.#fields.length--)
    while (this.#fields.length < count) this.#fields.push('')
  }

  #split(): void {
    if (this.#isSplit) return
    this.#isSplit = true
    this.#fields = this.#text === '' ? [] : this.#splitter(this.#text)
    this.#given.clear()
  }
}

function indexOf(number: number): number {
  const at = Math.trunc(number)
  if (at < 0) throw new AwkError(`run time error: negative field index $${at}`)
  return at
}
