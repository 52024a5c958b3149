// Observations that more than one tool makes.

import type { ObservationEvent } from '../events.ts'
import { errorObservation, runObservation } from '../observations.ts'
import type { Outcome } from './tool.ts'

/** The source of every action of a tool and of its observation. */
export const AGENT = 'agent'

export type RunResult = {
  command: string
  output: string
  exitCode: number
  workingDir: string
  /** For the model, beside the output; empty for nothing. */
  remark?: string
}

export function runOutcome({ remark = '', ...result }: RunResult): Outcome {
  const observation = withoutCause(runObservation(AGENT, 0, { ...result, hidden: false }))
  const metadata = { ...(observation.extras.metadata as object), suffix: remark }
  return { ...observation, extras: { ...observation.extras, metadata } }
}

export function errorOutcome(text: string): Outcome {
  return withoutCause(errorObservation(AGENT, text))
}

/** What a file tool shows; errors begin as clients know them. */
export function readOutcome(path: string, content: string): Outcome {
  const message = `I read the file ${path}.`
  const extras = { path, impl_source: 'oh_aci' }
  return { source: AGENT, message, observation: 'read', content, extras }
}

export function asError(text: string): string {
  return `ERROR:\n${text}`
}

function withoutCause({ cause: _cause, ...outcome }: ObservationEvent): Outcome {
  return outcome
}
