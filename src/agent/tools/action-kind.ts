// Everything that the rest of the service must know about a kind of action and about what it observes. An action lasts longer
// than its call: events are judged, confirmed, shown to a model, compared and played again.

import type { PromptPart } from '../../llm/model.ts'
import type { ObservationEvent } from '../events.ts'
import { cutMiddle } from '../observations.ts'

/** Arguments of an action event; recordings from other services may contain anything. */
export type ActionArgs = Readonly<Record<string, unknown>>

/** What a remote server declares about its tool; nothing verifies it. */
export type ToolHints = { readonly isDestructive: boolean }

/** `places`: of the path in the arguments, as it is written and as the links of the workspace lead. */
export type Judged = {
  readonly args: ActionArgs
  readonly hints: ToolHints | null
  readonly places: readonly string[]
}

/** Users read `about` and `says`. */
export type RiskRule = {
  readonly risk: 'low' | 'medium' | 'high'
  readonly about: string
  readonly says: string
  readonly given: (judged: Judged) => boolean
}

export type Risk =
  /** The first rule that is given counts; the highest stand first. An action for which none is given counts as high. */
  | { readonly by: 'rules'; readonly rules: readonly [RiskRule, ...RiskRule[]] }
  /** It is what the script is that it runs. */
  | { readonly by: 'script'; readonly scriptOf: (args: ActionArgs) => string }

/**
 * Whether it waits where the owner wants to confirm. `by-risk`: from the owner's level on, and always when nothing judges
 * it. `looks`: the same, but never when nothing judges it: to ask about each look at a file would be to ask all the time.
 * `never`: it does nothing outside of the conversation, so there is nothing to agree to.
 */
export type Asks = 'by-risk' | 'looks' | 'never'

/** The call that does the same again. `thought`: what the model says beside it, if it is not what the event says. */
export type ReplayedCall = { readonly name: string; readonly arguments: ActionArgs; readonly thought?: string }

export type ActionKind = {
  /** The name that its events have, and that of what it observes. */
  readonly action: string
  readonly observation: string
  readonly risk: Risk
  readonly asks: (args: ActionArgs) => Asks
  /** One line for the person who confirms, where the event has no description itself. */
  readonly view: (args: ActionArgs) => string
  /** The state in which it leaves the agent; null for one that has something to run. */
  readonly ends: 'finished' | 'rejected' | null
  /** The text of the observation for a model. Never empty: an empty result looks like a failure to a model. */
  readonly modelText: (observed: ObservationEvent) => PromptPart[]
  /** How a recorded action is replayed. `by-itself`: the service adds it anyway. Null: it cannot be replayed. */
  readonly replay: ((args: ActionArgs) => ReplayedCall) | 'by-itself' | null
  /** What the loop detection compares of two actions and of their outcomes. */
  readonly sameAction: (args: ActionArgs) => unknown
  readonly sameOutcome: (observed: ObservationEvent) => unknown
}

export const always = (): boolean => true

/** One part of a prompt, no longer than a result may be. */
export function textPart(content: string): PromptPart {
  return { type: 'text', text: cutMiddle(content) }
}

/** For `modelText`: the content as it is. */
export const plainText = ({ content }: ObservationEvent): PromptPart[] => [textPart(content || '[done, no output]')]

/** For `sameAction`: what the model said beside it, and what was thought of it, does not make an action another one. */
export function withoutRemarks(args: ActionArgs): ActionArgs {
  const { thought: _thought, security_risk: _risk, confirmation_state: _confirmation, ...same } = args
  return same
}

/** For `sameOutcome`. */
export const contentOf = ({ content }: ObservationEvent): string => content

/** For `replay`: those of the arguments that are given. */
export function givenOf(args: ActionArgs, names: readonly string[]): ActionArgs {
  return Object.fromEntries(names.flatMap((name) => (args[name] == null ? [] : [[name, args[name]]])))
}
