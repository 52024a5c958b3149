// Judges a simple command with the values that its variables may have, and what stands inside of its words.

import { type Bench, Findings } from './bench.ts'
import { INHERITED, type Input, NO_OUTPUT, type Output, SOME_OUTPUT, together } from './call.ts'
import { CallJudge } from './call-judge.ts'
import { partsInside } from './expansions.ts'
import type { Fact } from './facts.ts'
import { isGitInternal, isOutside, isRunByItself, isSecretFile, isStartupFile, isToldLater } from './paths.ts'
import { inputOf, judgeWrites } from './redirections.ts'
import type { JudgeContext } from './verdict.ts'
import {
  DEFAULTS,
  fieldsOf,
  type Redirection,
  type SimpleCommand,
  type Statement,
  textOf,
  type ValueOf,
  type Word,
} from './words.ts'

/** How often a command is judged with other values of its variables. */
const MAX_VARIANTS = 6

/** They give what they read to variables. */
const READS_NAMES: ReadonlySet<string> = new Set(['read', 'mapfile', 'readarray'])

export const NO_VALUES: ValueOf = () => null
const MAX_ITEMS = 20

type Assignment = SimpleCommand['assignments'][number]

export abstract class SimpleCommandJudge implements Bench {
  readonly findings: Findings
  protected readonly calls: CallJudge

  constructor(around: JudgeContext) {
    this.findings = new Findings(around)
    this.calls = new CallJudge(this)
  }

  abstract script(text: string, input: Input): Output
  abstract isLowScript(text: string): boolean
  protected abstract statements(statements: readonly Statement[], input: Input): Output

  meet(fact: Fact): void {
    this.findings.meet(fact)
  }

  words(words: readonly string[], input: Input): Output {
    this.findings.spend()
    return this.calls.judge(words, input)
  }

  write(path: string): void {
    judgeWrite(path, this)
  }

  assign(name: string, value: string): void {
    this.calls.assigned(name, value)
  }

  assignUnknown(name: string): void {
    this.calls.assignedUnknown(name)
  }

  expand(text: string): void {
    this.calls.expandedText(text)
  }

  arithmetic(name: string): void {
    this.calls.arithmetic(name)
  }

  protected fields(word: Word): string[] {
    return fieldsOf(word, (name) => this.#first(name))
  }

  #first(name: string): string | null {
    return this.findings.variables.of(name)[0] ?? null
  }

  protected simple(command: SimpleCommand, input: Input): Output {
    const { name, args, assignments, redirections } = command
    this.inside([assignments.map(({ value, array }) => [value, array]), name, args, redirections])
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
    for (const field of fields) this.calls.indexIn(field)
    if (given.kind === 'text' && READS_NAMES.has(fields[0] ?? '')) this.calls.indexIn(given.text)
    const output = fields.length === 0 ? NO_OUTPUT : this.calls.judge(fields, given)
    const isShell = this.calls.isShell(fields[0] ?? '')
    const reads = this.calls.reads(fields, given)
    this.writes(command.redirections, { output, reads, isShell }, valueIn)
    // `exec` alone empties its files at once, and what comes after it may write there.
    if (fields[0] === 'exec' && fields.length === 1) {
      this.writes(command.redirections, { output: SOME_OUTPUT, reads, isShell }, valueIn)
    }
    return output
  }

  protected writes(
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
    if (name.includes('[')) this.calls.index(name)
    if (array !== null) {
      const items = array.flatMap((word) => this.fields(word))
      for (const all of ['@', '*']) variables.add(`${variable}[${all}]`, items.join(' '))
      for (const [at, item] of items.slice(0, MAX_ITEMS).entries()) variables.add(`${variable}[${at}]`, item)
      variables.add(variable, items[0] ?? '')
      return
    }
    const text = value === null ? '' : textOf(value, (known) => variables.of(known)[0] ?? null)
    this.calls.indexIn(text)
    this.calls.assigned(variable, append ? `${variables.of(variable)[0] ?? ''}${text}` : text)
  }

  /** Judges what stands inside words, redirections and expressions: substitutions, and the variables that they use. */
  protected inside(nodes: unknown): void {
    for (const found of partsInside(nodes)) {
      this.findings.spend()
      if (found.kind === 'statements') {
        const input: Input = found.isFed ? { kind: 'pipe', from: SOME_OUTPUT } : INHERITED
        this.findings.nested('', () => this.findings.folders.apart(() => this.statements(found.statements, input)))
      } else if (found.kind === 'script') this.script(found.text, INHERITED)
      else if (found.kind === 'text') this.calls.expandedText(found.text)
      else if (found.kind === 'index') this.calls.index(found.text)
      else if (found.kind === 'expression') this.calls.expression(textOf(found.word, (name) => this.#first(name)))
      else if (found.kind === 'assignment')
        this.calls.assigned(
          found.name,
          textOf(found.word, (name) => this.#first(name)),
        )
      else if (found.kind === 'arithmetic') this.calls.arithmetic(found.name)
      else if (found.kind === 'variable') this.calls.variable(found.name)
      else this.meet(found.fact)
    }
  }
}

const DISK = /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|loop|dm-|md|mem|kmem|port)/

/** A file that is written, whatever with. */
function judgeWrite(path: string, bench: Bench): void {
  for (const place of bench.findings.folders.placesOf(path)) judgePlace(place, bench)
}

function judgePlace(path: string, bench: Bench): void {
  if (isGitInternal(path)) bench.meet('git-internals')
  if (isRunByItself(path)) bench.meet('runs-by-itself')
  else if (isToldLater(path)) bench.meet('told-later')
  if (isSecretFile(path)) bench.meet('secret-file')
  if (DISK.test(path)) bench.meet('destroys-device')
  else if (isStartupFile(path)) bench.meet('startup-file')
  else if (isOutside(path)) bench.meet('outside-file')
}
