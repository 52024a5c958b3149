// Goes through a parsed script: every command in it is judged as if it ran, in whatever branch, function or substitution
// it stands.

import { loadShellParser, type ParseShell, refusedScript, type Script } from '../../kits/shell/index.ts'
import { type Findings, TooMuch } from './bench.ts'
import { INHERITED, type Input, MAX_WORDS_OF_PIPE, NO_OUTPUT, type Output, SOME_OUTPUT, together } from './call.ts'
import { functionsIn } from './expansions.ts'
import { costOf } from './parse-cost.ts'
import { inputOf } from './redirections.ts'
import { NO_VALUES, SimpleCommandJudge } from './simple-command-judge.ts'
import { type JudgeContext, RISK, type Verdict } from './verdict.ts'
import { type Command, isUnknown, type Redirection, type Statement, textOf, type Word } from './words.ts'

type Compound = Exclude<Command, { type: 'SimpleCommand' | 'FunctionDef' | 'Subshell' | 'Group' }>

class ScriptJudge extends SimpleCommandJudge {
  readonly #parse: ParseShell

  constructor(parse: ParseShell, around: JudgeContext) {
    super(around)
    this.#parse = parse
  }

  /** The level of the whole script. Never throws. */
  judge(text: string): Verdict {
    try {
      this.#read(text)
    } catch (error) {
      if (!(error instanceof TooMuch) && !(error instanceof RangeError)) throw error
      this.meet('too-much')
    }
    const { level, reasons } = this.findings
    return { risk: level, reasons }
  }

  /** A second time if names were used that may only have got their meaning later in the text. */
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
      // A function may be used before the text comes to it.
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
        // Whether it comes to this one is not known.
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
        // Its caller may give it input.
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
    const given = inputOf(redirections, (word) => textOf(word, NO_VALUES)) ?? input
    const output = run(given)
    this.writes(redirections, { output, reads: [], isShell: false })
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

// A text that is no script as a whole may hold commands all the same: the interpreter reads less than a shell on a machine
// does, which runs line by line until it comes to a mistake. So the text is cut wherever a command may begin.

/** Longer scripts are not parsed: what agents write themselves is far below. */
const MAX_SCRIPT_CHARS = 120_000
/** A text of which only pieces can be parsed. */
const MAX_PIECES = 400

/** The script, or what could be parsed of it. */
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

/** Null for what is no script. Whatever the parser throws, the text could not be read by it. */
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

// The risk of a shell script, from what it does when it runs: it is parsed as the interpreter parses it, and every command
// in it is judged, through whatever runs it.

export type JudgeScript = (script: string, context?: JudgeContext) => Verdict

/** Loads the parser, which is large; judging is then synchronous. */
export async function loadScriptJudge(): Promise<JudgeScript> {
  const parse = await loadShellParser()
  return (script, context = {}) => new ScriptJudge(parse, context).judge(script)
}
