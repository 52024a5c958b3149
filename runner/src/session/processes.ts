// The processes of a session, seen from outside: by `/proc` on Linux, elsewhere by `ps`, which takes longer.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { platform } from 'node:os'

const HAS_PROC = platform() === 'linux'

/** The group that the terminal belongs to now; null when there is none. */
export function foregroundGroup(pid: number): number | null {
  return HAS_PROC ? statField(pid, 5) : (listed().find((one) => one.pid === pid)?.foreground ?? null)
}

/** Null for a process that is gone. */
export function parentOf(pid: number): number | null {
  return HAS_PROC ? statField(pid, 1) : (listed().find((one) => one.pid === pid)?.parent ?? null)
}

const KILL_BIT = 1n << 8n

/** Whether it is gone, or was killed and is not gone yet. */
export function isEnding(pid: number): boolean {
  // What was killed and is not gone yet is not told there.
  if (!HAS_PROC) return listed().find((one) => one.pid === pid)?.isDead ?? true
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

type Listed = { pid: number; parent: number; foreground: number | null; isDead: boolean }

/** Every process of the machine. */
function listed(): Listed[] {
  const { stdout, error } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,tpgid=,stat='], { encoding: 'utf8' })
  if (error !== undefined) throw error
  return stdout.split('\n').flatMap((line) => {
    const [pid = '', parent, foreground, state = ''] = line.trim().split(/\s+/)
    const group = Number(foreground)
    const one = { pid: Number(pid), parent: Number(parent), foreground: group > 0 ? group : null }
    return pid === '' ? [] : [{ ...one, isDead: state.startsWith('Z') }]
  })
}

export function descendantsOf(pid: number): number[] {
  const all = HAS_PROC ? [] : listed()
  const childrenOf = (one: number) =>
    HAS_PROC ? childrenByProc(one) : all.filter(({ parent }) => parent === one).map((child) => child.pid)
  const found: number[] = []
  const waiting = [pid]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const pids = childrenOf(next)
    found.push(...pids)
    waiting.push(...pids)
  }
  return found
}

function childrenByProc(pid: number): number[] {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).trim()
  return children === '' ? [] : children.split(' ').map(Number)
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
