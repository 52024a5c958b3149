// Walks through a parsed script: every command in it is judged as if it ran, in whatever branch, function or
// substitution it is.

import { loadShellParser, type ParseShell, refusedScript, type Script } from '../../kits/shell/index.ts'
import { holdsHidden } from '../hidden-characters.ts'
import { type Findings, type JudgeContext, RISK, type Verdict } from './bench.ts'
import {
  INHERITED,
  type Input,
  isEmptyInput,
  MAX_WORDS_OF_PIPE,
  NO_OUTPUT,
  type Output,
  SOME_OUTPUT,
  together,
} from './call.ts'
import { inputOf } from './redirections.ts'
import { functionsIn, NO_VALUES, SimpleCommandJudge } from './simple-command-judge.ts'
import { TooMuch } from './too-much.ts'
import { type Command, isUnknown, type Redirection, type Statement, textOf, type ValueOf, type Word } from './words.ts'

type Compound = Exclude<Command, { type: 'SimpleCommand' | 'FunctionDef' | 'Subshell' | 'Group' }>

class ScriptJudge extends SimpleCommandJudge {
  readonly #parse: ParseShell

  constructor(parse: ParseShell, around: JudgeContext) {
    super(around)
    this.#parse = parse
  }

  /** The level of the whole script. Never throws. */
  judge(text: string): Verdict {
    if (holdsHidden(text)) this.meet('hidden-characters')
    try {
      this.#read(text)
    } catch (error) {
      if (!(error instanceof TooMuch) && !(error instanceof RangeError)) throw error
      this.meet('too-much')
    }
    const { level, reasons } = this.findings
    return { risk: level, reasons }
  }

  /** Judges a second time if names were used whose definition may come later in the text. */
  #read(text: string): void {
    const { folders } = this.findings
    const start = folders.now
    this.#text(text, INHERITED)
    const { variables, functions, integers, level } = this.findings
    if (level === RISK.high || variables.size + functions.size + integers.size === 0) return
    folders.goBackTo(start)
    this.#text(text, INHERITED)
  }

  script(text: string, input: Input): Output {
    return this.findings.nested(text, () => this.#text(text, input))
  }

  isLowScript(text: string): boolean {
    if (isUnknown(text)) return false
    return this.findings.nested(text, () => {
      const apart = new ScriptJudge(this.#parse, this.findings.context)
      return apart.judge(text).risk === RISK.low
    })
  }

  #text(text: string, input: Input): Output {
    const { script, parts } = readScript(text, this.#parse, this.findings)
    if (script !== null) {
      // A function may be called before its definition in the text.
      for (const name of functionsIn(script)) this.findings.functions.add(name)
      return this.statements(script.statements, input)
    }
    this.meet('not-parsed')
    for (const { statements } of parts) this.statements(statements, { kind: 'pipe', from: SOME_OUTPUT })
    return SOME_OUTPUT
  }

  protected statements(statements: readonly Statement[], input: Input): Output {
    const outputs: Output[] = []
    const { folders } = this.findings
    for (const { pipelines, deferredError, background } of statements) {
      if (deferredError !== undefined) this.meet('not-parsed')
      const before = folders.now
      for (const [at, { commands }] of pipelines.entries()) {
        const left = folders.now
        outputs.push(this.#pipeline(commands, input))
        // It is unknown whether this command is reached.
        if (at > 0 && folders.now !== left) folders.mayBeAt([...before, ...left])
      }
      if (background) folders.goBackTo(before)
    }
    return together(outputs)
  }

  #pipeline(commands: readonly Command[], input: Input): Output {
    const [only] = commands
    if (only !== undefined && commands.length === 1) return this.#command(only, input)
    return this.findings.folders.apart(() => this.#stages(commands, input))
  }

  #stages(commands: readonly Command[], input: Input): Output {
    let output = NO_OUTPUT
    let words: readonly string[] = []
    for (const [at, command] of commands.entries()) {
      const from = { isEmpty: output.isEmpty, words }
      output = this.#command(command, at === 0 ? input : { kind: 'pipe', from })
      words = [...words, ...output.words].slice(-MAX_WORDS_OF_PIPE)
    }
    return output
  }

  #command(command: Command, input: Input): Output {
    this.findings.spend()
    switch (command.type) {
      case 'SimpleCommand':
        return this.simple(command, input)
      case 'FunctionDef':
        // The caller of the function may give it input.
        this.findings.folders.maybe(() =>
          this.redirected(command.redirections, { kind: 'pipe', from: SOME_OUTPUT }, (given) =>
            this.#command(command.body, given),
          ),
        )
        return NO_OUTPUT
      case 'Subshell':
        return this.findings.folders.apart(() =>
          this.redirected(command.redirections, input, (given) => this.statements(command.body, given)),
        )
      case 'Group':
        return this.redirected(command.redirections, input, (given) => this.statements(command.body, given))
      default:
        return this.findings.folders.maybe(() =>
          this.redirected(command.redirections, input, (given) => this.#compound(command, given)),
        )
    }
  }

  protected redirected(redirections: readonly Redirection[], input: Input, run: (input: Input) => Output): Output {
    this.inside(redirections)
    const given = (valueIn: ValueOf) => inputOf(redirections, (word) => textOf(word, valueIn)) ?? input
    const inputs = [...this.withEach(given), given(NO_VALUES)]
    // The body is judged once for all files, whose names are judged below: judging nested loops for each file would
    // take too long.
    const unlike = new Map(inputs.map((one) => [one.kind === 'file' ? isEmptyInput(one) : JSON.stringify(one), one]))
    const output = together([...unlike.values()].map(run))
    const from = { output, reads: [], isShell: false }
    this.writes(redirections, from)
    this.withEach((valueIn) => this.writes(redirections, from, valueIn))
    return output
  }

  #compound(command: Compound, input: Input): Output {
    switch (command.type) {
      case 'If': {
        const bodies = command.clauses.flatMap(({ condition, body }) => [condition, body])
        return together([...bodies, command.elseBody ?? []].map((body) => this.statements(body, input)))
      }
      case 'For':
        this.inside(command.words ?? [])
        for (const word of command.words ?? []) this.#loopValues(command.variable, word)
        return this.statements(command.body, input)
      case 'CStyleFor':
        this.inside([command.init, command.condition, command.update])
        return this.statements(command.body, input)
      case 'While':
      case 'Until':
        return together([this.statements(command.condition, input), this.statements(command.body, input)])
      case 'Case':
        this.inside([command.word, ...command.items.flatMap(({ patterns }) => patterns)])
        return together(command.items.map(({ body }) => this.statements(body, input)))
      default:
        this.inside([command.expression])
        return NO_OUTPUT
    }
  }

  #loopValues(variable: string, word: Word): void {
    for (const field of this.fields(word)) this.calls.assigned(variable, field)
  }
}

