// Judges a simple command for the possible values of its variables, and the substitutions inside its words.

import { type Bench, Findings, type JudgeContext } from './bench.ts'
import { INHERITED, type Input, NO_OUTPUT, type Output, SOME_OUTPUT, together } from './call.ts'
import { CallJudge } from './call-judge.ts'
import type { Fact } from './facts.ts'
import { isGitInternal, isOutside, isRunByItself, isSecretFile, isStartupFile, isToldLater } from './paths.ts'
import { inputOf, judgeWrites } from './redirections.ts'
import { MAX_VARIANTS, type Variables } from './variables.ts'
import {
  DEFAULTS,
  type Expansion,
  fieldsOf,
  type Redirection,
  type SimpleCommand,
  type Statement,
  textOf,
  type ValueOf,
  type Word,
} from './words.ts'

/** They assign their input to variables. */
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
    return this.withEach((valueIn) => fieldsOf(word, valueIn)).flat()
  }

  #texts(word: Word): Set<string> {
    return new Set(this.withEach((valueIn) => textOf(word, valueIn)))
  }

  /** The results of `make` for the first values of the variables that it reads, for the second values, and so on. */
  protected withEach<T>(make: (valueIn: ValueOf) => T): T[] {
    const made: T[] = []
    let count = 1
    for (let at = 0; at < Math.min(count, MAX_VARIANTS); at++) {
      const valueIn = (name: string) => {
        const values = this.findings.variables.of(name)
        count = Math.max(count, values.length)
        return values[at % values.length] ?? null
      }
      made.push(make(valueIn))
    }
    return made
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
    // `exec` alone empties its files at once; later commands may write to them.
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

  /** The values of variables in one variant; in the first variant all are unknown. */
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
    const [variable = ''] = name.split('[', 1)
    if (name.includes('[')) this.calls.index(name)
    if (array !== null) {
      const lists = this.withEach((valueIn) => array.flatMap((word) => fieldsOf(word, valueIn)))
      for (const items of lists) addItems(this.findings.variables, variable, items)
      return
    }
    const known = append ? this.findings.variables.of(variable) : []
    for (const text of value === null ? [''] : this.#texts(value)) {
      this.calls.indexIn(text)
      for (const before of known.length === 0 ? [''] : known) this.calls.assigned(variable, `${before}${text}`)
    }
  }

  /** Judges the contents of words, redirections and expressions: substitutions, and the variables that they use. */
  protected inside(nodes: unknown): void {
    for (const found of partsInside(nodes)) {
      this.findings.spend()
      if (found.kind === 'statements') {
        const input: Input = found.isFed ? { kind: 'pipe', from: SOME_OUTPUT } : INHERITED
        this.findings.nested('', () => this.findings.folders.apart(() => this.statements(found.statements, input)))
      } else if (found.kind === 'script') this.script(found.text, INHERITED)
      else if (found.kind === 'text') this.calls.expandedText(found.text)
      else if (found.kind === 'index') this.calls.index(found.text)
      else if (found.kind === 'expression') for (const text of this.#texts(found.word)) this.calls.expression(text)
      else if (found.kind === 'assignment')
        for (const text of this.#texts(found.word)) this.calls.assigned(found.name, text)
      else if (found.kind === 'arithmetic') this.calls.arithmetic(found.name)
      else if (found.kind === 'variable') this.calls.variable(found.name)
      else this.meet(found.fact)
    }
  }
}

const DISK = /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|loop|dm-|md|mem|kmem|port)/

function addItems(variables: Variables, variable: string, items: readonly string[]): void {
  for (const all of ['@', '*']) variables.add(`${variable}[${all}]`, items.join(' '))
  for (const [at, item] of items.slice(0, MAX_ITEMS).entries()) variables.add(`${variable}[${at}]`, item)
  variables.add(variable, items[0] ?? '')
}

/** Judges a file that is written with any contents. */
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

// What the shell evaluates inside words, redirections and expressions: substitutions, and the variables they use.

export type EvaluatedPart =
  /** A substitution. `isFed`: something is written into it, as into `>(…)`. */
  | { kind: 'statements'; statements: readonly Statement[]; isFed: boolean }
  /** The text of a substitution that is parsed only when it runs. */
  | { kind: 'script'; text: string }
  /** A text that is expanded a second time: an index, the inside of braces in arithmetic. */
  | { kind: 'text'; text: string }
  /** A name with an index, which is an expression. */
  | { kind: 'index'; text: string }
  /** A word whose text is evaluated as an expression. */
  | { kind: 'expression'; word: Word }
  | { kind: 'assignment'; name: string; word: Word }
  | { kind: 'variable'; name: string }
  /** A variable whose value is evaluated as an expression. */
  | { kind: 'arithmetic'; name: string }
  | { kind: 'fact'; fact: Fact }

/** Without recursion, because an attacker could choose the depth. In the order of the text. */
function* partsInside(root: unknown): Generator<EvaluatedPart> {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const node = open.pop()
    if (typeof node !== 'object' || node === null) continue
    if (!('type' in node)) {
      pushAll(open, Object.values(node))
      continue
    }
    yield* insideOf(node as Node)
    if (!CLOSED.has(String(node.type))) pushAll(open, Object.values(node))
  }
}

function pushAll(open: unknown[], values: unknown[]): void {
  for (let at = values.length - 1; at >= 0; at--) open.push(values[at])
}

