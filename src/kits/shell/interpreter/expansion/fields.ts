// The expanded parts of a word, and their splitting into fields.

/** Literal text, text that may be a pattern, or text that is also split at the characters of IFS. */
export interface Piece {
  text: string
  isQuoted: boolean
  splits: boolean
}

/** Between the elements of `"$@"`. */
export const BREAK = 'break'
/** `"$@"` without arguments: without other text in the quotes, it is no field. */
export const NOTHING = 'nothing'
export type Item = Piece | typeof BREAK | typeof NOTHING

export type Field = Piece[]

export const quoted = (text: string): Piece => ({ text, isQuoted: true, splits: false })
export const plain = (text: string): Piece => ({ text, isQuoted: false, splits: false })
export const parted = (text: string): Piece => ({ text, isQuoted: false, splits: true })

const WHITE = /[ \t\n]/

export class Separators {
  readonly #ifs: string

  constructor(env: ReadonlyMap<string, string>) {
    this.#ifs = env.get('IFS') ?? ' \t\n'
    this.isNull = env.get('IFS') === ''
    this.first = env.has('IFS') ? (Array.from(this.#ifs)[0] ?? '') : ' '
  }

  /** Between the elements that `"$*"` joins. */
  readonly first: string
  readonly isNull: boolean

  has(char: string): boolean {
    return this.#ifs.includes(char)
  }
}

export function fieldsOf(items: readonly Item[], separators: Separators): Field[] {
  const splitter = new Splitter(separators)
  for (const item of items) {
    if (item === NOTHING) continue
    if (item === BREAK) splitter.end()
    else if (item.splits) splitter.part(item.text)
    else splitter.add(item)
  }
  return splitter.finish()
}

class Splitter {
  readonly #separators: Separators
  readonly #fields: Field[] = []
  #field: Field | null = null
  /** A field has ended at a blank, which is combined with one following separator. */
  #isAfterBlank = false

  constructor(separators: Separators) {
    this.#separators = separators
  }

  add(piece: Piece): void {
    if (piece.text === '' && !piece.isQuoted) return
    this.#field ??= []
    this.#field.push(piece)
    this.#isAfterBlank = false
  }

  end(): void {
    if (this.#field) this.#fields.push(this.#field)
    this.#field = null
    this.#isAfterBlank = false
  }

  part(text: string): void {
    let run = ''
    for (const char of text) {
      if (!this.#separators.has(char)) {
        run += char
        continue
      }
      if (run !== '') this.add(plain(run))
      run = ''
      if (WHITE.test(char)) {
        if (!this.#field) continue
        this.end()
        this.#isAfterBlank = true
      } else if (this.#isAfterBlank && !this.#field) this.#isAfterBlank = false
      else {
        this.#field ??= []
        this.end()
      }
    }
    if (run !== '') this.add(plain(run))
  }

  finish(): Field[] {
    this.end()
    return this.#fields
  }
}

export const textOf = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join('')
