// Parses shell patterns (`*`, `?`, `[…]`, `@(…)`) into a sequence of elements.

/** `test` is for one character; `many` for any number of any characters. */
export type Element =
  | { kind: 'char'; char: string }
  | { kind: 'one' }
  | { kind: 'many' }
  | { kind: 'list'; source: string }
  | { kind: 'group'; sign: '@' | '?' | '*' | '+' | '!'; choices: Element[][] }

const CLASSES: Readonly<Record<string, string>> = {
  alpha: '\\p{L}',
  digit: '0-9',
  alnum: '\\p{L}\\p{Nd}',
  upper: '\\p{Lu}',
  lower: '\\p{Ll}',
  space: '\\s',
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`{-~\\p{P}\\p{S}',
  cntrl: '\\p{Cc}',
  print: '\\P{C}',
  graph: '\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}',
  xdigit: '0-9A-Fa-f',
  word: '\\p{L}\\p{Nd}_',
  ascii: '\\0-\\x7f',
}

/** A bracket expression that cannot match: it contains an unknown class. */
const NOTHING = '[]'
const SYNTAX = /[\\\]^[\-/{}()|*+?.$]/
const ITEM = /\[:(\w*):\]|\[([.=])([\s\S]+?)\2\]|\\([\s\S])|([\s\S])/uy

/** The elements of a pattern in which a backslash escapes the following character. */
export function elementsOf(pattern: string, hasGroups: boolean): Element[] {
  return new Reader(pattern, hasGroups).sequence('').elements
}

export const inClass = (char: string): string => (SYNTAX.test(char) ? `\\${char}` : char)

class Reader {
  readonly #chars: readonly string[]
  readonly #hasGroups: boolean
  #at = 0

  constructor(pattern: string, hasGroups: boolean) {
    this.#chars = Array.from(pattern)
    this.#hasGroups = hasGroups
  }

  /** Up to one of the terminators, or to the end; `end` is the terminator that was found. */
  sequence(until: string): { elements: Element[]; end: string } {
    const elements: Element[] = []
    while (this.#at < this.#chars.length) {
      const char = this.#chars[this.#at] ?? ''
      if (until !== '' && until.includes(char)) {
        this.#at++
        return { elements, end: char }
      }
      elements.push(this.#element(char))
    }
    return { elements, end: '' }
  }

  #element(char: string): Element {
    const next = this.#chars[this.#at + 1]
    if (this.#hasGroups && next === '(' && /[@?*+!]/.test(char)) {
      const group = this.#group(char as '@')
      if (group) return group
    }
    this.#at++
    if (char === '*') return { kind: 'many' }
    if (char === '?') return { kind: 'one' }
    if (char === '[') return this.#list() ?? { kind: 'char', char }
    if (char !== '\\' || next === undefined) return { kind: 'char', char }
    this.#at++
    return { kind: 'char', char: next }
  }

  /** Null for an unclosed one, whose characters are literal. */
  #group(sign: '@'): Element | null {
    const start = this.#at
    this.#at += 2
    const choices: Element[][] = []
    for (let end = '|'; end !== ')'; ) {
      const choice = this.sequence('|)')
      choices.push(choice.elements)
      end = choice.end
      if (end !== '') continue
      this.#at = start
      return null
    }
    return { kind: 'group', sign, choices }
  }

  #list(): Element | null {
    const rest = this.#chars.slice(this.#at).join('')
    const isNegated = /^[!^]/.test(rest)
    const parts: (string | { first: string; last: string })[] = []
    let at = isNegated ? 1 : 0
    let isValid = true
    for (let isFirst = true; rest[at] !== ']' || isFirst; isFirst = false) {
      ITEM.lastIndex = at
      const found = ITEM.exec(rest)
      if (!found) return null
      const [whole, name, , symbol, escaped, plain = ''] = found
      at += whole.length
      if (name !== undefined) {
        const known = CLASSES[name]
        if (known === undefined) isValid = false
        else parts.push(known)
        continue
      }
      const first = symbol ?? escaped ?? plain
      const range = /^-(?:\[[.=]([\s\S]+?)[.=]\]|\\([\s\S])|([^\]]))/u.exec(rest.slice(at))
      if (range) at += range[0].length
      parts.push({ first, last: range ? (range[1] ?? range[2] ?? range[3] ?? first) : first })
    }
    this.#at += Array.from(rest.slice(0, at + 1)).length
    return { kind: 'list', source: isValid ? sourceOf(parts, isNegated) : NOTHING }
  }
}

function sourceOf(parts: readonly (string | { first: string; last: string })[], isNegated: boolean): string {
  const inside = parts.map((part) => {
    if (typeof part === 'string') return part
    if ((part.first.codePointAt(0) ?? 0) > (part.last.codePointAt(0) ?? 0)) return ''
    return part.first === part.last ? inClass(part.first) : `${inClass(part.first)}-${inClass(part.last)}`
  })
  return `[${isNegated ? '^' : ''}${inside.join('')}]`
}
