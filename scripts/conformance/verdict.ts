// What a run of a suite says. A suite is a package of one version, so it has as many cases each time, and as many of them differ for
// each reason: another number means that cases were not read, that something else differs under an old reason, or that a reason is
// none any more.

import type { Case } from './case.ts'
import type { Expected } from './expected.ts'

export type Verdict = { readonly isWell: boolean; readonly lines: readonly string[] }

/** `count`: the cases of the suite. */
export function verdictOn(
  { name, count }: { readonly name: string; readonly count: number },
  cases: readonly Case[],
  expected: readonly Expected[],
): Verdict {
  const own = expected.filter(({ suite }) => suite === name)
  const failed = cases.filter(({ passed }) => !passed)
  const reasonOf = (one: Case) => own.find(({ is }) => is.test(one.name)) ?? null
  const passed = cases.length - failed.length
  const rate = ((100 * passed) / Math.max(1, cases.length)).toFixed(1)
  const faults = [
    ...(cases.length === count ? [] : [`    FAILED to read the suite: ${cases.length} cases, not ${count}`]),
    ...own.flatMap((one) => {
      const found = failed.filter((each) => reasonOf(each) === one).length
      return found === one.count ? [] : [`    FAILED ${found} differ, not ${one.count}, for this reason: ${one.reason}`]
    }),
    ...failed.flatMap((one) => (reasonOf(one) === null ? [`    FAILED ${one.name}: ${one.detail}`] : [])),
  ]
  const explained = own.map(({ reason, count: ones }) => `    ${ones} differ for a reason: ${reason}`)
  const head = `${name.padEnd(32)} ${passed} of ${cases.length}, ${rate} %`
  // With a fault the numbers that should be are no news.
  return { isWell: faults.length === 0, lines: [head, ...(faults.length === 0 ? explained : faults)] }
}
