import type { Branch } from './provider.ts'

const FIRST: ReadonlySet<string> = new Set(['main', 'master'])

/** The branches named main or master, then the others: last pushed first, those of unknown date at the end. */
export function orderedBranches(branches: readonly Branch[]): Branch[] {
  const moment = ({ pushedAt }: Branch) => {
    const at = Date.parse(pushedAt ?? '')
    return Number.isNaN(at) ? Number.NEGATIVE_INFINITY : at
  }
  const rank = ({ name }: Branch) => (FIRST.has(name) ? 0 : 1)
  const later = (a: Branch, b: Branch) => (moment(a) === moment(b) ? 0 : moment(b) > moment(a) ? 1 : -1)
  return [...branches].sort((a, b) => rank(a) - rank(b) || later(a, b))
}
