// The exported record of a conversation: every event that is not hidden, without pictures and page dumps.

import { isHidden, type NewEvent } from './events.ts'

/** Members of `extras`, at any depth, that are left out: pictures and page dumps, and references to them. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'screenshot',
  'set_of_marks',
  'dom_object',
  'axtree_object',
  'active_page_index',
  'last_browser_action',
  'last_browser_action_error',
  'focused_element_bid',
  'extra_element_properties',
])

/** A stored event for the record; null when it is hidden. The text is unchanged if nothing is left out. */
export function forTrajectory(text: string): string | null {
  const event = JSON.parse(text) as NewEvent
  if (isHidden(event)) return null
  if (!('extras' in event)) return text
  const dropped = { count: 0 }
  const extras = withoutLeftOut(event.extras, dropped)
  return dropped.count === 0 ? text : JSON.stringify({ ...event, extras })
}

function withoutLeftOut(value: unknown, dropped: { count: number }): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutLeftOut(item, dropped))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const kept = entries.filter(([key]) => !LEFT_OUT.has(key))
  dropped.count += entries.length - kept.length
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutLeftOut(item, dropped)]))
}

/** The text of a stored event if it is an action whose risk was judged, else null. */
export function judgedAction(text: string): string | null {
  const event = JSON.parse(text) as NewEvent
  return 'action' in event && event.args.security_risk !== undefined ? text : null
}
