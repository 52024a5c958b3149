// Which actions wait for the owner.

import type { ActionEvent } from '../events.ts'
import { DEFAULT_RISK_SEVERITY, RISK } from './risk.ts'

export type Asking = {
  /** Null when no analyzer is set: then everything that could be asked about is. */
  readonly risk: number | null
  /** The level from which on the owner wants to be asked; null for the usual one. */
  readonly severity: number | null
}

/** They do nothing outside of the conversation itself, so there is nothing to agree to. */
const NEVER_ASKED: ReadonlySet<string> = new Set([
  ...['message', 'think', 'finish', 'reject', 'recall', 'system', 'null'],
  ...['change_agent_state', 'condensation', 'condensation_request'],
])

/** Without an analyzer nothing tells a look from a change, and to ask about each look at a file would be to ask all the time. */
const ONLY_LOOKS: ReadonlySet<string> = new Set(['read'])

/** For owners who want to confirm. */
export function needsConfirmation({ source, action, args }: ActionEvent, { risk, severity }: Asking): boolean {
  if (source !== 'agent' || NEVER_ASKED.has(action)) return false
  // A command that a tool made itself, to search for instance.
  if (args.is_static === true) return false
  if (risk === null) return !ONLY_LOOKS.has(action)
  return risk === RISK.unknown || risk >= (severity ?? DEFAULT_RISK_SEVERITY)
}
