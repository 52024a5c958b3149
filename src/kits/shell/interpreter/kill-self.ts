// `kill` of the shell by itself: the only process that signals can be sent to.

import { joinedResults, type Position, type Watched } from './position.ts'
import type { StepResult } from './shape.ts'
import { signalName, signalNumber, signalTable } from './signals.ts'
import { isExit, markReplaced, runAction } from './trap-runs.ts'

const DONE: StepResult = { stdout: '', stderr: '', exitCode: 0 }

const USAGE = 'kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]\n'

function failure(problem: string): StepResult {
  return { ...DONE, stderr: `bash: kill: ${problem}\n`, exitCode: 1 }
}

export async function killSelf(shell: Watched, position: Position, args: readonly string[]): Promise<StepResult> {
  const call = readCall(args)
  if ('failed' in call) return call.failed
  const { signal, operands, isListing } = call
  if (isListing) return listed(operands)
  const name = signal === '0' ? '' : signalName(signal)
  if (name === null || name === 'EXIT') return failure(`${signal}: invalid signal specification`)
  if (operands.length === 0) return { ...DONE, stderr: USAGE, exitCode: 2 }
  let whole: StepResult = { ...DONE }
  let hasSent = false
  for (const operand of operands) {
    const one = await send(shell, position, { name, operand })
    if (one.exitCode === 0) hasSent = true
    whole = joinedResults(whole, one, hasSent ? 0 : 1)
  }
  return whole
}

type Sending = { name: string; operand: string }

/** With no name, it is only asked whether there is such a process. */
async function send(shell: Watched, position: Position, { name, operand }: Sending): Promise<StepResult> {
  const { state } = shell.ctx
  const isOwn = operand === String(state.bashPid)
  if (isOwn || operand === String(state.virtualPid)) {
    if (name === '') return { ...DONE }
    if (isOwn || position.subshells === 0) return receive(shell, position, name)
    position.pending.push(name)
    return { ...DONE }
  }
  if (operand.startsWith('%')) return failure(`${operand}: no such job`)
  if (operand === '') return failure("`': not a pid or valid job spec")
  if (!/^\s*[-+]?\d+\s*$/.test(operand)) return failure(`${operand}: arguments must be process or job IDs`)
  return failure(`(${Number(operand)}) - No such process`)
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
  let whole: StepResult = { ...DONE }
  for (const one of given) {
    const name = signalName(/^\d+$/.test(one) && Number(one) > 128 ? String(Number(one) - 128) : one)
    const isWrong = name === null || (name === 'EXIT' && Number(one) > 128)
    const result = isWrong
      ? failure(`${one}: invalid signal specification`)
      : { ...DONE, stdout: `${/^\d+$/.test(one) ? name : signalNumber(name)}\n` }
    whole = joinedResults(whole, result, Math.max(whole.exitCode, result.exitCode))
  }
  return whole
}

type KillCall = { signal: string; operands: readonly string[]; isListing: boolean }

/** `kill PID`, `kill -TERM PID`, `kill -s TERM PID` and `kill -n 15 PID`. */
function readCall(args: readonly string[]): KillCall | { failed: StepResult } {
  const call = { signal: 'TERM', isListing: false }
  let isGiven = false
  let at = 0
  for (; at < args.length; at++) {
    const word = args[at] ?? ''
    if (word === '--') {
      at++
      break
    }
    if (word === '-?') return { failed: { ...DONE, stderr: USAGE, exitCode: 2 } }
    if (word === '-l' || word === '-L') call.isListing = true
    else if (word === '-s' || word === '-n') {
      const value = args[++at]
      if (value === undefined) return { failed: failure(`${word}: option requires an argument`) }
      call.signal = value
      isGiven = true
    } else if (word.startsWith('-') && (!isGiven || /^-[sn]/.test(word))) {
      call.signal = word.slice(/^-[sn]/.test(word) ? 2 : 1)
      isGiven = true
    } else break
  }
  return { ...call, operands: args.slice(at) }
}
