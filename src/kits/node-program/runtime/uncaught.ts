// How a program ends early: by `process.exit`, or by an error that no handler catches.

import { EventEmitter } from 'node:events'
import { inspect } from 'node:util'
import { Exit, end, isEnding, isOver, leaving } from './ending.ts'
import { withCode } from './errors.ts'
import { shownError } from './frames.ts'
import { stderr } from './streams.ts'

/** `process` while it has listeners and an exit code only. */
export const emitter: EventEmitter & { exitCode: number | string | undefined } = Object.assign(new EventEmitter(), {
  exitCode: undefined,
})
emitter.setMaxListeners(0)

export const VERSION = globalThis.process.version

type Uncaught = 'uncaughtException' | 'unhandledRejection'

/** Listeners of the end may still write; nothing else runs after them. */
export function leave(code: number): void {
  if (isOver()) return
  // A listener of the end that asks for the end has it at once.
  if (isEnding()) return void end(code)
  let last = code
  leaving(() => {
    try {
      emitter.emit('exit', code)
    } catch (error) {
      if (error instanceof Exit) return
      report(error)
      last = 1
    }
  })
  end(Number(emitter.exitCode ?? last) || last)
}

export function report(error: unknown): void {
  const text = error instanceof Error ? shownError(error) : `Uncaught ${inspect(error)}`
  stderr.write(`${text}\n\nNode.js ${VERSION}\n`)
}

/** Runs a callback of the program: what it throws ends the program, unless somebody listens for that. */
export function guarded(run: () => unknown): void {
  if (isOver()) return
  try {
    run()
  } catch (error) {
    uncaught(error, 'uncaughtException')
  }
}

export function uncaught(thrown: unknown, kind: Uncaught): void {
  if (thrown instanceof Exit || isOver()) return
  const isHeard = emitter.listenerCount(kind) > 0 || emitter.listenerCount('uncaughtException') > 0
  const isRejection = kind === 'unhandledRejection'
  const error = isRejection && !(thrown instanceof Error) && !isHeard ? unhandled(thrown) : thrown
  if (emitter.listenerCount(kind) > 0) {
    guarded(() => emitter.emit(kind, error, isRejection ? Promise.resolve() : kind))
  } else if (isHeard) uncaught(error, 'uncaughtException')
  else {
    report(error)
    emitter.exitCode = 1
    leave(1)
  }
}

function unhandled(reason: unknown): Error {
  const shown = typeof reason === 'symbol' || typeof reason === 'object' ? inspect(reason) : String(reason)
  const error = new Error(
    'This error originated either by throwing inside of an async function without a catch block, or by rejecting a ' +
      `promise which was not handled with .catch(). The promise rejected with the reason "${shown}".`,
  )
  error.name = 'UnhandledPromiseRejection'
  error.stack = `${error.name}: ${error.message}`
  return withCode(error, 'ERR_UNHANDLED_REJECTION')
}
