// Somebody says something, and everybody hears it: the next burst is sent when the last one has arrived everywhere.

import { SocketClient, type SocketTarget } from './socket-client.ts'
import type { Watchers } from './watchers.ts'

export type FanOutJob = {
  readonly group: string
  readonly publisher: SocketTarget
  /** What is said; each makes one event. */
  readonly message: string
  readonly burst: number
  /** For so long, or so many bursts. */
  readonly durationMs: number
  readonly bursts?: number
}

export type FanOutResult = {
  readonly bursts: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly clientCpu: number
}

type Publisher = { client: SocketClient; said: number }

const publishers = new Map<string, Publisher>()

/** Events a second that one client hears, and the time from saying to the last of them hearing it. */
export async function fanOut(job: FanOutJob, watchers: Watchers): Promise<FanOutResult> {
  const { group, message, burst, durationMs, bursts = Number.POSITIVE_INFINITY } = job
  const publisher = publishers.get(group) ?? {
    client: await SocketClient.open(job.publisher, { text: () => {} }),
    said: 0,
  }
  publishers.set(group, publisher)
  const texts = Array.from({ length: burst }, () => message)
  const times: number[] = []
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  for (let now = startedAt; now < startedAt + durationMs && times.length < bursts; now = performance.now()) {
    publisher.client.send(texts)
    publisher.said += burst
    await watchers.until(publisher.said)
    times.push(performance.now() - now)
  }
  const elapsedMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  times.sort((a, b) => a - b)
  const quantile = (q: number) => times[Math.min(times.length - 1, Math.floor(times.length * q))] ?? Number.NaN
  return {
    bursts: times.length,
    perSecond: ((times.length * burst) / elapsedMs) * 1000,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    clientCpu: (user + system) / 1000 / elapsedMs,
  }
}
