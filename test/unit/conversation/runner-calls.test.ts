// What is kept of the output of a call, however a runner cut it into frames.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { RunnerCalls } from '../../../durable-objects/conversation/turn/runner/runner-calls.ts'
import { gapNote } from '../../../src/runners/output.ts'

const KEPT = 256 * 1024
const FRAME = 1024 * 1024 - 1024

/** Every place of it can be told from every other near it. */
const text = (chars: number) =>
  Array.from({ length: Math.ceil(chars / 8) }, (_, n) => `${n}`.padStart(8))
    .join('')
    .slice(0, chars)

/** What is kept of an output that came in frames of these sizes. */
function kept(printed: string, frame: number, { isCell = false } = {}): Promise<string> {
  const stub = env.CONVERSATION.get(env.CONVERSATION.newUniqueId())
  return runInDurableObject(stub, (_, { storage }) => {
    const calls = new RunnerCalls(storage.sql)
    calls.plan('k')
    calls.begin('k', 'runner', isCell)
    const bytes = new TextEncoder().encode(printed)
    for (let at = 0, seq = 0; at < bytes.length; at += frame, seq += 1)
      expect(calls.addOutput('k', seq, bytes.subarray(at, at + frame))).toBe(true)
    return calls.output('k', { isCell })
  })
}

const cut = (printed: string) => printed.slice(0, KEPT) + gapNote(printed.length - 2 * KEPT) + printed.slice(-KEPT)

test('of a long output its first and last 256 KiB are kept, whatever the frames', async () => {
  for (const [chars, frame] of [
    [3_000_000, FRAME],
    [3_000_000, 50_001],
    [700_000, FRAME],
    [2 * KEPT + 1, 2 * KEPT],
  ] as const) {
    const printed = text(chars)
    expect(await kept(printed, frame)).toBe(cut(printed))
  }
})

test('nothing is taken out of an output that is no longer than that, nor of one that is written for programs', async () => {
  const short = text(2 * KEPT)
  expect(await kept(short, 300_000)).toBe(short)
  const long = text(3_000_000)
  expect(await kept(long, FRAME, { isCell: true })).toBe(long)
})
