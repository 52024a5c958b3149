// Texts under names, in a table of the two columns `name` and `value`. A row holds at most 2 MB. A text of a user, a
// model or a command can be longer and must not be lost, so it continues in further rows, `<name>#1` and so on.

import { firstRow, rows } from './sql.ts'

/** A UTF-16 unit takes at most three bytes, so a row of this length never exceeds 2 MB. */
export const MAX_ROW_LENGTH = 600_000

export class NamedTexts {
  readonly #sql: SqlStorage
  readonly #table: 'meta' | 'tool_memory'
  /** Whether a text has further rows; no entry before this was checked. */
  readonly #isLong = new Map<string, boolean>()

  constructor(sql: SqlStorage, table: 'meta' | 'tool_memory') {
    this.#sql = sql
    this.#table = table
  }

  get(name: string): string | null {
    const first = firstRow<{ value: string }>(this.#sql, `SELECT value FROM ${this.#table} WHERE name = ?`, name)
    if (first === null) return null
    const more = rows<{ value: string }>(
      this.#sql,
      `SELECT value FROM ${this.#table} WHERE name > ?1 || '#' AND name < ?1 || '$' ORDER BY length(name), name`,
      name,
    )
    this.#isLong.set(name, more.length > 0)
    return more.length === 0 ? first.value : first.value + more.map(({ value }) => value).join('')
  }

  put(name: string, text: string): void {
    const isLong = text.length > MAX_ROW_LENGTH
    if (this.#isLong.get(name) !== false) {
      this.#sql.exec(`DELETE FROM ${this.#table} WHERE name > ?1 || '#' AND name < ?1 || '$'`, name)
    }
    this.#isLong.set(name, isLong)
    const insert = `INSERT OR REPLACE INTO ${this.#table} (name, value) VALUES (?, ?)`
    if (!isLong) {
      this.#sql.exec(insert, name, text)
      return
    }
    for (const [at, part] of partsOf(text).entries()) this.#sql.exec(insert, at === 0 ? name : `${name}#${at}`, part)
  }
}

/** The text in pieces that fit into rows; no cut is inside a character. */
export function partsOf(text: string): string[] {
  const parts: string[] = []
  for (let from = 0; from < text.length; ) {
    let to = from + MAX_ROW_LENGTH
    // A cut between the halves of a surrogate pair would ruin the character.
    const unit = text.charCodeAt(to - 1)
    if (unit >= 0xd800 && unit <= 0xdbff) to -= 1
    parts.push(text.slice(from, to))
    from = to
  }
  return parts
}
