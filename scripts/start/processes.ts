// Who runs on this machine. From /proc where there is one, because a minimal image has no `ps`.

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

export type Process = {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** The command line, as everyone on the machine can read it. */
  readonly command: string
}

/** Every living process; a zombie is dead. */
export function listProcesses(): Process[] {
  return existsSync('/proc/self/stat') ? fromProc() : fromPs()
}

function fromProc(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = readIfThere(`/proc/${name}/stat`)
      const command = readIfThere(`/proc/${name}/cmdline`)
      if (stat === null || command === null) return []
      // The second field is the program's name in parentheses and may hold anything, spaces and parentheses included.
      const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (state === 'Z' || state === 'X') return []
      return [
        {
          pid: Number(name),
          parent: Number(parent),
          group: Number(group),
          command: command.replaceAll('\0', ' ').trim(),
        },
      ]
    })
}

/** A process may end between the listing and the reading. */
function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return null
    throw error
  }
}

function fromPs(): Process[] {
  const rows = execFileSync('ps', ['-axww', '-o', 'pid=,ppid=,pgid=,stat=,command='], { encoding: 'utf8' }).split('\n')
  return rows.flatMap((row) => {
    const [, pid, parent, group, state, command] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(row) ?? []
    if (command === undefined || state?.startsWith('Z')) return []
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), command }]
  })
}

/** Sends a signal; false when there is nobody to take it. A negative id is a process group. */
export function signalIfThere(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    // On some systems a group of zombies answers "not permitted"; a living stranger cannot be in a group of ours.
    if (error instanceof Error && 'code' in error && error.code === 'EPERM') return pid > 0
    throw error
  }
}
