// What a fetch is told to bring and where to note it: `+refs/heads/*:refs/remotes/origin/*`.

import { fatal } from './failure.ts'
import { isRefName } from './ref-names.ts'

export interface Refspec {
  /** Whether the ref here may be moved anywhere. */
  force: boolean
  /** What is left out; it has no goal. */
  isExclusion: boolean
  source: string
  /** Null for a source that is noted in `FETCH_HEAD` alone. */
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

/** Where the refspec leads from this ref, or null; a goal without a star is one. */
export function goalOf({ source, goal, isExclusion }: Refspec, ref: string): string | null {
  if (goal === null || isExclusion) return null
  const part = starPart(source, ref)
  return part === null ? null : goal.replace('*', () => part)
}

/** Where the ref here came from by the refspec, or null. */
export function sourceOf({ source, goal, isExclusion }: Refspec, ref: string): string | null {
  if (goal === null || isExclusion) return null
  const part = starPart(goal, ref)
  return part === null ? null : source.replace('*', () => part)
}

export function matchesSource({ source }: Refspec, ref: string): boolean {
  return starPart(source, ref) !== null
}

/** What stands for the star; null where the pattern does not match. */
function starPart(pattern: string, ref: string): string | null {
  const star = pattern.indexOf('*')
  if (star < 0) return pattern === ref ? '' : null
  const [head, tail] = [pattern.slice(0, star), pattern.slice(star + 1)]
  const isMatch = ref.length >= head.length + tail.length && ref.startsWith(head) && ref.endsWith(tail)
  return isMatch ? ref.slice(head.length, ref.length - tail.length) : null
}
