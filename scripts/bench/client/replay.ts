// A client that comes, is sent what it missed, and goes, again and again.

import type { SocketTarget } from './socket-client.ts'
import { Watcher } from './watchers.ts'

export type ReplayJob = { readonly target: SocketTarget; readonly events: number; readonly times: number }

export type ReplayResult = { readonly perSecond: number; readonly clientCpu: number }

const PATIENCE_MS = 20_000

/** Events a second, from the handshake to the last of them. */
export async function replay({ target, events, times }: ReplayJob): Promise<ReplayResult> {
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  for (let i = 0; i < times; i++) await whole(target, events)
  const elapsedMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: ((events * times) / elapsedMs) * 1000, clientCpu: (user + system) / 1000 / elapsedMs }
}

async function whole(target: SocketTarget, events: number): Promise<void> {
  const watcher = await Watcher.open(target)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(
    () => reject(new Error(`${events} events were expected, ${watcher.events} came`)),
    PATIENCE_MS,
  )
  const look = () => {
    if (watcher.events >= events) resolve()
  }
  watcher.onEvents = look
  look()
  await promise.finally(() => clearTimeout(timer))
  watcher.close()
}
