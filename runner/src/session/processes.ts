// The processes of a session, seen from outside.

import { readFileSync } from 'node:fs'

/** The group that the terminal belongs to now; null when there is none. */
export function foregroundGroup(pid: number): number | null {
  return statField(pid, 5)
}

/** Null for a process that is gone. */
export function parentOf(pid: number): number | null {
  return statField(pid, 1)
}

const KILL_BIT = 1n << 8n

/** Whether it is gone, or was killed and is not gone yet. */
export function isEnding(pid: number): boolean {
  const status = textOf(`/proc/${pid}/status`)
  const pending = [...status.matchAll(/^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)/gm)]
  const isKilled = pending.some(([, mask = '0']) => (BigInt(`0x${mask}`) & KILL_BIT) !== 0n)
  return status === '' || isKilled || /^State:\s*[ZX]/m.test(status)
}

function statField(pid: number, index: number): number | null {
  const stat = textOf(`/proc/${pid}/stat`)
  // The name of the program may hold anything, also spaces and brackets: the fields come after the last one.
  const field = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[index])
  return Number.isInteger(field) && field > 0 ? field : null
}

export function countDescendants(pid: number): number {
  return descendantsOf(pid).length
}

export function descendantsOf(pid: number): number[] {
  const found: number[] = []
  const waiting = [pid]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const children = textOf(`/proc/${next}/task/${next}/children`).trim()
    if (children === '') continue
    const pids = children.split(' ').map(Number)
    found.push(...pids)
    waiting.push(...pids)
  }
  return found
}

/** Empty for a process that is gone, or is ending while it is looked at. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH', 'EACCES'].includes(String(error.code)))
      return ''
    throw error
  }
}

/** Nothing to signal is fine. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  send(-group, signal)
}

/** This process and all that it started. */
export function killTree(pid: number): void {
  for (const one of [...descendantsOf(pid), pid]) send(one, 'SIGKILL')
}

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