// A text that does not parse as a whole may still contain commands. The interpreter accepts less than a machine's
// shell, which runs line by line until it finds an error. So the text is split wherever a command may begin.

/** Longer scripts are not parsed; scripts that agents write are much shorter. */
const MAX_SCRIPT_CHARS = 120_000
/** The most pieces of a text that only parses in pieces. */
const MAX_PIECES = 400

/** The script, or the parts of it that could be parsed. */
function readScript(
  text: string,
  parse: ParseShell,
  findings: Findings,
): { script: Script | null; parts: readonly Script[] } {
  if (text.length > MAX_SCRIPT_CHARS || refusedScript(text) !== null) throw new TooMuch('size')
  findings.spend()
  const script = parsed(text, parse, findings)
  if (script !== null) return { script, parts: [] }
  const pieces = piecesOf(text)
  if (pieces.length > MAX_PIECES) throw new TooMuch('pieces')
  const parts = pieces.map((piece) => parsed(piece, parse, findings))
  return { script, parts: parts.filter((part) => part !== null) }
}

/** Null for text that is not a script. Any exception of the parser means that it could not read the text. */
function parsed(text: string, parse: ParseShell, findings: Findings): Script | null {
  findings.spendParsing(costOf(text))
  try {
    return parse(text)
  } catch {
    return null
  }
}

