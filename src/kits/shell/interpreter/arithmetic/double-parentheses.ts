// Finds `((…))` as a command or as the head of a loop. Like in bash it is arithmetic if the parenthesis that closes the
// inner one is directly followed by another; otherwise it is a subshell within a subshell. Also finds other constructs
// that the library's parser misreads: a `$` that starts nothing, and a word of a list `x=(env A=1)` that looks like an
// assignment, which it would lose.

/** `isGroup`: of the `!(` of a pattern, which the parser treats as the `!` of a command. */
export type ArithmeticCommand = { start: number; end: number; isLoop: boolean; isGroup?: boolean }

/** After these another command may start. */
const LEADING: ReadonlySet<string> = new Set(['if', 'then', 'else', 'elif', 'while', 'until', 'do', 'time', '!', '{'])
/** In a list, up to the equals sign. */
const LIKE_ASSIGNMENT = /^[A-Za-z_]\w*\+?(?==)/
const WORD = /[^\s;&|()<>"'`$\\]+/y
const HEREDOC = /<<(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|\\?([^\s;&|()<>'"]+))/y
/** After a `$` that starts nothing. In arithmetic the library's parser would never terminate. */
const LONE = /[\s)&|+/%<>=,;:^~}\]]/
const MOST_LEVELS = 200
/** How far back the text before a pattern is searched. */
const MOST_BLANKS = 200
/** How often the text may be scanned for a closing parenthesis, in addition to a fixed number of positions. */
const MOST_LOOKS = 20
const MORE_PLACES = 1_000_000

/** In the order of the text; empty for one that is nested too deeply, or has too many unclosed parts, to be scanned. */
export function arithmeticCommands(script: string): ArithmeticCommand[] {
  const found = new Finder(script)
  found.commands(0, '')
  return found.isTooDeep ? [] : found.found.sort((a, b) => a.start - b.start)
}

class Finder {
  readonly found: ArithmeticCommand[] = []
  isTooDeep = false
  readonly #text: string
  #level = 0
  #places: number

  constructor(text: string) {
    this.#text = text
    this.#places = text.length * MOST_LOOKS + MORE_PLACES
  }

  /** Scans commands from this position to their closing token, and returns the position after it. */
  commands(from: number, closing: '' | ')'): number {
    if (++this.#level > MOST_LEVELS) this.isTooDeep = true
    const state: State = { at: from, mayBegin: true, isLoop: false, isTest: false, open: [], heredocs: [] }
    while (state.at < this.#text.length && !this.isTooDeep) if (this.#step(state, closing)) break
    this.#level--
    return state.at
  }

  /** Whether the commands are closed. */
  #step(state: State, closing: string): boolean {
    const char = this.#text[state.at] ?? ''
    switch (char) {
      case ' ':
      case '\t':
        state.at++
        return false
      case '\n':
        state.at = this.#afterHeredocs(state)
        state.mayBegin = !state.isTest && state.open.at(-1) !== 'list'
        return false
      case ';':
      case '&':
      case '|':
        state.at++
        state.mayBegin = !state.isTest
        return false
      case '(':
        this.#opening(state)
        return false
      case ')':
        return this.#closing(state, closing)
      case '<':
        this.#less(state)
        return false
      case '>':
        state.at++
        return false
      case '#':
        if (/[\s;&|()]/.test(this.#text[state.at - 1] ?? ' ')) state.at = this.#until('\n', state.at)
        else state.at++
        return false
      default:
        this.#word(state, char)
        return false
    }
  }

  #opening(state: State): void {
    const { at, mayBegin, isLoop } = state
    const end = this.#text[at + 1] === '(' && (mayBegin || isLoop) ? this.#endOfArithmetic(at + 2) : -1
    state.isLoop = false
    if (end !== -1) {
      this.found.push({ start: at + 2, end, isLoop })
      state.at = end + 2
      state.mayBegin = isLoop
      return
    }
    state.at++
    const isList = at > 0 && this.#text[at - 1] === '=' && !state.isTest
    state.open.push(isList ? 'list' : '(')
    state.mayBegin = !state.isTest && !isList
  }

  #closing(state: State, closing: string): boolean {
    state.at++
    state.mayBegin = !state.isTest
    if (state.open.at(-1) === '(' || state.open.at(-1) === 'list') state.open.pop()
    else if (closing === ')' && state.open.at(-1) !== 'case') return true
    return false
  }

  #less(state: State): void {
    if (this.#text.startsWith('<<<', state.at)) {
      state.at += 3
      return
    }
    HEREDOC.lastIndex = state.at
    const heredoc = HEREDOC.exec(this.#text)
    if (heredoc === null) {
      state.at++
      return
    }
    const [whole, dash, single, double, plain] = heredoc
    state.heredocs.push({ end: single ?? double ?? plain ?? '', isIndented: dash !== '' })
    state.at += whole.length
  }

  #word(state: State, char: string): void {
    if (char === '"' || char === "'" || char === '`' || char === '$' || char === '\\') {
      state.at = this.#quoted(state.at)
      state.mayBegin = false
      state.isLoop = false
      return
    }
    WORD.lastIndex = state.at
    const [word = char] = WORD.exec(this.#text) ?? []
    if (state.open.at(-1) === 'list') this.#noteListed(state.at, word)
    if (
      word.endsWith('!') &&
      this.#text[state.at + word.length] === '(' &&
      (word !== '!' || isPattern(this.#text, state))
    ) {
      const at = state.at + word.length - 1
      this.found.push({ start: at, end: at + 2, isLoop: false, isGroup: true })
      state.at = this.#afterGroup(at + 2)
      state.mayBegin = false
      return
    }
    state.at += word.length
    state.isLoop = word === 'for'
    if (word === '[[') state.isTest = true
    else if (word === ']]') state.isTest = false
    else if (word === 'case' && state.mayBegin) state.open.push('case')
    else if (word === 'esac' && state.open.at(-1) === 'case') state.open.pop()
    state.mayBegin = !state.isTest && state.mayBegin && LEADING.has(word)
  }

  /** After the parenthesis that closes a group. */
  #afterGroup(from: number): number {
    let [at, depth] = [from, 1]
    while (at < this.#text.length && depth > 0) {
      const char = this.#text[at] ?? ''
      if (char === '(') depth++
      else if (char === ')') depth--
      else if (char === '!' && this.#text[at + 1] === '(') {
        this.found.push({ start: at, end: at + 2, isLoop: false, isGroup: true })
        at++
        depth++
      }
      at = /["'`$\\]/.test(char) ? this.#quoted(at) : at + 1
    }
    return at
  }

  #noteListed(at: number, word: string): void {
    const sign = at + (LIKE_ASSIGNMENT.exec(word)?.[0].length ?? 0)
    if (sign > at && /[\s(]/.test(this.#text[at - 1] ?? ''))
      this.found.push({ start: sign, end: sign + 1, isLoop: false })
  }

  /** After a construct that starts with a quote, a backslash or `$`. */
  #quoted(at: number): number {
    const char = this.#text[at]
    if (char === '\\') return at + 2
    if (char === "'") return this.#until("'", at + 1) + 1
    if (char === '`') return this.#afterEscaped('`', at + 1)
    if (char === '"') return this.#afterDouble(at + 1)
    const next = this.#text[at + 1]
    if (next === "'") return this.#afterEscaped("'", at + 2)
    if (next === '{') return this.#afterBraces(at + 2)
    // The process id of the shell.
    if (next === '$') return at + 2
    if (next === undefined || LONE.test(next)) this.found.push({ start: at, end: at + 1, isLoop: false })
    if (next !== '(') return at + 1
    const end = this.#text[at + 2] === '(' ? this.#endOfArithmetic(at + 3) : -1
    for (let place = at + 3; place < end; place++) {
      if (this.#text[place] !== '$') continue
      if (this.#text[place + 1] === '$') place++
      else if (LONE.test(this.#text[place + 1] ?? ' ')) {
        this.found.push({ start: place, end: place + 1, isLoop: false })
      }
    }
    return end === -1 ? this.commands(at + 2, ')') : end + 2
  }

  #afterDouble(from: number): number {
    let at = from
    while (at < this.#text.length && !this.isTooDeep) {
      const char = this.#text[at]
      if (char === '"') return at + 1
      at = char === '\\' || char === '`' || (char === '$' && this.#text[at + 1] !== "'") ? this.#quoted(at) : at + 1
    }
    return at
  }

  #afterBraces(from: number): number {
    if (++this.#level > MOST_LEVELS) this.isTooDeep = true
    let at = from
    while (at < this.#text.length && !this.isTooDeep && this.#text[at] !== '}') {
      at = /["'`$\\]/.test(this.#text[at] ?? '') ? this.#quoted(at) : at + 1
    }
    this.#level--
    return at + 1
  }

  /** The position of the two closing parentheses; -1 if they are not adjacent. */
  #endOfArithmetic(from: number): number {
    const end = this.#closingTwo(from)
    this.#places -= (end === -1 ? this.#text.length : end) - from
    if (this.#places < 0) this.isTooDeep = true
    return end
  }

  #closingTwo(from: number): number {
    let depth = 0
    let at = from
    while (at < this.#text.length) {
      const char = this.#text[at] ?? ''
      if (char === '(') depth++
      else if (char === ')') {
        if (depth === 0) return this.#text[at + 1] === ')' ? at : -1
        depth--
      }
      if (char === '\\') at += 2
      else if (char === "'") at = this.#until("'", at + 1) + 1
      else if (char === '"' || char === '`') at = this.#afterEscaped(char, at + 1)
      else at++
    }
    return -1
  }

  #until(char: string, from: number): number {
    const found = this.#text.indexOf(char, from)
    return found === -1 ? this.#text.length : found
  }

  #afterEscaped(char: string, from: number): number {
    let at = from
    while (at < this.#text.length && this.#text[at] !== char) at += this.#text[at] === '\\' ? 2 : 1
    return at + 1
  }

  /** Bodies of here-documents contain no relevant commands. */
  #afterHeredocs({ at, heredocs }: State): number {
    let line = at + 1
    for (const { end, isIndented } of heredocs.splice(0)) {
      while (line < this.#text.length) {
        const next = this.#until('\n', line)
        const text = this.#text.slice(line, next)
        line = next + 1
        if ((isIndented ? text.replace(/^\t+/, '') : text) === end) break
      }
    }
    return line
  }
}

type State = {
  at: number
  /** Whether a command may start here. */
  mayBegin: boolean
  isLoop: boolean
  /** Within `[[ … ]]`. */
  isTest: boolean
  open: ('(' | 'list' | 'case')[]
  heredocs: { end: string; isIndented: boolean }[]
}

/** For a separate `!`: in a test after `==`, elsewhere where no command may start, such as after `;;`. */
function isPattern(text: string, { at, mayBegin, isTest, open }: State): boolean {
  const before = text.slice(Math.max(0, at - MOST_BLANKS), at)
  if (isTest) return /[!=]=?\s+$/.test(before)
  return !mayBegin || (open.at(-1) === 'case' && /;[;&]\s*$/.test(before))
}
