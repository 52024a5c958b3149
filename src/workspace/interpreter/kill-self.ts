// `kill` of the shell by itself: the only process that there is to send a signal to.

import type { Position, Watched } from './position.ts'
import type { StepResult } from './shape.ts'
import { signalName, signalNumber, signalTable } from './signals.ts'
import { runAction } from './trap-runs.ts'

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

/** `kill -l`: numbers for names, and names for numbers, of an exit code as well. */
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

/** The signal and the one process of `kill PID`, `kill -TERM PID`, `kill -s TERM PID` and `kill -n 15 PID`. */
function readCall(args: readonly string[]): [signal: string, pid: string | null] {
  const [first = '', second, third] = args.filter((arg) => arg !== '--')
  if ((first === '-s' || first === '-n') && second !== undefined) return [second, third ?? null]
  return first.startsWith('-') ? [first.slice(1), second ?? null] : ['TERM', second === undefined ? first : null]
}
