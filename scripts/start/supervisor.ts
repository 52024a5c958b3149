// Restarts the runtime whenever its host exits or the runtime is lost. If only the runtime crashes, the
// host itself replaces it and reports this here; a runtime without responses is judged by its CPU time.

import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from './fault.ts'
import type { Runtime } from './runtime.ts'
import { verdictOn } from './stall.ts'
import type { Usage } from './usage.ts'

const START_TIMEOUT_MS = 60_000
const START_PROBE_EVERY_MS = 25
const PROBE_EVERY_MS = 1_000
const FIRST_DELAY_MS = 200
const LONGEST_DELAY_MS = 10_000
/** A runtime that ran for this time is not in a crash loop, so the next one starts at once. */
const STEADY_AFTER_MS = 30_000

export type Supervision = {
  launch(): Runtime
  /** Whether the service answers. */
  probe(): Promise<boolean>
  /** Called once, when the first request would succeed. */
  onReady(): void
  onRestart(restart: { reason: string; delayMs: number }): void
  readonly stopped: AbortSignal
}

/** Keeps the runtime running until `stopped`; throws a `Fault` when it never came up at all. */
export async function supervise(supervision: Supervision): Promise<void> {
  const { launch, onReady, onRestart, stopped } = supervision
  let wasReady = false
  let delayMs = FIRST_DELAY_MS
  while (!stopped.aborted) {
    const startedAt = Date.now()
    const runtime = launch()
    const reason = await watch(runtime, supervision, () => {
      if (!wasReady) onReady()
      wasReady = true
    })
    if (stopped.aborted) return runtime.stop()
    await runtime.kill()
    if (!wasReady) throw new Fault(`The service did not start: ${reason}.`)
    const wasSteady = Date.now() - startedAt > STEADY_AFTER_MS
    const waitMs = wasSteady ? 0 : delayMs
    onRestart({ reason, delayMs: waitMs })
    await pause(waitMs, stopped)
    delayMs = wasSteady ? FIRST_DELAY_MS : Math.min(delayMs * 2, LONGEST_DELAY_MS)
  }
}

/** Settles with the error of this runtime, or when it must stop. */
async function watch(runtime: Runtime, supervision: Supervision, onReady: () => void): Promise<string> {
  const over = new AbortController()
  const signal = AbortSignal.any([over.signal, supervision.stopped])
  const died = runtime.exited.then((how) => `the runtime ${how}`)
  const fellSilent = async () =>
    (await probeUntilReady(supervision, signal, onReady)) ?? (await probeUntilLost(runtime, supervision, signal))
  try {
    return await Promise.race([died, fellSilent()])
  } finally {
    over.abort()
  }
}

/** Settles with null when it answers. */
async function probeUntilReady({ probe }: Supervision, over: AbortSignal, onReady: () => void): Promise<string | null> {
  const deadline = Date.now() + START_TIMEOUT_MS
  while (!over.aborted) {
    if ((await probe()) && !over.aborted) {
      onReady()
      return null
    }
    if (Date.now() > deadline) return `the runtime did not answer within ${START_TIMEOUT_MS / 1000} s`
    await pause(START_PROBE_EVERY_MS, over)
  }
  return TOLD_TO_STOP
}

async function probeUntilLost(runtime: Runtime, { probe }: Supervision, over: AbortSignal): Promise<string> {
  let lastGood: { at: number; usage: Usage | null } = { at: Date.now(), usage: runtime.usage() }
  while (!over.aborted) {
    await pause(PROBE_EVERY_MS, over)
    const asked = { at: Date.now(), usage: runtime.usage() }
    if (await probe()) {
      lastGood = asked
      continue
    }
    const verdict = verdictOn(Date.now() - lastGood.at, lastGood.usage, runtime.usage())
    if (verdict !== null) return verdict
  }
  return TOLD_TO_STOP
}

const TOLD_TO_STOP = 'it was told to stop'

/** A stop ends the pause early. */
async function pause(durationMs: number, stopped: AbortSignal): Promise<void> {
  if (stopped.aborted) return
  await sleep(durationMs, undefined, { signal: stopped }).catch((error: unknown) => {
    if (!stopped.aborted) throw error
  })
}
