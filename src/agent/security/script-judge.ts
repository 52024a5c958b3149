// Goes through a parsed script: every command in it is judged as if it ran, in whatever branch, function or substitution
// it stands.

import type { ParseShell } from '../../workspace/shell-parser.ts'
import { type Bench, Findings, TooMuch } from './bench.ts'
import { INHERITED, type Input, MAX_WORDS_OF_PIPE, NO_OUTPUT, type Output, SOME_OUTPUT, together } from './call.ts'
import { CallJudge } from './call-judge.ts'
import { functionsIn, partsInside } from './expansions.ts'
import type { Fact } from './facts.ts'
import { isUnknown } from './marks.ts'
import { readScript } from './pieces.ts'
import { inputOf, judgeWrites } from './redirections.ts'
import { RISK } from './risk.ts'
import type { Surroundings, Verdict } from './verdict.ts'
import {
  type Command,
  DEFAULTS,
  fieldsOf,
  type Redirection,
  type SimpleCommand,
  type Statement,
  textOf,
  type ValueOf,
  type Word,
} from './words.ts'
import { judgeWrite } from './writes.ts'

/** How often a command is judged with other values of its variables. */
const MAX_VARIANTS = 6

/** They give what they read to variables. */
const READS_NAMES: ReadonlySet<string> = new Set(['read', 'mapfile', 'readarray'])

const NO_VALUES: ValueOf = () => null

type Compound = Exclude<Command, { type: 'SimpleCommand' | 'FunctionDef' | 'Subshell' | 'Group' }>
type Assignment = SimpleCommand['assignments'][number]

export class ScriptJudge implements Bench {
  readonly findings: Findings
  readonly #parse: ParseShell
  readonly #calls: CallJudge

  constructor(parse: ParseShell, around: Surroundings) {
    this.findings = new Findings(around)
    this.#parse = parse
    this.#calls = new CallJudge(this)
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

  meet(fact: Fact): void {
    this.findings.meet(fact)
  }

  script(text: string, input: Input): Output {
    return this.findings.nested(text, () => this.#text(text, input))
  }

  words(words: readonly string[], input: Input): Output {
    this.findings.spend()
    return this.#calls.judge(words, input)
  }

  isLowScript(text: string): boolean {
    if (isUnknown(text)) return false
    return this.findings.nested(text, () => {
      const apart = new ScriptJudge(this.#parse, this.findings.around)
      return apart.judge(text).risk === RISK.low
    })
  }

  write(path: string): void {
    judgeWrite(path, this)
  }

  assign(name: string, value: string): void {
    this.#calls.assigned(name, value)
  }

  assignUnknown(name: string): void {
    this.#calls.assignedUnknown(name)
  }

  expand(text: string): void {
    this.#calls.expandedText(text)
  }

  arithmetic(name: string): void {
    this.#calls.arithmetic(name)
  }

  #text(text: string, input: Input): Output {
    const { script, parts } = readScript(text, this.#parse, this.findings)
    if (script !== null) {
      // A function may be used before the text comes to it.
      for (const name of functionsIn(script)) this.findings.functions.add(name)
      return this.#statements(script.statements, input)
    }
    this.meet('not-parsed')
    for (const { statements } of parts) this.#statements(statements, { kind: 'pipe', from: SOME_OUTPUT })
    return SOME_OUTPUT
  }

  #statements(statements: readonly Statement[], input: Input): Output {
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
        return this.#simple(command, input)
      case 'FunctionDef':
        // Whoever calls it may give it input.
        this.findings.folders.maybe(() =>
          this.#redirected(command.redirections, { kind: 'pipe', from: SOME_OUTPUT }, (given) =>
            this.#command(command.body, given),
          ),
        )
        return NO_OUTPUT
      case 'Subshell':
        return this.findings.folders.apart(() =>
          this.#redirected(command.redirections, input, (given) => this.#statements(command.body, given)),
        )
      case 'Group':
        return this.#redirected(command.redirections, input, (given) => this.#statements(command.body, given))
      default:
        return this.findings.folders.maybe(() =>
          this.#redirected(command.redirections, input, (given) => this.#compound(command, given)),
        )
    }
  }

