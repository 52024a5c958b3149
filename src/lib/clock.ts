/** A source of the current time in epoch milliseconds. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/** ISO 8601 in UTC with six decimals and `Z`: the one form of time on the wire, fixed width so that text order is time order. */
export function isoMicros(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, -1)}000Z`
}
