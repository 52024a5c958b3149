import type { Checks, Figures } from './checks.ts'

/** Nothing where no check speaks of these figures. Without a group: of any. */
export function Mark({ checks, of }: { checks: Checks; of?: readonly Figures[] }) {
  const found = checks.alarms.filter(({ touches }) => of === undefined || of.some((group) => touches.includes(group)))
  if (found.length === 0) return null
  const labels = [...new Set(found.map(({ label }) => label))]
  return (
    <span class="mark" title={found.map(({ text }) => text).join('\n')}>
      ⚠ {labels.join(', ')}
    </span>
  )
}
