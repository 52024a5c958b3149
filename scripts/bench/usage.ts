// What the kernel says about a process: the time it ran, and the time it could have run but others had its core. The
// first is a measure that other programs hardly disturb; the second tells whether they disturbed the rest.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { listProcesses } from '../start/processes.ts'

export type Usage = { readonly ranMs: number; readonly waitedMs: number }

/** The runtime that a server process has started. */
export function runtimeBelow(pid: number): number | null {
  return listProcesses().find(({ parent, command }) => parent === pid && command.includes('workerd'))?.pid ?? null
}

/** Of all threads of a process so far; null where there is no /proc. */
export function usageOf(pid: number): Usage | null {
  const folder = `/proc/${pid}/task`
  if (!existsSync(folder)) return null
  let [ranNs, waitedNs] = [0, 0]
  for (const thread of readdirSync(folder)) {
    const [ran, waited] = schedulingOf(`${folder}/${thread}/schedstat`)
    ranNs += ran
    waitedNs += waited
  }
  return { ranMs: ranNs / 1e6, waitedMs: waitedNs / 1e6 }
}

function schedulingOf(file: string): [ran: number, waited: number] {
  try {
    const [ran, waited] = readFileSync(file, 'utf8').split(' ').map(Number)
    return [ran ?? 0, waited ?? 0]
  } catch (error) {
    // A thread may end between the listing and the reading.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return [0, 0]
    throw error
  }
}

const SAMPLE_MS = 10

/** How much memory a process held before and, at most, during the work. */
export async function peakRssWhile(
  pid: number | null,
  work: () => Promise<unknown>,
): Promise<{ startMiB: number; peakMiB: number }> {
  if (pid === null || !existsSync(`/proc/${pid}/status`))
    throw new Error('this machine does not tell what memory is used')
  const startMiB = rssOf(pid)
  let peakMiB = startMiB
  const timer = setInterval(() => {
    peakMiB = Math.max(peakMiB, rssOf(pid))
  }, SAMPLE_MS)
  try {
    await work()
    return { startMiB, peakMiB: Math.max(peakMiB, rssOf(pid)) }
  } finally {
    clearInterval(timer)
  }
}

function rssOf(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) / 1024
}
