// The tokens of a jq program. A string with interpolations is one token that contains the tokens of its parts.

export type Token =
  | { kind: 'number'; value: number; line: number }
  | { kind: 'text'; parts: (string | Token[])[]; line: number }
  | { kind: 'format' | 'field' | 'variable' | 'name' | 'keyword' | 'symbol'; text: string; line: number }
  | { kind: 'end'; line: number }

/** An invalid program; the message is printed between `jq: error:` and the program. */
export class JqSyntaxError extends Error {
  override readonly name = 'JqSyntaxError'
}

const KEYWORDS = new Set(
  'def if then elif else end as reduce foreach try catch label import include and or __loc__ not'.split(' '),
)
KEYWORDS.delete('not')

const TOKEN =
  /[ \t\r\n]+|#[^\n]*|((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(@[a-zA-Z0-9_]+)|\.([a-zA-Z_]\w*)|\$(__loc__|(?:[a-zA-Z_]\w*::)*[a-zA-Z_]\w*)|((?:[a-zA-Z_]\w*::)*[a-zA-Z_]\w*)|(\?\/\/|\?\/\/=|\/\/=|\|=|\+=|-=|\*=|\/=|%=|==|!=|<=|>=|\/\/|\.\.|[.?[\]{}()|,:;=<>+\-*/%$])|(")/y

/** The tokens up to the end, or to the bracket that closes an interpolation. */
class Lexer {
  readonly #text: string
  at = 0
  line = 1

  constructor(text: string) {
    this.#text = text
  }

  tokens(isPart: boolean): Token[] {
    const found: Token[] = []
    let open = 0
    while (this.at < this.#text.length) {
      TOKEN.lastIndex = this.at
      const match = TOKEN.exec(this.#text)
      if (!match) throw new JqSyntaxError('syntax error, unexpected INVALID_CHARACTER')
      const line = this.line
      this.at = TOKEN.lastIndex
      this.line += match[0].split('\n').length - 1
      const [, number, format, field, variable, name, symbol, quote] = match
      if (number !== undefined) found.push({ kind: 'number', value: Number(number), line })
      else if (format !== undefined) found.push({ kind: 'format', text: format, line })
      else if (field !== undefined) found.push({ kind: 'field', text: field, line })
      else if (variable !== undefined) found.push({ kind: 'variable', text: variable, line })
      else if (name !== undefined) found.push({ kind: KEYWORDS.has(name) ? 'keyword' : 'name', text: name, line })
      else if (quote !== undefined) found.push({ kind: 'text', parts: this.#textParts(), line })
      else if (symbol !== undefined) {
        if (symbol === '(') open++
        if (symbol === ')' && open-- === 0 && isPart) break
        found.push({ kind: 'symbol', text: symbol, line })
      }
    }
    found.push({ kind: 'end', line: this.line })
    return found
  }

  #textParts(): (string | Token[])[] {
    const parts: (string | Token[])[] = []
    let plain = ''
    for (;;) {
      const char = this.#text.charAt(this.at++)
      if (char === '') throw new JqSyntaxError('syntax error, unexpected $end')
      if (char === '"') break
      if (char === '\n') this.line++
      if (char !== '\\') {
        plain += char
        continue
      }
      if (this.#text.charAt(this.at) === '(') {
        this.at++
        parts.push(plain, this.tokens(true))
        plain = ''
      } else plain += this.#escaped()
    }
    return [...parts, plain.toWellFormed()]
  }

  #escaped(): string {
    const rest = this.#text.slice(this.at, this.at + 5)
    const hex = /^u([0-9a-fA-F]{4})/.exec(rest)?.[1]
    if (hex !== undefined) {
      this.at += 5
      return String.fromCharCode(Number.parseInt(hex, 16))
    }
    const meant = ESCAPES[rest.charAt(0)]
    if (meant === undefined)
      throw new JqSyntaxError(`Invalid escape at line ${this.line}, column 4 (while parsing '"\\${rest.charAt(0)}"')`)
    this.at++
    return meant
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' },
}

export function tokensOf(program: string): Token[] {
  return new Lexer(program).tokens(false)
}
