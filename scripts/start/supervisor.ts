// The runtime is started again whenever it ends or stops answering. A death is seen at once by its leading process; one of
// the runtimes beneath it may die or hang unseen, so the service is also asked for its health.

import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from './fault.ts'
import type { Runtime } from './runtime.ts'

const START_TIMEOUT_MS = 60_000
const START_PROBE_EVERY_MS = 50
const PROBE_EVERY_MS = 1_000
const PROBE_AGAIN_MS = 250
/** A heavy computation may hold every answer back for seconds; a hung runtime does so for ever. */
const HUNG_AFTER_MS = 8_000
/** Enough when a process beneath is known to be gone. A reload replaces one too, and may hold one answer back. */
const FAILURES_WITH_A_LOSS = 2
const FIRST_DELAY_MS = 200
const LONGEST_DELAY_MS = 10_000
/** A runtime that lived this long is not in a crash loop. */
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
    if (Date.now() - startedAt > STEADY_AFTER_MS) delayMs = FIRST_DELAY_MS
    onRestart({ reason, delayMs })
    await pause(delayMs, stopped)
    delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)
  }
}

/** Settles with what is wrong with this runtime, or when it shall stop. */
async function watch(runtime: Runtime, supervision: Supervision, onReady: () => void): Promise<string> {
  const over = new AbortController()
  const signal = AbortSignal.any([over.signal, supervision.stopped])
  const died = runtime.exited.then((how) => `the runtime ${how}`)
  const fellSilent = async () =>
    (await probeUntilReady(supervision, signal, onReady)) ?? (await probeUntilBad(runtime, supervision, signal))
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

async function probeUntilBad(runtime: Runtime, { probe }: Supervision, over: AbortSignal): Promise<string> {
  runtime.noteMembers()
  let failures = 0
  let lastGoodAt = Date.now()
  while (!over.aborted) {
    await pause(failures === 0 ? PROBE_EVERY_MS : PROBE_AGAIN_MS, over)
    if (await probe()) {
      if (failures > 0) runtime.noteMembers()
      failures = 0
      lastGoodAt = Date.now()
      continue
    }
    failures += 1
    if (failures >= FAILURES_WITH_A_LOSS && runtime.hasLostMember()) return 'a process of the runtime died'
    if (Date.now() - lastGoodAt > HUNG_AFTER_MS) return `the runtime did not answer for ${HUNG_AFTER_MS / 1000} s`
  }
  return TOLD_TO_STOP
}

const TOLD_TO_STOP = 'the runtime was told to stop'

/** A stop ends the pause early. */
async function pause(durationMs: number, stopped: AbortSignal): Promise<void> {
  if (stopped.aborted) return
  await sleep(durationMs, undefined, { signal: stopped }).catch((error: unknown) => {
    if (!stopped.aborted) throw error
  })
}
