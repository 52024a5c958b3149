// What is added to a script between parsing and running it. The interpreter runs to the end without giving way, answers
// with two separate texts, and forgets everything when a script is stopped. So the script itself is made to
//   - pause now and then in each loop and each function that calls others (`__pause`),
//   - send what a terminal would show to a device as it happens, in its order, and
//   - run script files by a command of ours (`__run`), as the interpreter would run them without any of this, and
//   - report folder and variables after each of its statements (`__mark`).
// The additions leave `$?`, `$_` and `PIPESTATUS` as they found them.

import type { Bash } from 'just-bash/browser'
import { GUARDED_PATH } from './bash-fs.ts'
import { TERMINAL_DEVICE } from './system-files.ts'

type Plugin = Parameters<Bash['registerTransformPlugin']>[0]
export type Script = Parameters<Plugin['transform']>[0]['ast']
type Statement = Script['statements'][number]
type Command = Statement['pipelines'][number]['commands'][number]
type SimpleCommand = Extract<Command, { type: 'SimpleCommand' }>
type Redirections = SimpleCommand['redirections']

export const PAUSE_COMMAND = '__pause'
export const MARK_COMMAND = '__mark'
/** Runs the file that is its first argument. */
export const RUN_COMMAND = '__run'
/** Counts loop rounds, so that only some of them pay for a command. */
export const PAUSE_COUNTER = '__pauses'

// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell that fills it in.
const STATE = '"$?" "${PIPESTATUS[@]}" "$_"'

/** Statements to insert, parsed once: `parse` is the interpreter's own parser. */
export interface Additions {
  pauseInLoop: Statement
  pauseKeepingState: Statement
  mark: Statement
  markUnderErrexit: Statement
  toTerminal: Redirections
  errorsToTerminal: Redirections
}

export function additions(parse: (text: string) => Script): Additions {
  const statement = (text: string): Statement => {
    const [parsed] = parse(text).statements
    if (!parsed) throw new Error(`no statement in: ${text}`)
    return parsed
  }
  const redirections = (text: string): Redirections => {
    const command = statement(text).pipelines[0]?.commands[0]
    return command?.type === 'SimpleCommand' ? command.redirections : []
  }
  // A failing status in front of `&&` never ends a script under `set -e`, and a good one is what the second half keeps.
  const keeping = (command: string) => `${command} ${STATE} && ${command} ${STATE}`
  return {
    pauseInLoop: statement(`(( ++${PAUSE_COUNTER} % 64 )) || ${PAUSE_COMMAND} 0`),
    pauseKeepingState: statement(keeping(PAUSE_COMMAND)),
    mark: statement(`${MARK_COMMAND} ${STATE}`),
    markUnderErrexit: statement(keeping(MARK_COMMAND)),
    toTerminal: redirections(`: &>>${TERMINAL_DEVICE}`),
    errorsToTerminal: redirections(`: 2>>${TERMINAL_DEVICE}`),
  }
}

/** For every script, those that other commands run included. */
export function addPauses(script: Script, added: Additions): void {
  const nodes = [...nodesOf(script)]
  const functions = new Set(nodes.filter(isFunction).map(({ name }) => name))
  for (const node of nodes) {
    // What the status was matters at the start of these bodies: the failed condition's, and the caller's.
    if (node.type === 'Until') prepend(node, added.pauseKeepingState)
    else if (node.type === 'While' || node.type === 'For' || node.type === 'CStyleFor') prepend(node, added.pauseInLoop)
    else if (isFunction(node) && callsAny(node, functions)) prepend(node.body, added.pauseKeepingState)
  }
}

/** For the script itself: its commands write to the terminal, wherever their output is not caught by something. */
export function sendToTerminal(script: Script, added: Additions): void {
  if (![...nodesOf(script)].some(redirectsTheShell)) sendStatements(script.statements, added)
}

/**
 * For every script: a file that cannot be opened for writing makes the interpreter throw, and so ends the script. Where
 * the file tree knows that a path is to be opened for that, it can answer so that the command fails and no more.
 */
export function guardRedirections(script: Script): void {
  for (const node of nodesOf(script)) {
    if (!('redirections' in node) || !Array.isArray(node.redirections)) continue
    for (const redirection of node.redirections as Redirections) guard(redirection)
  }
}

function guard({ operator, target }: Redirections[number]): void {
  if (!WRITES.has(operator) || target.type !== 'Word' || !target.parts.every(({ type }) => PLAIN_PARTS.has(type)))
    return
  const [first] = target.parts
  // Devices are known by their names.
  if (first?.type === 'Literal' && first.value.startsWith('/dev/')) return
  target.parts.unshift({ type: 'Literal', value: GUARDED_PATH })
}

