// What an action risks, and whether the user is asked before it. Pure: what the model says about itself plays no part.

import type { ActionEvent } from './events.ts'
import { DEFAULT_RISK_SEVERITY, RISK, riskOf } from './security-rules.ts'

/** `secretNames` are the variables of the shell that hold secrets. */
export function riskOfAction(action: ActionEvent, secretNames: readonly string[] = []): number {
  const { args } = action
  switch (action.action) {
    case 'run':
      return riskOf(String(args.command), secretNames)
    case 'run_ipython':
      return RISK.high
    // What goes out is chosen by the model, and what comes back by a stranger.
    case 'browse':
    case 'call_tool_mcp':
      return RISK.medium
    case 'edit':
    case 'write':
      return riskOfPath(String(args.path))
    case 'read':
      return riskOf(`cat ${String(args.path)}`) === RISK.high ? RISK.high : RISK.low
    default:
      return RISK.low
  }
}

/** Git runs what is in there, later and without being asked. */
function riskOfPath(path: string): number {
  return /(^|\/)\.git(\/|$)/i.test(path) ? RISK.high : RISK.low
}

export type Asking = {
  /** Null when no analyzer is set: then everything that could be asked about is. */
  readonly risk: number | null
  /** The level from which on the owner wants to be asked; null for the usual one. */
  readonly severity: number | null
}

/** For owners who want to confirm: only what runs code is asked about. */
export function needsConfirmation({ source, action, args }: ActionEvent, { risk, severity }: Asking): boolean {
  if (source !== 'agent' || !RUNS_CODE.has(action)) return false
  // A command that a tool made itself, to search for instance.
  if (args.is_static === true) return false
  return risk === null || risk === RISK.unknown || risk >= (severity ?? DEFAULT_RISK_SEVERITY)
}

const RUNS_CODE: ReadonlySet<string> = new Set(['run', 'run_ipython'])
