// `kill` of the shell by itself: the only process that there is to send a signal to.

import type { Position, Watched } from './position.ts'
import type { StepResult } from './shape.ts'
import { signalName, signalNumber } from './signals.ts'
import { runAction } from './trap-runs.ts'

const DONE: StepResult = { stdout: '', stderr: '', exitCode: 0 }

/** Null for any other use of the command. */
export async function killSelf(
  shell: Watched,
  position: Position,
  args: readonly string[],
): Promise<StepResult | null> {
  const { state } = shell.ctx
  const [given, pid] = readCall(args)
  if (pid !== String(state.virtualPid)) return null
  if (given === '0') return { ...DONE }
  const name = signalName(given)
  if (name === null || name === 'EXIT') {
    return { ...DONE, stderr: `bash: kill: ${given}: invalid signal specification\n`, exitCode: 1 }
  }
  const action = position.traps.actionOf(name)
  if (action === null) return shell.runCommand('exit', [String(128 + signalNumber(name))], [], '', true)
  return action === '' ? { ...DONE } : { ...(await runAction(shell, { position, action })), exitCode: 0 }
}

/** The signal and the one process of `kill PID`, `kill -TERM PID`, `kill -s TERM PID` and `kill -n 15 PID`. */
function readCall(args: readonly string[]): [signal: string, pid: string | null] {
  const [first = '', second, third] = args.filter((arg) => arg !== '--')
  if ((first === '-s' || first === '-n') && second !== undefined) return [second, third ?? null]
  return first.startsWith('-') ? [first.slice(1), second ?? null] : ['TERM', second === undefined ? first : null]
}
