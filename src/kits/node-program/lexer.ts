// The tokens of a JavaScript text, as needed to find imports, exports and loops. It accepts invalid texts: the runtime
// reports their errors.

export type TokenKind = 'word' | 'punctuator' | 'string' | 'template' | 'number' | 'regex'

export interface Token {
  kind: TokenKind
  text: string
  start: number
  end: number
  /** Whether a line ends between the previous token and this one. */
  onNewLine: boolean
  /** The number of open brackets around it. */
  depth: number
  /** The number of function bodies around it. */
  functions: number
}

/** An open bracket, with the information for its closing bracket. */
interface Open {
  bracket: string
  /** What may follow the closing bracket: an operand has ended, or a statement starts. */
  endsOperand: boolean
  isFunction: boolean
  /** The word before `(`: `if`, `for` and similar. */
  before: string
}

const OPERATOR_WORDS: ReadonlySet<string> = new Set([
  ...['return', 'typeof', 'case', 'do', 'else', 'in', 'instanceof', 'new', 'void', 'delete', 'throw', 'await', 'yield'],
  ...['of', 'default', 'extends'],
])
const HEAD_WORDS: ReadonlySet<string> = new Set(['if', 'for', 'while', 'with', 'switch', 'catch'])

const BLANK = /[\s\uFEFF]+|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?(?:\*\/|$)/y
const WORD = /[#@]?[\p{ID_Start}$_\\](?:[\p{ID_Continue}$\\]|\u200c|\u200d|(?<=\\u)\{[0-9a-fA-F]+\})*/uy
const NUMBER = /(?:0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?)n?/y
const STRING = /'(?:[^'\\\n]|\\[\s\S])*'?|"(?:[^"\\\n]|\\[\s\S])*"?/y
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[\p{ID_Continue}$]*/uy
const PUNCTUATOR = /=>|\.\.\.|\?\.(?!\d)|\+\+|--|[-+*/%&|^!<>=?]+=?|[{}()[\];,:.~]|[\s\S]/y
const TEMPLATE_PART = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{|$)/y

export function tokensOf(text: string): Token[] {
  return new Lexer(text).run()
}

class Lexer {
  readonly #text: string
  readonly #tokens: Token[] = []
  readonly #open: Open[] = []
  #at = 0
  #onNewLine = false

  constructor(text: string) {
    this.#text = text
  }

  run(): Token[] {
    while (this.#at < this.#text.length) {
      const blank = this.#match(BLANK)
      if (blank !== null) {
        this.#onNewLine ||= /[\n\r\u2028\u2029]/.test(blank)
        this.#at += blank.length
      } else this.#next()
    }
    return this.#tokens
  }

  #next(): void {
    const char = this.#text[this.#at] ?? ''
    const closesExpression = char === '}' && this.#open.at(-1)?.bracket === '`'
    if (closesExpression) this.#open.pop()
    if (closesExpression || char === '`') this.#template(this.#at + 1)
    else if (char === '"' || char === "'") this.#push('string', this.#match(STRING) ?? char)
    else this.#plain(char)
  }

  #plain(char: string): void {
    const number = /[\d.]/.test(char) ? this.#match(NUMBER) : null
    const word = number ? null : this.#match(WORD)
    const regex = char === '/' && this.#operandMayFollow() ? this.#match(REGEX) : null
    if (number) this.#push('number', number)
    else if (word !== null) this.#push('word', word)
    else if (regex !== null) this.#push('regex', regex)
    else this.#punctuator(this.#match(PUNCTUATOR) ?? char)
  }

  #punctuator(text: string): void {
    if (text === '{' || text === '(' || text === '[') {
      const opened = this.#opened(text)
      this.#push('punctuator', text)
      this.#open.push(opened)
    } else if (text === '}' || text === ')' || text === ']') {
      const closed = this.#open.pop()
      this.#push('punctuator', text)
      this.#endsOperand = closed?.endsOperand ?? true
      this.#closedHead = closed?.before ?? ''
    } else this.#push('punctuator', text)
  }

  /** Of the last closed bracket, for the next token. */
  #endsOperand = true
  #closedHead = ''

  #opened(bracket: string): Open {
    const last = this.#tokens.at(-1)
    if (bracket === '(') {
      const isHead = last?.kind === 'word' && HEAD_WORDS.has(last.text) && !this.#isMember()
      const isForAwait = last?.text === 'await' && this.#tokens.at(-2)?.text === 'for'
      const before = isForAwait ? 'for' : isHead ? last.text : ''
      return { bracket, endsOperand: before === '', isFunction: false, before }
    }
    if (bracket === '[') return { bracket, endsOperand: true, isFunction: false, before: '' }
    const isFunction = last?.text === '=>' || (last?.text === ')' && this.#closedHead === '')
    const isObject =
      !isFunction && last !== undefined && this.#operandMayFollow() && !/^[;{})]$|^(do|else|=>)$/.test(last.text)
    return { bracket, endsOperand: isObject, isFunction, before: '' }
  }

  /** A template literal up to its end or to the next expression in it. */
  #template(from: number): void {
    TEMPLATE_PART.lastIndex = from
    const length = TEMPLATE_PART.exec(this.#text)?.[0].length ?? 0
    const text = this.#text.slice(this.#at, from + length)
    this.#push('template', text)
    if (text.endsWith('${')) this.#open.push({ bracket: '`', endsOperand: true, isFunction: false, before: '' })
  }

  #push(kind: TokenKind, text: string): void {
    const functions = this.#open.filter(({ isFunction }) => isFunction).length
    const [start, end] = [this.#at, this.#at + text.length]
    this.#tokens.push({ kind, text, start, end, onNewLine: this.#onNewLine, depth: this.#open.length, functions })
    this.#at = end
    this.#onNewLine = false
  }

  /** Whether a `/` here starts a regular expression, and a `{` may be an object. */
  #operandMayFollow(): boolean {
    const last = this.#tokens.at(-1)
    if (last === undefined) return true
    if (last.kind === 'word') return OPERATOR_WORDS.has(last.text) && !this.#isMember()
    if (last.kind === 'template') return last.text.endsWith('${')
    if (last.kind !== 'punctuator') return false
    if (last.text === ')') return !this.#endsOperand
    if (last.text === ']') return false
    if (last.text === '}') return !this.#endsOperand
    return last.text !== '++' && last.text !== '--'
  }

  /** Whether the last word is the name of a member, even if it is a keyword. */
  #isMember(): boolean {
    const before = this.#tokens.at(-2)?.text
    return before === '.' || before === '?.'
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)?.[0] ?? null
  }
}
