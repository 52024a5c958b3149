// The processes of a session, observed from outside: with `/proc` on Linux, elsewhere with `ps`, which is slower.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { platform } from 'node:os'

const HAS_PROC = platform() === 'linux'

/** The process group in the terminal's foreground; null if there is none. */
export function foregroundGroup(pid: number): number | null {
  return HAS_PROC ? statField(pid, 5) : (listed().find((one) => one.pid === pid)?.foreground ?? null)
}

/** Null for a process that has ended. */
export function parentOf(pid: number): number | null {
  return HAS_PROC ? statField(pid, 1) : (listed().find((one) => one.pid === pid)?.parent ?? null)
}

const KILL_BIT = 1n << 8n

/** Whether it has ended, or was killed and still exists. */
export function isEnding(pid: number): boolean {
  // `ps` shows only processes that have ended, not a kill that is still pending.
  if (!HAS_PROC) return listed().find((one) => one.pid === pid)?.isDead ?? true
  const status = textOf(`/proc/${pid}/status`)
  const pending = [...status.matchAll(/^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)/gm)]
  const isKilled = pending.some(([, mask = '0']) => (BigInt(`0x${mask}`) & KILL_BIT) !== 0n)
  return status === '' || isKilled || /^State:\s*[ZX]/m.test(status)
}

function statField(pid: number, index: number): number | null {
  const stat = textOf(`/proc/${pid}/stat`)
  // The program's name may contain spaces and brackets: the fields start after the last bracket.
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

/** Empty for a process that has ended, or ends during the read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH', 'EACCES'].includes(String(error.code)))
      return ''
    throw error
  }
}

/** No error if the group has no processes. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  send(-group, signal)
}

/** This process and all its descendants. */
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
