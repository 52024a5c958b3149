// Used by the coverage run of `npm run sample`: reads the marks that one entry leaves in the kits, and
// sends them to the collector of that run.

import { inject } from 'vitest'
import type { Corpus } from './sample.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Only exists in the run with instrumented kits. */
    kitCollector: string
  }
}

/** One entry, or one test that is no entry: what it marked, how long it took, what was said and heard. */
export type Reached = Entry & { ms: number; marks: string; output: string }
export type Entry = { corpus: Corpus; group: string; id: string; script: string }

const MOST_OUTPUT = 100_000
const scope = globalThis as { __kitMarks?: { __m: Uint8Array } }

export async function recorded<T extends { output: string }>(entry: Entry, run: () => Promise<T>): Promise<T> {
  takeMarks()
  const begun = performance.now()
  const answer = await run()
  const ms = Math.round(performance.now() - begun)
  await tell({ ...entry, ms, marks: takeMarks(), output: answer.output.slice(0, MOST_OUTPUT) })
  return answer
}

/** The distances between the marks in base 36; resets the marks. */
export function takeMarks(): string {
  const marks = scope.__kitMarks?.__m ?? new Uint8Array(0)
  const gaps: string[] = []
  let last = 0
  for (let at = marks.indexOf(1); at !== -1; at = marks.indexOf(1, at + 1)) {
    gaps.push((at - last).toString(36))
    last = at
  }
  marks.fill(0)
  return gaps.join(' ')
}

export async function tell(reached: Reached): Promise<void> {
  const response = await fetch(inject('kitCollector'), { method: 'POST', body: JSON.stringify(reached) })
  if (!response.ok) throw new Error(await response.text())
}