const SEPARATOR = /&&|\|\||;;&?|;&|[;\n&|(){}`]/
const LEADING = /^\s*(?:(?:then|do|else|elif|if|while|until|in|time|!|coproc(?:\s+[A-Z]\w*(?=\s|$))?|\$)(?=\s|$)\s*)+/

function piecesOf(script: string): string[] {
  const text = script.replaceAll('\\\n', '')
  const whole = text
    .replace(/\bselect(?=\s+\w+(\s+in\b|\s*;))/g, 'for')
    .replace(/\bcoproc\s+([A-Za-z_]\w*\s+(?=[({]))?/g, '')
  const pieces = text.split(SEPARATOR).map((piece) => piece.replace(LEADING, ''))
  return [whole, ...text.split('\n'), ...pieces].filter((piece) => piece.trim() !== '')
}

// The risk of a shell script, from what it does when it runs: it is parsed as the interpreter parses it, and every
// command in it is judged, including commands inside wrappers.

export type JudgeScript = (script: string, context?: JudgeContext) => Verdict

/** Loads the parser, which is large; judging is then synchronous. */
export async function loadScriptJudge(): Promise<JudgeScript> {
  const parse = await loadShellParser()
  return (script, context = {}) => new ScriptJudge(parse, context).judge(script)
}

// The estimated cost of parsing a text, computed before it is parsed: for each bracket that may open a list or a
// pattern the parser scans the rest of the word, and for a pattern such as `@(` the rest of the text.

const OPENS = /[{[(]/g
const OPENS_PATTERN = /[@?*+!]\(/g
/** Texts below this cost are cheap, whatever the order of their brackets. */
const CHEAP = 100_000

/** The basic cost of each character. */
const BY_LETTER = 20

/** The parser scans nested indexes again and again. */
const BY_DEPTH = 4

/**
 * `open`: the number of unclosed indexes of the word; `deepest`: their maximum. For an index that is not closed in the
 * word the parser scans the rest of the text.
 */
type State = {
  word: number
  brackets: number
  open: number
  deepest: number
  cost: number
  quote: string
  readonly length: number
}

/** In steps of the parser; it does some ten million of them a second. */
function costOf(text: string): number {
  const brackets = text.match(OPENS)?.length ?? 0
  const patterns = text.match(OPENS_PATTERN)?.length ?? 0
  const whole = (brackets + patterns) * text.length
  const letters = text.length * BY_LETTER
  if (whole <= CHEAP) return letters + whole
  return letters + patterns * text.length + costOfWords(text)
}

/** Counts by words; quoted blanks are part of a word. Bodies of quoted heredocs are skipped. */
function costOfWords(text: string): number {
  const state: State = { word: 0, brackets: 0, open: 0, deepest: 0, cost: 0, quote: '', length: text.length }
  const ends: string[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? ''
    state.word++
    if (state.quote !== "'" && char === '\\') at++
    else if (state.quote !== '') inQuotes(state, char)
    else if (char === "'" || char === '"') state.quote = char
    else if (char === '#' && state.word === 1) at = lineEnd(text, at) - 1
    else if (char === '<' && text[at + 1] === '<') {
      const [, ...names] = HEREDOC.exec(text.slice(at, at + MAX_END)) ?? []
      const end = names.find((name) => name !== undefined)
      if (end !== undefined) ends.push(end)
    } else if (/\s/.test(char)) {
      endWord(state)
      if (char === '\n') for (const end of ends.splice(0)) at = bodyEnd(text, at, end)
    } else if (isBracket(char)) {
      state.brackets++
      if (char === '[' && state.word > 1) state.deepest = Math.max(state.deepest, ++state.open)
    } else if (char === ']') state.open--
  }
  endWord(state)
  return state.cost
}

const MAX_END = 100
const HEREDOC = /^<<-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\([\w.-]+))/

const isBracket = (char: string) => char === '{' || char === '[' || char === '('

function inQuotes(state: State, char: string): void {
  if (char === state.quote) state.quote = ''
  else if (state.quote === '"' && isBracket(char)) state.brackets++
}

function endWord(state: State): void {
  const { word, brackets, open, deepest } = state
  state.cost += word * brackets + Math.max(0, open) * state.length + (deepest ** 2 * word) / BY_DEPTH
  state.word = 0
  state.open = 0
  state.deepest = 0
  state.brackets = 0
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

/** The end of the line that closes the body; the text's end if there is none. */
function bodyEnd(text: string, from: number, end: string): number {
  const close = text.slice(from).search(new RegExp(`\\n\\t*${end.replace(/[^\w]/g, '\\$&')}(?=\\n|$)`))
  return close < 0 ? text.length : lineEnd(text, from + close + 1)
}
