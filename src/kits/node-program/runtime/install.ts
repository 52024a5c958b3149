// Puts what is ours in the places of the runtime's own globals.

import { console } from './console.ts'
import { end, throwIfOver } from './ending.ts'
import { setHeads } from './frames.ts'
import { watchOutput } from './output.ts'
import { process, setInput } from './process.ts'
import type { RunInput } from './protocol.ts'
import { callable, clocks, timers } from './timers.ts'
import { guarded, uncaught } from './uncaught.ts'

const EXIT_STOPPED = 124
/** The clock is looked at once in so many looks; one less than a power of two. */
const LOOKS_MASK = 1023

export function install({ argv, env, stdin, deadline, isWatched, graph }: RunInput): void {
  setHeads(Object.fromEntries(Object.entries(graph).map(([path, { head }]) => [path, head])))
  watchOutput(isWatched)
  setInput(stdin)
  Object.assign(process, { argv, env: { ...env } })
  const globals = {
    process,
    console,
    ...timers,
    global: globalThis,
    queueMicrotask: (given: unknown) => {
      const run = callable(given)
      clocks.queueMicrotask(() => guarded(run))
    },
    __guard: guardUntil(deadline),
  }
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  addEventListener('unhandledrejection', (event) => {
    event.preventDefault()
    uncaught(event.reason, 'unhandledRejection')
  })
}

/** What each loop of a program asks. */
function guardUntil(deadline: number): () => true {
  let calls = 0
  return () => {
    throwIfOver()
    if ((++calls & LOOKS_MASK) === 0 && Date.now() > deadline) throw end(EXIT_STOPPED)
    return true
  }
}
