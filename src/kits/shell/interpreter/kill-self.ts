// `kill` of the shell by itself: the only process that signals can be sent to.

import { joinedResults, type Position, type Watched } from './position.ts'
import type { StepResult } from './shape.ts'
import { signalName, signalNumber, signalTable } from './signals.ts'
import { isExit, markReplaced, runAction } from './trap-runs.ts'

const DONE: StepResult = { stdout: '', stderr: '', exitCode: 0 }

/** Null for any other use of the command. */
export async function killSelf(
  shell: Watched,
  position: Position,
  args: readonly string[],
): Promise<StepResult | null> {
  const { state } = shell.ctx
  if (args[0] === '-l' || args[0] === '-L') return listed(args.slice(1))
  const [given, pid] = readCall(args)
  const isOwn = pid === String(state.bashPid)
  if (!isOwn && pid !== String(state.virtualPid)) return null
  if (given === '0') return { ...DONE }
  const name = signalName(given)
  if (name === null || name === 'EXIT') {
    return { ...DONE, stderr: `bash: kill: ${given}: invalid signal specification\n`, exitCode: 1 }
  }
  if (isOwn || position.subshells === 0) return receive(shell, position, name)
  position.pending.push(name)
  return { ...DONE }
}

/** They have no effect on a shell without a trap for them. */
const HARMLESS: ReadonlySet<string> = new Set(['CHLD', 'CONT', 'URG', 'WINCH'])
const PAUSING: ReadonlySet<string> = new Set(['STOP', 'TSTP', 'TTIN', 'TTOU'])
const UNTRAPPED: ReadonlySet<string> = new Set(['KILL', 'STOP'])

async function receive(shell: Watched, position: Position, name: string): Promise<StepResult> {
  const action = UNTRAPPED.has(name) ? null : position.traps.actionOf(name)
  if (action === '' || (action === null && HARMLESS.has(name))) return { ...DONE }
  if (action !== null) return { ...(await runAction(shell, { position, action, exitCode: 0 })), exitCode: 0 }
  if (PAUSING.has(name)) {
    return { ...DONE, stderr: `bash: kill: ${name}: a shell that pauses would never go on here\n`, exitCode: 1 }
  }
  try {
    return await shell.runCommand('exit', [String(128 + signalNumber(name))], [], '', true)
  } catch (error) {
    // Not even the EXIT trap is run.
    if (name === 'KILL' && isExit(error)) markReplaced(error)
    throw error
  }
}

/** Called when the shell itself continues: the signals that its subshells have sent to it. */
export async function receivePending(shell: Watched, position: Position): Promise<StepResult | null> {
  if (position.pending.length === 0 || position.subshells > 0 || position.actionCommand !== null) return null
  let whole: StepResult = { ...DONE }
  for (const name of position.pending.splice(0)) whole = joinedResults(whole, await receive(shell, position, name), 0)
  return whole
}

/** `kill -l`: numbers for names, and names for numbers, including exit codes. */
function listed(given: readonly string[]): StepResult {
  if (given.length === 0) return { ...DONE, stdout: signalTable() }
  const lines: string[] = []
  for (const one of given) {
    const name = signalName(/^\d+$/.test(one) && Number(one) > 128 ? String(Number(one) - 128) : one)
    if (name === null) {
      return { ...DONE, stderr: `bash: kill: ${one}: invalid signal specification\n`, exitCode: 1 }
    }
    lines.push(/^\d+$/.test(one) ? name : String(signalNumber(name)))
  }
  return { ...DONE, stdout: `${lines.join('\n')}\n` }
}

/** The signal and the only process of `kill PID`, `kill -TERM PID`, `kill -s TERM PID` and `kill -n 15 PID`. */
function readCall(args: readonly string[]): [signal: string, pid: string | null] {
  const [first = '', second, third] = args.filter((arg) => arg !== '--')
  if ((first === '-s' || first === '-n') && second !== undefined) return [second, third ?? null]
  return first.startsWith('-') ? [first.slice(1), second ?? null] : ['TERM', second === undefined ? first : null]
}
