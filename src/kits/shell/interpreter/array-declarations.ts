// `local x=($(ls))`, `declare -A m=([a]='b c')`. The parser keeps such an argument as one text, which loses
// substitutions and quotes. So it is parsed again as the assignment `x=(...)`, which runs after the declaration without
// a value.

import { joinKeys } from './map-literals.ts'
import type { Command, Script, SimpleCommand, Statement, StepResult } from './shape.ts'
import { literal, type Word } from './words-alone.ts'

type Assignment = SimpleCommand['assignments'][number]
/** `texts` contains the values that are not arrays. */
type Declaration = {
  texts: SimpleCommand | null
  declare: SimpleCommand | null
  assign: SimpleCommand
  close: SimpleCommand | null
}
type Parse = (text: string) => Script

const NAMES = 'declare|typeset|local|export|readonly'
const DECLARES = new RegExp(`^(?:${NAMES})$`)
const VALUE = /^[A-Za-z_]\w*\+?=/
const ARRAY = /^([A-Za-z_]\w*)(\+?)=\(/
/** With its options and the names before the first value. */
const KEYWORD = new RegExp(`(^|[\\s;&|({!])(?:${NAMES})(?:\\s+[-+]?\\w+(?=\\s))*\\s+`, 'g')

const DECLARATIONS = new WeakMap<Command, Declaration>()

/** For a node of a script. Returns the commands in it that cannot be parsed, and the replacements for the others. */
export function readDeclarations(node: object, parse: Parse): { unread: SimpleCommand[]; read: SimpleCommand[] } {
  const unread: SimpleCommand[] = []
  const read: SimpleCommand[] = []
  if (!('type' in node) || node.type !== 'Statement' || !('pipelines' in node)) return { unread, read }
  const statement = node as Statement
  const found = commandsIn(statement).filter(({ command }) => command.type === 'SimpleCommand' && needsReading(command))
  if (found.length === 0) return { unread, read }
  const again = reparsed(statement, parse)
  for (const { command, place } of found) {
    const other = again.get(place)
    if (command.type !== 'SimpleCommand') continue
    const declaration = other?.type === 'SimpleCommand' ? declarationOf(command, other.assignments) : null
    if (declaration === null) unread.push(command)
    else {
      DECLARATIONS.set(command, declaration)
      read.push(declaration.assign)
    }
  }
  return { unread, read }
}

function commandsIn({ pipelines }: Statement): { command: Command; place: string }[] {
  return pipelines.flatMap(({ commands }, i) => commands.map((command, j) => ({ command, place: `${i}/${j}` })))
}

function needsReading({ name, args }: SimpleCommand): boolean {
  const [called] = name?.parts ?? []
  if (called?.type !== 'Literal' || !DECLARES.test(called.value)) return false
  return args.some((arg) => arrayName(arg) !== null)
}

function arrayName({ parts: [first] }: Word): string | null {
  return first?.type === 'Literal' ? (ARRAY.exec(first.value)?.[1] ?? null) : null
}

/** The same statement without the keywords, so that the following text is parsed as assignments. */
function reparsed(statement: Statement, parse: Parse): Map<string, Command> {
  const text = statement.sourceText ?? ''
  try {
    const [other] = parse(text.replace(KEYWORD, '$1')).statements
    return new Map(other ? commandsIn(other).map(({ command, place }) => [place, command]) : [])
  } catch {
    // Any error of the parser means that the text is invalid in this form.
    return new Map()
  }
}

function declarationOf(command: SimpleCommand, assignments: readonly Assignment[]): Declaration | null {
  const arrays: Assignment[] = []
  for (const name of command.args.map(arrayName)) {
    if (name === null) continue
    const assignment = assignments.find((one) => one.name === name && one.array !== null)
    if (!assignment) return null
    arrays.push({ ...assignment, array: joinKeys(assignment.array ?? []) })
  }
  const plain = { ...command, assignments: [] }
  const assign: SimpleCommand = { ...plain, name: null, args: [], assignments: arrays, redirections: [] }
  const names = arrays.map(({ name }) => literal(name))
  // The interpreter would keep the attribute after the function, which could not be called again.
  const isReadonly =
    textOf(command.name) !== 'local' &&
    (textOf(command.name) === 'readonly' || command.args.some((arg) => /^-\w*r/.test(textOf(arg))))
  const args = command.args.map((arg) => (arrayName(arg) === null ? writable(arg) : literal(arrayName(arg) ?? '')))
  const close = isReadonly ? { ...plain, name: literal('readonly'), args: names, redirections: [] } : null
  // Without the letter, the interpreter would not remove the array at the end of the function.
  const hasKind = command.args.some((arg) => /^-\w*[aA]/.test(textOf(arg))) || textOf(command.name) === 'export'
  const own = args.filter((arg) => !VALUE.test(textOf(arg)))
  const declare = { ...plain, args: hasKind ? own : [literal('-a'), ...own] }
  const isOther = (arg: Word) => VALUE.test(textOf(arg)) && arrayName(arg) === null
  const given = command.args.filter((arg) => isOther(arg) || /^[-+]/.test(textOf(arg)))
  const texts = command.args.some(isOther) ? { ...plain, args: given, redirections: [] } : null
  if (textOf(command.name) !== 'readonly') return { texts, declare, assign, close }
  const isMap = command.args.some((arg) => /^-\w*A/.test(textOf(arg)))
  const before = isMap ? { ...plain, name: literal('declare'), args: [literal('-gA'), ...names] } : null
  return { texts, declare: before, assign, close }
}

/** The options without the one that would refuse the value. */
function writable(arg: Word): Word {
  const text = textOf(arg)
  return /^-\w*r/.test(text) ? literal(text.replace('r', '') === '-' ? '--' : text.replace('r', '')) : arg
}

function textOf(word: Word | null): string {
  const [part] = word?.parts ?? []
  return part?.type === 'Literal' ? part.value : ''
}

type Run = (as: Command) => Promise<StepResult>

/** Null for a command of another kind. */
export async function runDeclaration(node: Command, run: Run): Promise<StepResult | null> {
  const declaration = DECLARATIONS.get(node)
  if (!declaration) return null
  const results: StepResult[] = []
  const steps = [declaration.declare, declaration.assign, declaration.texts, declaration.close]
  for (const step of steps) {
    if (step === null) continue
    const result = await run(step)
    results.push(result)
    // The failure of a substitution is not the status of the declaration.
    if (result.exitCode !== 0 && (step !== declaration.assign || result.stderr.startsWith('bash: '))) break
  }
  const failed = results.find(({ exitCode }, i) => exitCode !== 0 && i === results.length - 1)
  const isWhole = results.length === steps.filter(Boolean).length
  return {
    stdout: results.map(({ stdout }) => stdout).join(''),
    stderr: results.map(({ stderr }) => stderr).join(''),
    exitCode: isWhole ? 0 : (failed?.exitCode ?? 0),
  }
}
