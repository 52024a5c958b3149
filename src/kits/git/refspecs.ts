// What a fetch gets and where it is stored: `+refs/heads/*:refs/remotes/origin/*`.

import { fatal } from './failure.ts'
import { isRefName } from './ref-names.ts'

export interface Refspec {
  /** Whether the local ref may be moved to any commit. */
  force: boolean
  /** An exclusion; it has no goal. */
  isExclusion: boolean
  source: string
  /** Null for a source that is only stored in `FETCH_HEAD`. */
  goal: string | null
}

export function parseRefspec(text: string): Refspec {
  const isExclusion = text.startsWith('^')
  const force = text.startsWith('+')
  const [source = '', goal, ...more] = text.replace(/^[+^]/, '').split(':')
  const stars = [source, goal ?? source].map((side) => side.split('*').length - 1)
  const isBalanced = stars[0] === stars[1] && (stars[0] ?? 0) <= 1
  const isNamed = [source, goal ?? ''].every((side) => side === '' || isRefName(`refs/${side.replace('*', 'x')}`))
  if (more.length > 0 || !(isBalanced || (isExclusion && goal === undefined)) || !isNamed)
    throw fatal(`invalid refspec '${text}'`)
  return { force, isExclusion, source: source === '' ? 'HEAD' : source, goal: goal ? goal : null }
}

/** The local ref for this remote ref, or null; a goal without a star is a single ref. */
export function goalOf({ source, goal, isExclusion }: Refspec, ref: string): string | null {
  if (goal === null || isExclusion) return null
  const part = starPart(source, ref)
  return part === null ? null : goal.replace('*', () => part)
}

/** The remote ref for this local ref, or null. */
export function sourceOf({ source, goal, isExclusion }: Refspec, ref: string): string | null {
  if (goal === null || isExclusion) return null
  const part = starPart(goal, ref)
  return part === null ? null : source.replace('*', () => part)
}

export function matchesSource({ source }: Refspec, ref: string): boolean {
  return starPart(source, ref) !== null
}

/** The text that matches the star; null if the pattern does not match. */
function starPart(pattern: string, ref: string): string | null {
  const star = pattern.indexOf('*')
  if (star < 0) return pattern === ref ? '' : null
  const [head, tail] = [pattern.slice(0, star), pattern.slice(star + 1)]
  const isMatch = ref.length >= head.length + tail.length && ref.startsWith(head) && ref.endsWith(tail)
  return isMatch ? ref.slice(head.length, ref.length - tail.length) : null
}
