// A clock that a test moves forward and that keeps running. A frozen clock would fall behind the runtime's own clock: an
// alarm set by it would fire at once, find nothing due, and be set again in an endless loop, in every object of the run.

import { onTestFinished } from 'vitest'

/** Installs the clock until the test ends. The returned function moves it by a number of milliseconds. */
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
