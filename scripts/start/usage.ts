// CPU statistics of a process from the kernel: the time it ran, and the time it was runnable but waited for a core. The
// first is hardly affected by other programs; the second shows whether they affected other measurements.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { listProcesses } from './processes.ts'

export type Usage = { readonly ranMs: number; readonly waitedMs: number }

/** The runtime that Miniflare has started in this process; it reads its configuration from its standard input. */
export function runtimeBelow(pid: number): number | null {
  const isRuntime = (command: string) => command.includes('workerd') && command.includes('--binary')
  return listProcesses().find(({ parent, command }) => parent === pid && isRuntime(command))?.pid ?? null
}

/** Of all threads of a process so far; null where there is no /proc, or no such process. */
export function usageOf(pid: number): Usage | null {
  const folder = `/proc/${pid}/task`
  if (!existsSync(folder)) return null
  let [ranNs, waitedNs] = [0, 0]
  for (const thread of threadsIn(folder)) {
    const [ran, waited] = schedulingOf(`${folder}/${thread}/schedstat`)
    ranNs += ran
    waitedNs += waited
  }
  return { ranMs: ranNs / 1e6, waitedMs: waitedNs / 1e6 }
}

function threadsIn(folder: string): string[] {
  return unlessGone(() => readdirSync(folder)) ?? []
}

function schedulingOf(file: string): [ran: number, waited: number] {
  const text = unlessGone(() => readFileSync(file, 'utf8'))
  const [ran, waited] = (text ?? '').split(' ').map(Number)
  return [ran ?? 0, waited ?? 0]
}

/** A process or a thread may end between the listing and the reading. */
function unlessGone<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return null
    throw error
  }
}
