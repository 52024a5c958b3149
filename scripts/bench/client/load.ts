// Load in a closed loop: each connection sends its next request when the answer to the last one is whole.

import { HttpConnection } from './http-connection.ts'

export type LoadJob = {
  readonly port: number
  /** The raw bytes of the request. */
  readonly request: string
  readonly connections: number
  readonly durationMs: number
}

export type LoadResult = {
  readonly count: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The share of one core that this process used meanwhile. */
  readonly clientCpu: number
}

/** Throws when an answer is anything but a 200: a fast error is no result. */
export async function load({ port, request, connections, durationMs }: LoadJob): Promise<LoadResult> {
  const bytes = Buffer.from(request)
  const open = await Promise.all(Array.from({ length: connections }, () => HttpConnection.open(port)))
  const latencies: number[] = []
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  const until = startedAt + durationMs
  try {
    await Promise.all(open.map((connection) => repeat(connection, bytes, { until, latencies })))
  } finally {
    for (const connection of open) connection.close()
  }
  const elapsedMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  const sorted = Float64Array.from(latencies).sort()
  const quantile = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
  return {
    count: sorted.length,
    perSecond: (sorted.length / elapsedMs) * 1000,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    clientCpu: (user + system) / 1000 / elapsedMs,
  }
}

function repeat(
  connection: HttpConnection,
  request: Buffer,
  { until, latencies }: { until: number; latencies: number[] },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0
    const send = () => {
      sentAt = performance.now()
      connection.exchange(request, onReply, reject)
    }
    const onReply = (status: number, body: Buffer) => {
      const now = performance.now()
      latencies.push(now - sentAt)
      if (status !== 200) reject(new Error(`${status}: ${body.toString().slice(0, 500)}`))
      else if (now < until) send()
      else resolve()
    }
    send()
  })
}
