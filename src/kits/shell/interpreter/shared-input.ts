// The standard input shared by commands: input that one has read is not available to the next. The interpreter stores
// the rest (`groupStdin`), but only `read` consumes it; it treats an empty input as missing and uses an outer one; and
// it passes piped input only to some compound commands.

import type { Position, Watched } from './position.ts'
import type { Command, CommandCall, Redirection, ShellVariables, SimpleCommand, StepResult } from './shape.ts'
import { writtenText } from './words-alone.ts'

/** They pass their input to an inner shell, which reports how much it has read. */
const HANDING_ON: ReadonlySet<string> = new Set(['bash', 'sh', 'timeout', 'env', 'nice', 'nohup', 'setsid', 'stdbuf'])
/** The interpreter does not pass piped input to them. */
const UNTOLD: ReadonlySet<string> = new Set(['If', 'For', 'CStyleFor', 'Case'])
const STANDARD = 0
const STANDARD_NAME = /^\/dev\/stdin$|^\/(?:dev|proc\/self)\/fd\/0$/
/** The interpreter's marker of a descriptor that is a copy of the standard input. */
const SAVED_STANDARD = '__dupin__:0'

type Run = (call: CommandCall) => Promise<StepResult>

/** A redirection of the standard input to itself has no effect, but would be empty for a compound command. */
export function withoutSelfInput(node: object): void {
  if (!('redirections' in node) || !Array.isArray(node.redirections)) return
  const redirections = node.redirections as Redirection[]
  const isSelf = (one: Redirection) =>
    isOfInput(one) &&
    (one.operator === '<&' ? targetOf(one) === '0' : one.operator === '<' && STANDARD_NAME.test(targetOf(one)))
  if (redirections.some(isSelf)) node.redirections = redirections.filter((one) => !isSelf(one))
}

const isOfInput = ({ operator, fd, fdVariable }: Redirection): boolean =>
  operator.startsWith('<') && !fdVariable && (fd ?? STANDARD) === STANDARD

const targetOf = ({ target }: Redirection): string => ('parts' in target ? target.parts.map(writtenText).join('') : '')

/** Called before a command runs: null if it has no input redirection. */
export function saidInput(node: Command): 'file' | 'other' | null {
  if (node.type !== 'SimpleCommand') return null
  const last = node.redirections.findLast(isOfInput)
  if (!last) return null
  return last.operator === '<' && !isMade(last) ? 'file' : 'other'
}

/** A device or another command's output is not a file. */
function isMade({ target }: Redirection): boolean {
  if (!('parts' in target)) return true
  return (
    target.parts.some(({ type }) => type === 'ProcessSubstitution') ||
    target.parts.map(writtenText).join('').startsWith('/dev/')
  )
}

/** For a compound command at the end of a pipe. */
export async function withPipedInput(
  { ctx: { state } }: Watched,
  { node, stdin }: { node: Command; stdin: string },
  run: () => Promise<StepResult>,
): Promise<StepResult> {
  if (stdin === '' || !UNTOLD.has(node.type)) return run()
  return withInput(state, stdin, run)
}

async function withInput<T>(state: ShellVariables, input: string, run: () => Promise<T>): Promise<T> {
  const { groupStdin, groupStdinSourceFd } = state
  setInput(state, input)
  try {
    return await run()
  } finally {
    setInput(state, groupStdin, groupStdinSourceFd)
  }
}

function setInput(state: ShellVariables, input: string | undefined, descriptor?: number | undefined): void {
  // Both are removed instead of set to undefined, like in the interpreter.
  if (input === undefined) delete state.groupStdin
  else state.groupStdin = input
  if (descriptor === undefined) delete state.groupStdinSourceFd
  else state.groupStdinSourceFd = descriptor
}

