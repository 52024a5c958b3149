// How much memory a process takes while it works.

import { existsSync, readFileSync } from 'node:fs'

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