/** For every script: `./script` becomes `__run ./script`. */
export function runFilesOurselves(script: Script): void {
  for (const node of nodesOf(script)) {
    if (!isSimple(node) || node.name === null || !/^(?!\/bin\/|\/usr\/bin\/).*\//.test(literalName(node) ?? ''))
      continue
    node.args.unshift(node.name)
    node.name = { type: 'Word', parts: [{ type: 'Literal', value: RUN_COMMAND }] }
  }
}

const WRITES: ReadonlySet<string> = new Set(['>', '>>', '>|', '&>', '&>>'])
/** A pattern is matched against names, which have no such prefix; a process substitution is not a name at all. */
const PLAIN_PARTS: ReadonlySet<string> = new Set([
  ...['Literal', 'SingleQuoted', 'DoubleQuoted', 'Escaped', 'TildeExpansion'],
  ...['ParameterExpansion', 'CommandSubstitution', 'ArithmeticExpansion'],
])

export function addMarks(script: Script, added: Additions, errexit: boolean): void {
  const mark = errexit ? added.markUnderErrexit : added.mark
  script.statements = script.statements.flatMap((statement) => [statement, mark])
}

function sendStatements(statements: Statement[], added: Additions): void {
  for (const { pipelines } of statements) {
    for (const { commands, pipeStderr } of pipelines) {
      commands.forEach((command, i) => {
        if (i === commands.length - 1) sendCommand(command, added)
        else if (command.type === 'SimpleCommand' && !pipeStderr?.[i]) redirect(command, added.errorsToTerminal)
      })
    }
  }
}

function sendCommand(command: Command, added: Additions): void {
  switch (command.type) {
    case 'SimpleCommand':
      redirect(command, added.toTerminal)
      break
    case 'FunctionDef':
      // Who calls it decides where its output goes; a call is a command of its own.
      break
    case 'ArithmeticCommand':
    case 'ConditionalCommand':
      break
    default:
      if (command.redirections.every(onlyReads)) sendBodies(command, added)
      else command.redirections = [...added.toTerminal, ...command.redirections]
  }
}

/** In front of the command's own redirections, which then have the last word. */
function redirect(command: SimpleCommand, redirections: Redirections): void {
  const name = literalName(command)
  // A bare assignment has its status from the substitution in it, and `exec` would redirect the shell itself.
  if (command.name === null || name === 'exec' || CONTROL.has(name ?? '')) return
  command.redirections = [...redirections, ...command.redirections]
}

/** They leave the command by other ways than its end, and show nothing. */
const CONTROL: ReadonlySet<string> = new Set(['break', 'continue', 'exit', 'return', ':', 'true', 'false'])

type Compound = Exclude<Command, { type: 'SimpleCommand' | 'FunctionDef' | 'ArithmeticCommand' | 'ConditionalCommand' }>

function sendBodies(command: Compound, added: Additions): void {
  for (const body of bodiesOf(command)) sendStatements(body, added)
}

function bodiesOf(command: Compound): Statement[][] {
  switch (command.type) {
    case 'If':
      return [...command.clauses.flatMap(({ condition, body }) => [condition, body]), command.elseBody ?? []]
    case 'While':
    case 'Until':
      return [command.condition, command.body]
    case 'Case':
      return command.items.map(({ body }) => body)
    default:
      return [command.body]
  }
}

function onlyReads({ operator }: Redirections[number]): boolean {
  return operator === '<' || operator === '<<' || operator === '<<-' || operator === '<<<'
}

/** `exec >file` and its like: from there on, output is where the script wants it. */
function redirectsTheShell(node: Node): boolean {
  return (
    isSimple(node) && literalName(node) === 'exec' && node.args.length === 0 && node.redirections.some(writesOutput)
  )
}

function writesOutput(redirection: Redirections[number]): boolean {
  return !onlyReads(redirection) && (redirection.fd ?? 1) <= 2 && redirection.fdVariable === undefined
}

function literalName({ name }: SimpleCommand): string | null {
  const [part, ...others] = name?.parts ?? []
  return part?.type === 'Literal' && others.length === 0 ? part.value : null
}

type Node = { type: string }
type FunctionNode = Extract<Command, { type: 'FunctionDef' }>

function isFunction(node: Node): node is FunctionNode {
  return node.type === 'FunctionDef'
}

function isSimple(node: Node): node is SimpleCommand {
  return node.type === 'SimpleCommand'
}

function callsAny(node: FunctionNode, functions: ReadonlySet<string>): boolean {
  return [...nodesOf(node.body)].some((inner) => isSimple(inner) && functions.has(literalName(inner) ?? ''))
}

/** Puts the statement first in the body, if the node has a body that is a list of statements. */
function prepend(node: Node, statement: Statement): void {
  if ('body' in node && Array.isArray(node.body)) node.body.unshift(statement)
}

/** Every node of a syntax tree, however deep: substitutions inside words too. Without recursion, as depth is a user's choice. */
function* nodesOf(root: object): Generator<Node> {
  const open: object[] = [root]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if ('type' in next && typeof next.type === 'string') yield next as Node
    for (const value of Object.values(next)) {
      if (typeof value === 'object' && value !== null) open.push(value)
    }
  }
}
