// A clock that a test moves forward, and that goes on running. A frozen one would fall behind the runtime's own clock: an
// alarm set by it is overdue at once, finds nothing due, is set again, and so on without end, in every object of the run.

import { onTestFinished } from 'vitest'

/** Puts the clock in place until the test is over; what is returned moves it by so many milliseconds. */
export function movableClock(): (ms: number) => void {
  const Real = globalThis.Date
  let aheadMs = 0
  const now = () => Real.now() + aheadMs
  globalThis.Date = new Proxy(Real, {
    construct: (target, values, newTarget) =>
      Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  })
  onTestFinished(() => {
    globalThis.Date = Real
  })
  return (ms) => {
    aheadMs += ms
  }
}