/** The functions that a script defines, at any depth. */
export function functionsIn(root: unknown): Set<string> {
  const names = new Set<string>()
  const open: unknown[] = [root]
  while (open.length > 0) {
    const node = open.pop()
    if (typeof node !== 'object' || node === null) continue
    if ('type' in node && node.type === 'FunctionDef' && 'name' in node) names.add(String(node.name))
    for (const value of Object.values(node)) if (typeof value === 'object') open.push(value)
  }
  return names
}

type Node = { readonly type: string }

/** Their contents are judged as a separate script. */
const CLOSED: ReadonlySet<string> = new Set(['CommandSubstitution', 'ProcessSubstitution', 'ArithCommandSubst'])

function* insideOf(node: Node): Generator<EvaluatedPart> {
  switch (node.type) {
    case 'CommandSubstitution':
    case 'ProcessSubstitution': {
      const { body, direction } = node as unknown as { body: { statements: Statement[] }; direction?: string }
      yield { kind: 'statements', statements: body.statements, isFed: direction === 'output' }
      return
    }
    case 'ArithCommandSubst':
      yield { kind: 'script', text: String((node as unknown as { command: unknown }).command) }
      return
    case 'ParameterExpansion':
      yield* insideExpansion(node as unknown as Expansion)
      return
    case 'ArithVariable':
    case 'ArithArrayElement':
    case 'ArithAssignment': {
      yield* insideArithmetic(node)
      return
    }
    case 'Glob': {
      const { pattern } = node as unknown as { pattern: string }
      // For a substitution inside brackets the parser only keeps a placeholder.
      if (/\[\w*(Substitution|Expansion)\]/.test(pattern)) yield { kind: 'fact', fact: 'not-parsed' }
      if (/[$`]/.test(pattern)) yield { kind: 'text', text: pattern }
      return
    }
    case 'CondBinary': {
      yield* insideComparison(node as unknown as { operator: string; left: Word; right: Word })
      return
    }
    case 'CondUnary': {
      const { operator, operand } = node as unknown as { operator: string; operand: Word }
      if (operator === '-v' || operator === '-R') yield { kind: 'expression', word: operand }
      return
    }
    default:
      if (node.type.startsWith('Arith')) yield* texts(node)
  }
}

function* insideArithmetic(node: Node): Generator<EvaluatedPart> {
  const { name, array, variable } = node as unknown as Readonly<Record<string, unknown>>
  const [named = ''] = [name, array, variable].filter((text) => typeof text === 'string')
  yield { kind: 'variable', name: named }
  yield { kind: 'arithmetic', name: named }
  yield* texts(node)
}

/** `[[ ]]` evaluates the numbers that it compares as expressions. */
function* insideComparison({
  operator,
  left,
  right,
}: {
  operator: string
  left: Word
  right: Word
}): Generator<EvaluatedPart> {
  if (!/^-(eq|ne|lt|le|gt|ge)$/.test(operator)) return
  for (const found of partsInside([left, right]))
    if (found.kind === 'variable') yield { kind: 'arithmetic', name: found.name }
  for (const word of [left, right]) yield { kind: 'expression', word }
}

function* insideExpansion({ parameter, operation }: Expansion): Generator<EvaluatedPart> {
  const [name = ''] = parameter.split('[', 1)
  yield { kind: 'variable', name }
  if (parameter.includes('[')) yield { kind: 'index', text: parameter }
  if (operation?.type === 'AssignDefault' && /^\w+$/.test(parameter)) {
    yield { kind: 'assignment', name: parameter, word: operation.word }
  }
  if (operation?.type === 'Transform' && operation.operator === 'P') {
    yield { kind: 'fact', fact: 'indirect-variable' }
    yield { kind: 'arithmetic', name }
  }
  if (operation?.type === 'Indirection') yield { kind: 'fact', fact: 'indirect-variable' }
  if (operation?.type === 'BadSubstitution') yield { kind: 'text', text: operation.text }
}

/** Parts of an expression that the interpreter keeps as text. */
const TEXT_FIELDS = ['content', 'baseExpr', 'stringKey', 'prefix', 'originalText'] as const

function* texts(node: Node): Generator<EvaluatedPart> {
  const fields = node as unknown as Readonly<Record<string, unknown>>
  for (const field of TEXT_FIELDS) {
    const text = fields[field]
    if (typeof text !== 'string') continue
    // The text between the braces of `${…}`.
    if (field === 'content') yield { kind: 'text', text: `\${${text}}` }
    // Parsed parts have nodes of their own; the shell expands unparsed parts all the same when the script runs.
    else if (field === 'originalText' ? isUnread(text, node) : /[$`]/.test(text)) yield { kind: 'text', text }
  }
}

/** Whether the text of an expression contains substitutions that are missing in the parser's tree. */
function isUnread(text: string, node: Node): boolean {
  if (text.includes('`')) return true
  if (!text.includes('$(') && !text.includes('${')) return false
  let rest = text
  const open: unknown[] = [(node as unknown as { expression?: unknown }).expression]
  while (open.length > 0) {
    const part = open.pop()
    if (typeof part !== 'object' || part === null) continue
    const { command, content, baseExpr, prefix } = part as Readonly<Record<string, unknown>>
    if (typeof command === 'string') rest = rest.replace(`$(${command})`, '')
    for (const braced of [content, baseExpr, prefix]) {
      if (typeof braced === 'string') rest = rest.replace(`\${${braced}}`, '')
    }
    pushAll(open, Object.values(part))
  }
  return /\$\((?!\()|\$\{/.test(rest)
}
