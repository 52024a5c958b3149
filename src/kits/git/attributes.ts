// Reads the `.gitattributes` files: which files are text, which have their own line ends, which are shown as binary and
// which are excluded from archives.

import { wildcard } from './wildcards.ts'

/** Set, unset, or a value. A missing attribute is unspecified. */
export type AttributeValues = ReadonlyMap<string, boolean | string>

interface Rule {
  pattern: RegExp
  /** Without a slash, a pattern matches the last name of a path in any folder. */
  isName: boolean
  values: Map<string, boolean | string | null>
}

interface Level {
  folder: string
  rules: Rule[]
}

/** The text of an attributes file: of a folder, `''` for the top, or the repository's own for null. */
export type AttributeSource = (folder: string | null) => Promise<string | null>

const BINARY = ['diff', 'merge', 'text']

export class Attributes {
  readonly #source: AttributeSource
  /** By folder, the nearest last. */
  readonly #levels = new Map<string, Promise<Level[]>>()
  #own: Promise<Level> | null = null

  constructor(source: AttributeSource) {
    this.#source = source
  }

  /** The files are read again when they are needed. */
  forget(): void {
    this.#levels.clear()
    this.#own = null
  }

  async of(path: string): Promise<AttributeValues> {
    const slash = path.lastIndexOf('/')
    this.#own ??= this.#source(null).then((text) => ({ folder: '', rules: rulesOf(text) }))
    const found = new Map<string, boolean | string | null>()
    for (const level of [...(await this.#levelsOf(slash < 0 ? '' : path.slice(0, slash))), await this.#own]) {
      const below = level.folder === '' ? path : path.slice(level.folder.length + 1)
      for (const { pattern, isName, values } of level.rules) {
        if (!pattern.test(isName ? below.slice(below.lastIndexOf('/') + 1) : below)) continue
        for (const [name, value] of values) found.set(name, value)
      }
    }
    return new Map([...found].flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
  }

  #levelsOf(folder: string): Promise<Level[]> {
    const known = this.#levels.get(folder)
    if (known) return known
    const reading = this.#read(folder)
    this.#levels.set(folder, reading)
    return reading
  }

  async #read(folder: string): Promise<Level[]> {
    const slash = folder.lastIndexOf('/')
    const above = folder === '' ? [] : await this.#levelsOf(slash < 0 ? '' : folder.slice(0, slash))
    const rules = rulesOf(await this.#source(folder))
    return rules.length === 0 ? above : [...above, { folder, rules }]
  }
}

function rulesOf(text: string | null): Rule[] {
  return (text ?? '').split('\n').flatMap((line) => {
    const words = line.trim().match(/^"(?:\\.|[^"\\])*"|\S+/g) ?? []
    const [given = '', ...rest] = words
    // User-defined macros and negated patterns are not supported.
    if (given === '' || /^(#|!|\[attr\])/.test(given)) return []
    const plain = given.replace(/^"(.*)"$/, '$1')
    const isName = !plain.replace(/\/$/, '').includes('/')
    const values = new Map(rest.flatMap(attributeOf))
    // Files do not inherit a folder's attributes.
    if (plain.endsWith('/')) return []
    return [{ pattern: wildcard(plain.replace(/^\//, ''), { passesSlashes: false }), isName, values }]
  })
}

function attributeOf(word: string): [string, boolean | string | null][] {
  const [, sign = '', name = '', value] = /^([-!]?)([^=]+)(?:=(.*))?$/.exec(word) ?? []
  const meant = sign === '!' ? null : sign === '-' ? false : (value ?? true)
  if (name !== 'binary' || meant !== true) return [[name, meant]]
  return [[name, true], ...BINARY.map((other): [string, boolean] => [other, false])]
}
