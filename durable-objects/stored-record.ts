// One JSON value under a name, in the table `meta`.

import { NamedTexts } from './named-texts.ts'

/** Read once and written through. */
export class StoredRecord<T extends object> {
  readonly #texts: NamedTexts
  readonly #name: string
  #value: T

  /** `on-change`: the initial value is not stored before it is changed. */
  constructor(sql: SqlStorage, name: string, initial: T | null, stores: 'at-once' | 'on-change' = 'at-once') {
    this.#texts = new NamedTexts(sql, 'meta')
    this.#name = name
    const stored = this.#texts.get(name)
    if (stored === null && initial === null) throw new Error(`no ${name} is stored`)
    // This class wrote the row, with the same type.
    // Rows of earlier versions lack fields that were added later.
    this.#value = stored === null ? (initial as T) : { ...initial, ...(JSON.parse(stored) as T) }
    if (stored === null && stores === 'at-once') this.#write()
  }

  get value(): Readonly<T> {
    return this.#value
  }

  change(changes: Partial<T>): void {
    this.#value = { ...this.#value, ...changes }
    this.#write()
  }

  #write(): void {
    this.#texts.put(this.#name, JSON.stringify(this.#value))
  }
}
