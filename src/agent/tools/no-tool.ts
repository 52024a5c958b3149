// Kinds of actions that no tool makes: events of the conversation itself, and actions in recordings from other services.

import { type ActionKind, always, contentOf, plainText, withoutRemarks } from './action-kind.ts'
import { RISK_OF_NOTHING } from './control.ts'
import { WRITE } from './editor-kinds.ts'

const OWN: Omit<ActionKind, 'action'> = {
  observation: 'null',
  risk: RISK_OF_NOTHING,
  asks: () => 'never',
  view: () => '',
  ends: null,
  modelText: plainText,
  replay: 'by-itself',
  sameAction: withoutRemarks,
  sameOutcome: contentOf,
}

/** A message is played again as what it is, and not as a call. */
const SPOKEN: readonly ActionKind[] = ['message', 'null'].map((action) => ({ ...OWN, action, replay: null }))

const BOOKKEEPING: readonly ActionKind[] = [
  ...['system', 'change_agent_state', 'condensation', 'condensation_request'].map((action) => ({ ...OWN, action })),
  { ...OWN, action: 'recall', observation: 'recall' },
]

const REFUSAL: ActionKind = { ...OWN, action: 'reject', ends: 'rejected', replay: null }

const OTHER_CODE: Omit<ActionKind, 'action'> = {
  ...OWN,
  risk: {
    by: 'rules',
    rules: [{ risk: 'high', about: 'other code', says: 'runs Python, or does something in a browser', given: always }],
  },
  asks: () => 'by-risk',
  replay: null,
}

export const NO_TOOL_KINDS: readonly ActionKind[] = [
  ...SPOKEN,
  ...BOOKKEEPING,
  REFUSAL,
  WRITE,
  { ...OTHER_CODE, action: 'run_ipython', observation: 'run_ipython', view: () => 'Running Python' },
  { ...OTHER_CODE, action: 'browse_interactive', observation: 'browse', view: () => 'Using a browser' },
]
