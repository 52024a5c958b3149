// `>&-`: a write to a closed output fails with a message. The interpreter drops the output.

import type { Position, Watched } from './position.ts'
import type { Command, Redirection, StepResult } from './shape.ts'
import { writtenText } from './words-alone.ts'

/** For builtins the message starts with the shell's name. */
const BUILT_IN: ReadonlySet<string> = new Set(
  'echo printf pwd type declare typeset local export readonly set alias trap times dirs hash umask ulimit help compgen shopt'.split(
    ' ',
  ),
)
/** They read the standard input if no file is given. */
const READERS: ReadonlySet<string> = new Set(
  'cat wc sort head tail uniq cut tr tac rev nl tee md5sum sha256sum base64 awk sed grep jq fold paste'.split(' '),
)

type Standard = 'input' | 'output'

/** While the command runs. */
export async function withClosed<T>(
  shell: Watched,
  position: Position,
  { node, isPiped, run }: { node: Command; isPiped: boolean; run: () => Promise<T> },
): Promise<T> {
  const before = position.closed
  const closed = { ...before, output: before.output || isClosedByExec(shell, position) }
  if (isPiped) closed.output = false
  for (const one of node.redirections) {
    const which = standardOf(one)
    if (which !== null) closed[which] = isClosing(one)
  }
  if (closed.input === before.input && closed.output === before.output) return run()
  position.closed = closed
  try {
    return await run()
  } finally {
    position.closed = before
  }
}

function isClosedByExec({ ctx }: Watched, { outputs }: Position): boolean {
  return outputs?.isClosed(1) ?? ctx.state.closedStandardFds?.has(1) ?? false
}

/** For a substitution, whose output is captured. */
export async function withOutput<T>(position: Position, run: () => Promise<T>): Promise<T> {
  const before = position.closed
  position.closed = { ...before, output: false }
  try {
    return await run()
  } finally {
    position.closed = before
  }
}

function standardOf({ operator, fd }: Redirection): Standard | null {
  if (operator.startsWith('<')) return (fd ?? 0) === 0 ? 'input' : null
  return (fd ?? 1) === 1 ? 'output' : null
}

function isClosing({ operator, target }: Redirection): boolean {
  return (operator === '>&' || operator === '<&') && 'parts' in target && target.parts.map(writtenText).join('') === '-'
}

/** For a command that has run. */
export function withWriteError({ closed }: Position, name: string, result: StepResult): StepResult {
  if (!closed.output || result.stdout === '') return result
  const who = BUILT_IN.has(name) ? `bash: ${name}` : name
  return { stdout: '', stderr: `${result.stderr}${who}: write error: Bad file descriptor\n`, exitCode: 1 }
}

/** For a command before it runs; null if it may run. */
export function readError({ closed }: Position, name: string, args: readonly string[]): StepResult | null {
  if (!closed.input) return null
  if (name === 'read') return failed('bash: read: read error: 0: Bad file descriptor', 1)
  const operands = args.filter((arg) => !arg.startsWith('-')).length
  const isProgram = name === 'awk' || name === 'sed' || name === 'grep' || name === 'jq' || name === 'tr'
  if (!READERS.has(name) || operands > (isProgram ? (name === 'tr' ? 2 : 1) : 0)) return null
  return failed(`${name}: -: Bad file descriptor`, name === 'grep' || name === 'sort' ? 2 : 1)
}

function failed(message: string, exitCode: number): StepResult {
  return { stdout: '', stderr: `${message}\n`, exitCode }
}