/** A command with expanded words: its input is all that it and its children can read. */
export async function withOwnInput(
  shell: Watched,
  position: Position,
  call: CommandCall,
  run: Run,
): Promise<StepResult> {
  const [name, args, quoted, stdin, skipFunctions = false, usesStandardPath, descriptor = -1] = call
  const isOwn = position.saysInput !== null || stdin !== ''
  position.watch.inputIsFile = position.saysInput === 'file'
  position.saysInput = null
  if (!isOwn) return run(call)
  const { state } = shell.ctx
  return withInput(state, stdin, async () => {
    const result = await run([name, args, quoted, '', skipFunctions, usesStandardPath, descriptor, false])
    const left = state.groupStdin?.length ?? 0
    return { ...result, internalStdinConsumed: stdin.length - left } as StepResult
  })
}

/** A program gets the rest, and consumes what it reads. */
export async function withSharedInput(
  shell: Watched,
  position: Position,
  call: CommandCall,
  run: Run,
): Promise<StepResult> {
  const { state } = shell.ctx
  const input = state.groupStdin
  if (input === undefined || input === '') return run(call)
  const [name, args, quoted, , ...rest] = call
  position.watch.inputTaken = null
  const result = await run([name, args, quoted, input, ...rest])
  const within = HANDING_ON.has(name) ? position.watch.inputTaken : null
  take(state, within ?? takenBy(result))
  return result
}

const takenBy = (result: StepResult): number =>
  'internalStdinConsumed' in result ? Number(result.internalStdinConsumed ?? 0) : 0

function take(state: ShellVariables, count: number): void {
  if (count <= 0) return
  state.groupStdin = state.groupStdin?.slice(count) ?? ''
  const { groupStdinSourceFd: descriptor, fileDescriptors: open, inputFds } = state
  if (descriptor === undefined || !inputFds?.has(descriptor)) return
  for (const one of state.fdAliases?.get(descriptor) ?? [descriptor]) {
    open?.set(one, (open.get(one) ?? '').slice(count))
  }
}

/** An inner shell reads the same input as the outer one, which otherwise would not notice it. */
export async function withInputOfOuter(
  { ctx: { state } }: Watched,
  position: Position,
  { node, stdin, owns }: { node: Command; stdin: string; owns: boolean },
  run: () => Promise<StepResult>,
): Promise<StepResult> {
  const before = state.groupStdin
  if (before === undefined || stdin !== '' || owns || node.redirections.some(isOfInput)) return run()
  position.inputLeft = before
  try {
    return await run()
  } finally {
    if (before.endsWith(position.inputLeft ?? before)) state.groupStdin = position.inputLeft ?? before
  }
}

/** After `exec < file`: otherwise the interpreter would use it as the input of every command, even at the end of a pipe. */
export function adoptInput({ ctx: { state } }: Watched, node: Command): void {
  if (node.type !== 'SimpleCommand' || node.redirections.length === 0 || !isExec(node)) return
  const { fileDescriptors: open, inputFds, fdAliases } = state
  if (!open) return
  keepSaved(state)
  const input = inputFds?.has(STANDARD) ? open.get(STANDARD) : undefined
  if (input === undefined) return
  const aliases = fdAliases?.get(STANDARD)
  const other = [...(aliases ?? [])].find((one) => one !== STANDARD)
  open.delete(STANDARD)
  inputFds?.delete(STANDARD)
  aliases?.delete(STANDARD)
  fdAliases?.delete(STANDARD)
  setInput(state, input, other)
}

const isExec = ({ name, args }: SimpleCommand): boolean =>
  args.length === 0 && name?.parts.map(writtenText).join('') === 'exec'

/** `exec 5<&0`: stores the current input for later use. */
function keepSaved(state: ShellVariables): void {
  for (const [descriptor, entry] of state.fileDescriptors ?? []) {
    if (entry !== SAVED_STANDARD) continue
    state.fileDescriptors?.set(descriptor, state.groupStdin ?? '')
    state.inputFds ??= new Set()
    state.inputFds.add(descriptor)
  }
}
