// Runs one program in one process: its frames are forwarded to the client, and the last frame is always an ending.

import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type Frame, FrameReader, frame } from '../../src/kits/node-program/wire.ts'
import type { Limits } from './limits.ts'
import type { MemoryWatch } from './memory-watch.ts'
import { PrintedLines } from './printed.ts'
import type { ProgramProcess } from './program-process.ts'

/** The reason why the host ends a program. */
export type Stop = 'left' | 'timeout' | 'memory' | 'printed'

export type Run = {
  incoming: IncomingMessage
  answer: ServerResponse
  process: ProgramProcess
  memory: MemoryWatch
  limits: Limits
  /** Aborted with a `Stop`. */
  signal: AbortSignal
  stop: (reason: Stop) => void
}

/** The exit code of a program ended by SIGABRT, which is how Node exits when it is out of memory. */
const EXIT_ABORTED = 134
const EXIT_STOPPED = 124
const MEBIBYTE = 1024 * 1024

/** Settles when the process has ended and the ending was written. */
export async function runInProcess(run: Run): Promise<void> {
  const { process, answer, memory, limits, signal, stop } = run
  const printed = new PrintedLines()
  let room = limits.printedMb * MEBIBYTE
  process.onPrinted((chunk) => {
    room -= chunk.length
    if (room < 0) return stop('printed')
    const pieces = printed.push(chunk)
    if (pieces.length > 0) answer.write(frame('output', JSON.stringify(pieces)))
  })
  const limitBytes = limits.memoryMb * MEBIBYTE
  const unwatch = memory.watch(process.pid ?? 0, { limitBytes, onExceeded: () => stop('memory') })
  process.begin()
  try {
    const stopped = new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null)))
    const died = process.closed.then(() => null)
    const last = signal.aborted ? null : await Promise.race([exchange(run), stopped, died])
    const hasDied = last === null && !signal.aborted
    process.kill()
    // Its exit flushes the rest of its output.
    await process.closed
    answer.end(last ? frame(last.kind, last.payload) : ending(hasDied ? deathOf(process, limits) : of(signal, limits)))
  } finally {
    unwatch()
    process.kill()
  }
}

/** The last frame; null when the connection broke before it came, which it does when the process ends. */
function exchange({ incoming, answer, process, signal }: Run): Promise<Frame | null> {
  return new Promise((resolve, reject) => {
    const { promise: broken, resolve: breakOff } = Promise.withResolvers<null>()
    const upstream = request({ socketPath: process.socketPath, method: 'POST', path: '/', agent: false, signal })
    const onEnd = () => breakOff(null)
    upstream.once('error', onEnd)
    upstream.once('response', (response) => {
      const frames = new FrameReader()
      response.on('data', (chunk: Buffer) => {
        for (const one of frames.push(chunk)) {
          if (one.kind === 'ending' || one.kind === 'failure') return resolve(one)
          // Backpressure: a slow reader makes the program wait.
          if (!answer.write(frame(one.kind, one.payload))) pauseUntilDrained(response, answer)
        }
      })
      response.once('error', onEnd)
      response.once('end', onEnd)
    })
    // Not a pipeline, which would close the response if the process ends before it has read all.
    incoming.pipe(upstream)
    broken.then(() => process.closed.then(() => resolve(null)), reject)
    broken.then(() => process.kill(), reject)
  })
}

function pauseUntilDrained(response: IncomingMessage, answer: ServerResponse): void {
  response.pause()
  answer.once('drain', () => response.resume())
}

type End = { code: number; why?: string }

export function ending(end: End): Uint8Array {
  return frame('ending', JSON.stringify({ tests: null, ...end }))
}

function of({ reason }: AbortSignal, { memoryMb, printedMb }: Limits): End {
  if (reason === 'memory') return outOfMemory(memoryMb)
  if (reason === 'printed') return { code: EXIT_ABORTED, why: `stopped: it printed more than ${printedMb} MB` }
  // The message with the duration comes from the code that set the time limit.
  return { code: EXIT_STOPPED }
}

function outOfMemory(memoryMb: number): End {
  return { code: EXIT_ABORTED, why: `stopped: JavaScript heap out of memory (a program may have ${memoryMb} MB)` }
}

function deathOf(process: ProgramProcess, { memoryMb }: Limits): End {
  if (/out of memory|heap limit|bad_alloc|Cannot allocate memory/i.test(process.lastWords)) return outOfMemory(memoryMb)
  return { code: EXIT_ABORTED, why: `the process that ran the program died (${process.end})` }
}
