// The variables of a program: those with a meaning for awk itself, and all others.

import type { RegexCache } from '../../posix-regex/posix-regex.ts'
import { AwkRecord, type RecordFormats } from './record.ts'
import { splitterOf } from './splitting.ts'
import { type Table, toNumber, toText, type Value } from './values.ts'

export interface Variable {
  get(): Value
  set(value: Value): void
}

export class Variables {
  readonly record: AwkRecord
  readonly arrays = new Map<string, Table>()
  nr = 0
  fnr = 0
  ors = '\n'
  rs = '\n'
  ofmt = '%.6g'
  subsep = '\x1c'
  readonly formats: RecordFormats
  readonly #regexes: RegexCache
  readonly #known = new Map<string, Variable>()
  #fs = ' '

  constructor(regexes: RegexCache) {
    this.#regexes = regexes
    this.formats = { splitter: splitterOf(' ', regexes), ofs: ' ', convfmt: '%.6g' }
    this.record = new AwkRecord(this.formats)
    this.#addSpecial()
  }

  get ofs(): string {
    return this.formats.ofs
  }

  get convfmt(): string {
    return this.formats.convfmt
  }

  text(value: Value): string {
    return toText(value, this.formats.convfmt)
  }

  variable(name: string): Variable {
    const known = this.#known.get(name)
    if (known) return known
    let held: Value
    const made: Variable = {
      get: () => held,
      set: (value) => {
        held = value
      },
    }
    this.#known.set(name, made)
    return made
  }

  array(name: string): Table {
    const known = this.arrays.get(name)
    if (known) return known
    const made: Table = new Map()
    this.arrays.set(name, made)
    return made
  }

  #addSpecial(): void {
    const { record } = this
    this.#known.set('NF', { get: () => record.fieldCount, set: (value) => record.setFieldCount(value) })
    this.#count(
      'NR',
      () => this.nr,
      (value) => {
        this.nr = value
      },
    )
    this.#count(
      'FNR',
      () => this.fnr,
      (value) => {
        this.fnr = value
      },
    )
    for (const [name, start] of [
      ['RSTART', 0],
      ['RLENGTH', -1],
      ['FILENAME', ''],
    ] as const)
      this.variable(name).set(start)
    this.#addTexts()
  }

  #addTexts(): void {
    const { record, formats } = this
    this.#watch('FS', ' ', (text) => {
      this.#fs = text
      this.#renewSplitter()
    })
    this.#watch('RS', '\n', (text) => {
      this.rs = text
      this.#renewSplitter()
    })
    this.#watch('OFS', ' ', (text) => {
      // A record that still must be joined is joined with the old value.
      record.join()
      formats.ofs = text
    })
    this.#watch('ORS', '\n', (text) => {
      this.ors = text
    })
    this.#watch('OFMT', '%.6g', (text) => {
      this.ofmt = text
    })
    this.#watch('CONVFMT', '%.6g', (text) => {
      formats.convfmt = text
    })
    this.#watch('SUBSEP', '\x1c', (text) => {
      this.subsep = text
    })
  }

  #renewSplitter(): void {
    this.formats.splitter = splitterOf(this.#fs, this.#regexes, this.rs === '')
  }

  #count(name: string, get: () => number, keep: (value: number) => void): void {
    this.#known.set(name, { get, set: (value) => keep(toNumber(value)) })
  }

  /** Stores the value as assigned, and passes its text on. */
  #watch(name: string, start: string, tell: (text: string) => void): void {
    let held: Value = start
    this.#known.set(name, {
      get: () => held,
      set: (value) => {
        held = value
        tell(this.text(value))
      },
    })
  }
}