  #redirected(redirections: readonly Redirection[], input: Input, run: (input: Input) => Output): Output {
    this.#inside(redirections)
    const given = inputOf(redirections, (word) => textOf(word, NO_VALUES)) ?? input
    const output = run(given)
    this.#writes(redirections, { output, reads: [], isShell: false })
    return output
  }

  #compound(command: Compound, input: Input): Output {
    switch (command.type) {
      case 'If': {
        const bodies = command.clauses.flatMap(({ condition, body }) => [condition, body])
        return together([...bodies, command.elseBody ?? []].map((body) => this.#statements(body, input)))
      }
      case 'For':
        this.#inside(command.words ?? [])
        for (const word of command.words ?? []) this.#loopValues(command.variable, word)
        return this.#statements(command.body, input)
      case 'CStyleFor':
        this.#inside([command.init, command.condition, command.update])
        return this.#statements(command.body, input)
      case 'While':
      case 'Until':
        return together([this.#statements(command.condition, input), this.#statements(command.body, input)])
      case 'Case':
        this.#inside([command.word, ...command.items.flatMap(({ patterns }) => patterns)])
        return together(command.items.map(({ body }) => this.#statements(body, input)))
      default:
        this.#inside([command.expression])
        return NO_OUTPUT
    }
  }

  #loopValues(variable: string, word: Word): void {
    for (const field of this.#fields(word)) this.#calls.assigned(variable, field)
  }

  #fields(word: Word): string[] {
    return fieldsOf(word, (name) => this.#first(name))
  }

  #first(name: string): string | null {
    return this.findings.variables.of(name)[0] ?? null
  }

  #simple(command: SimpleCommand, input: Input): Output {
    const { name, args, assignments, redirections } = command
    this.#inside([assignments.map(({ value, array }) => [value, array]), name, args, redirections])
    for (const assignment of assignments) this.#assign(assignment)
    const words = name === null ? [] : [name, ...args]
    const outputs: Output[] = []
    const variants = { count: 0 }
    for (let variant = 0; variant <= Math.min(variants.count, MAX_VARIANTS); variant++) {
      outputs.push(this.#variant(command, words, { input, valueIn: this.#valuesIn(variant, variants) }))
    }
    return together(outputs)
  }

  #variant(
    command: SimpleCommand,
    words: readonly Word[],
    { input, valueIn }: { input: Input; valueIn: ValueOf },
  ): Output {
    this.findings.spend(1 + words.length)
    const fields = words.flatMap((word) => fieldsOf(word, valueIn))
    const given = inputOf(command.redirections, (word) => textOf(word, valueIn)) ?? input
    for (const field of fields) this.#calls.indexIn(field)
    if (given.kind === 'text' && READS_NAMES.has(fields[0] ?? '')) this.#calls.indexIn(given.text)
    const output = fields.length === 0 ? NO_OUTPUT : this.#calls.judge(fields, given)
    const isShell = this.#calls.isShell(fields[0] ?? '')
    const reads = this.#calls.reads(fields, given)
    this.#writes(command.redirections, { output, reads, isShell }, valueIn)
    // `exec` alone empties its files at once, and what comes after it may write there.
    if (fields[0] === 'exec' && fields.length === 1) {
      this.#writes(command.redirections, { output: SOME_OUTPUT, reads, isShell }, valueIn)
    }
    return output
  }

  #writes(
    redirections: readonly Redirection[],
    from: { output: Output; reads: readonly string[]; isShell: boolean },
    valueIn: ValueOf = NO_VALUES,
  ): void {
    judgeWrites(redirections, { ...from, textOf: (word) => textOf(word, valueIn) }, this)
  }

  /** The values of variables in one variant; in the first one nothing is known. */
  #valuesIn(variant: number, variants: { count: number }): ValueOf {
    return (name) => {
      if (name === DEFAULTS) {
        variants.count = Math.max(variants.count, 1)
        return variant === 0 ? null : ''
      }
      const values = this.findings.variables.of(name)
      variants.count = Math.max(variants.count, values.length)
      return variant === 0 || values.length === 0 ? null : (values[(variant - 1) % values.length] ?? null)
    }
  }

  #assign({ name, value, array, append }: Assignment): void {
    const { variables } = this.findings
    const [variable = ''] = name.split('[', 1)
    if (name.includes('[')) this.#calls.index(name)
    if (array !== null) {
      const items = array.flatMap((word) => this.#fields(word))
      for (const all of ['@', '*']) variables.add(`${variable}[${all}]`, items.join(' '))
      for (const [at, item] of items.slice(0, MAX_ITEMS).entries()) variables.add(`${variable}[${at}]`, item)
      variables.add(variable, items[0] ?? '')
      return
    }
    const text = value === null ? '' : textOf(value, (known) => variables.of(known)[0] ?? null)
    this.#calls.indexIn(text)
    this.#calls.assigned(variable, append ? `${variables.of(variable)[0] ?? ''}${text}` : text)
  }

  /** Judges what stands inside words, redirections and expressions: substitutions, and the variables that they use. */
  #inside(nodes: unknown): void {
    for (const found of partsInside(nodes)) {
      this.findings.spend()
      if (found.kind === 'statements') {
        const input: Input = found.isFed ? { kind: 'pipe', from: SOME_OUTPUT } : INHERITED
        this.findings.nested('', () => this.findings.folders.apart(() => this.#statements(found.statements, input)))
      } else if (found.kind === 'script') this.script(found.text, INHERITED)
      else if (found.kind === 'text') this.#calls.expandedText(found.text)
      else if (found.kind === 'index') this.#calls.index(found.text)
      else if (found.kind === 'expression') this.#calls.expression(textOf(found.word, (name) => this.#first(name)))
      else if (found.kind === 'assignment')
        this.#calls.assigned(
          found.name,
          textOf(found.word, (name) => this.#first(name)),
        )
      else if (found.kind === 'arithmetic') this.#calls.arithmetic(found.name)
      else if (found.kind === 'variable') this.#calls.variable(found.name)
      else this.meet(found.fact)
    }
  }
}

const MAX_ITEMS = 20
