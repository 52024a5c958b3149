import type { Pace } from './channel.ts'

/** The longest stretch of time that the pace looks at. */
export const longestWindowMs = (pace: readonly Pace[]): number => Math.max(0, ...pace.map(({ windowMs }) => windowMs))

/** How long the next message has to wait, so that in no stretch of time there are more than the service allows. */
export function paceWaitMs(pace: readonly Pace[], starts: readonly number[], now: number): number {
  const waits = pace.map(({ count, windowMs }) => {
    const oldest = starts.at(-count)
    return oldest === undefined ? 0 : oldest + windowMs - now
  })
  return Math.max(0, ...waits)
}
