// The code that a model writes for the browser: calls of a few functions with literals, as in Python. It is parsed by a
// grammar and never run: an unknown function, an expression or a statement is refused, and the error says what was
// expected.

import { MAX_PAGE_ACTIONS, PageAction, type PageActionName } from '../../runners/page.ts'
import { BadCall } from './tool.ts'

type Literal = string | number | boolean | null | readonly Literal[]

/** The parameters of each function, in their order. */
const PARAMETERS: Readonly<Record<PageActionName, readonly string[]>> = {
  goto: ['url'],
  go_back: [],
  go_forward: [],
  noop: ['wait_ms'],
  scroll: ['delta_x', 'delta_y'],
  fill: ['bid', 'value'],
  select_option: ['bid', 'options'],
  click: ['bid', 'button', 'modifiers'],
  dblclick: ['bid', 'button', 'modifiers'],
  hover: ['bid'],
  press: ['bid', 'key_comb'],
  focus: ['bid'],
  clear: ['bid'],
  drag_and_drop: ['from_bid', 'to_bid'],
  upload_file: ['bid', 'file'],
  tab_new: [],
  tab_focus: ['index'],
  tab_close: [],
  dialog: ['accept', 'text'],
}

/** Throws `BadCall` with the error, for the model to read. */
export function pageActionsIn(code: string): PageAction[] {
  const reader = new CodeReader(code)
  const actions: PageAction[] = []
  for (let next = reader.call(); next !== null; next = reader.call()) {
    if (actions.length >= MAX_PAGE_ACTIONS) reader.fail(`at most ${MAX_PAGE_ACTIONS} actions are done in one call`)
    actions.push(actionOf(next, reader))
  }
  if (actions.length === 0) reader.fail("there is no action, such as click('e12')")
  return actions
}

type Call = { readonly name: string; readonly given: readonly Literal[]; readonly named: ReadonlyMap<string, Literal> }

function actionOf({ name, given, named }: Call, reader: CodeReader): PageAction {
  const parameters = isFunction(name) ? PARAMETERS[name] : reader.fail(`there is no function ${name}`)
  if (given.length > parameters.length) reader.fail(`${name} takes ${parameters.join(', ') || 'nothing'}`)
  const args: Record<string, Literal> = {}
  for (const [index, value] of given.entries()) args[parameters[index] ?? ''] = value
  for (const [key, value] of named) {
    if (!parameters.includes(key) || key in args) reader.fail(`${name} takes ${parameters.join(', ') || 'nothing'}`)
    args[key] = value
  }
  const checked = PageAction.safeParse({ ...args, name })
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  return reader.fail(`${name}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'does not fit'}`)
}

const isFunction = (name: string): name is PageActionName => Object.hasOwn(PARAMETERS, name)

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
}
const WORDS: ReadonlyMap<string, Literal> = new Map<string, Literal>([
  ['True', true],
  ['False', false],
  ['true', true],
  ['false', false],
  ['None', null],
])
const MAX_LIST = 100

class CodeReader {
  readonly #code: string
  #at = 0

  constructor(code: string) {
    this.#code = code
  }

  fail(what: string): never {
    const line = this.#code.slice(0, this.#at).split('\n').length
    throw new BadCall(
      `The code of browser cannot be read (line ${line}): ${what.slice(0, 400)}. It is calls of the functions in the description, one a line, with literal arguments. Nothing was done.`,
    )
  }

  /** Null at the end. */
  call(): Call | null {
    this.#skip(/[\s;]*/y, '#')
    if (this.#at >= this.#code.length) return null
    const name = this.#take(/[A-Za-z_]\w*/y) ?? this.fail('a function was expected')
    this.#space()
    if (this.#take(/\(/y) === null) this.fail(`after ${name} a "(" was expected`)
    const [given, named] = [[] as Literal[], new Map<string, Literal>()]
    for (this.#space(); this.#take(/\)/y) === null; this.#space()) {
      const key = this.#take(/[A-Za-z_]\w*(?=\s*=[^=])/y)
      if (key !== null) {
        this.#space()
        this.#take(/=/y)
        this.#space()
        if (named.has(key)) this.fail(`${key} is given twice`)
        named.set(key, this.#literal())
      } else if (named.size > 0) this.fail('an argument without a name stands after one with a name')
      else given.push(this.#literal())
      this.#space()
      if (this.#take(/,/y) === null && this.#peek() !== ')') this.fail('a "," or ")" was expected')
    }
    if (this.#take(/[ \t]*(?=$|[\n\r;#])/y) === null) this.fail('each action stands on a line of its own')
    return { name, given, named }
  }

  #literal(): Literal {
    const quote = this.#take(/'''|"""|'|"/y)
    if (quote !== null) return this.#text(quote)
    const number = this.#take(/[+-]?(\d+(\.\d*)?|\.\d+)(?![\w.])/y)
    if (number !== null) return Number(number)
    if (this.#take(/\[/y) !== null) return this.#list()
    const word = this.#take(/[A-Za-z]\w*/y)
    const value = word === null ? undefined : WORDS.get(word)
    return value === undefined ? this.fail('a text in quotes, a number, True, False or a list was expected') : value
  }

  #list(): Literal[] {
    const items: Literal[] = []
    for (this.#space(); this.#take(/\]/y) === null; this.#space()) {
      if (items.length >= MAX_LIST) this.fail(`a list has at most ${MAX_LIST} members`)
      if (this.#peek() === '[') this.fail('a list in a list was not expected')
      items.push(this.#literal())
      this.#space()
      if (this.#take(/,/y) === null && this.#peek() !== ']') this.fail('a "," or "]" was expected')
    }
    return items
  }

  #text(quote: string): string {
    let text = ''
    while (!this.#code.startsWith(quote, this.#at)) {
      const letter = this.#code[this.#at]
      if (letter === undefined || (letter === '\n' && quote.length === 1)) this.fail('a text has no end')
      this.#at += 1
      text += letter === '\\' ? this.#escape() : letter
    }
    this.#at += quote.length
    return text
  }

  #escape(): string {
    const hex = this.#take(/x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}/y)
    if (hex !== null) return String.fromCharCode(Number.parseInt(hex.slice(1), 16))
    const letter = this.#code[this.#at] ?? this.fail('a text has no end')
    this.#at += 1
    // As in Python: a backslash before another letter is kept.
    return ESCAPES[letter] ?? `\\${letter}`
  }

  #peek(): string {
    return this.#code[this.#at] ?? ''
  }

  #space(): void {
    this.#skip(/\s*/y, '#')
  }

  /** Skips comments, too. */
  #skip(pattern: RegExp, comment: string): void {
    for (this.#take(pattern); this.#peek() === comment; this.#take(pattern)) this.#take(/[^\n]*/y)
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#code)
    if (found === null) return null
    this.#at = pattern.lastIndex
    return found[0]
  }
}
