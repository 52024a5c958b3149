// Everything that the rest of the service must know about a kind of action and its observation. An action lives longer
// than its call: events are judged, confirmed, shown to a model, compared and replayed.

import type { PromptPart } from '../../llm/model.ts'
import type { ObservationEvent } from '../events.ts'
import { cutMiddle } from '../observations.ts'

/** Arguments of an action event; recordings from other services may contain anything. */
export type ActionArgs = Readonly<Record<string, unknown>>

/** What a remote server declares about its tool, unverified. */
export type ToolHints = { readonly isDestructive: boolean }

/** `places`: the path in the arguments, as written and after following the workspace's links. */
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
  /**
   * The first matching rule counts; rules with the highest risk come first. An action without a matching rule has high
   * risk.
   */
  | { readonly by: 'rules'; readonly rules: readonly [RiskRule, ...RiskRule[]] }
  /** The risk is that of the script that the action runs. */
  | { readonly by: 'script'; readonly scriptOf: (args: ActionArgs) => string }

/**
 * Whether the action waits if the owner wants to confirm. `by-risk`: from the owner's level on, and always when no
 * analyzer is set. `looks`: the same, but never when no analyzer is set, because a question about each look at a file
 * would be constant. `never`: it has no effect outside the conversation.
 */
export type Asks = 'by-risk' | 'looks' | 'never'

/** The call that repeats the action. `thought`: the model's text with it, if the event has another one. */
export type ReplayedCall = { readonly name: string; readonly arguments: ActionArgs; readonly thought?: string }

export type ActionKind = {
  /** The names of its action events and of its observations. */
  readonly action: string
  readonly observation: string
  readonly risk: Risk
  readonly asks: (args: ActionArgs) => Asks
  /** One line for the user who confirms, if the event has no description itself. */
  readonly view: (args: ActionArgs) => string
  /** The state of the agent after it; null for an action that runs something. */
  readonly ends: 'finished' | 'rejected' | null
  /** The text of the observation for a model. Never empty, because a model reads an empty result as a failure. */
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

/** For `modelText`: the content unchanged. */
export const plainText = ({ content }: ObservationEvent): PromptPart[] => [textPart(content || '[done, no output]')]

/** For `sameAction`: the model's remarks and judgements do not make two actions different. */
export function withoutRemarks(args: ActionArgs): ActionArgs {
  const { thought: _thought, security_risk: _risk, confirmation_state: _confirmation, ...same } = args
  return same
}

/** For `sameOutcome`. */
export const contentOf = ({ content }: ObservationEvent): string => content

/** For `replay`: the named arguments that are present. */
export function givenOf(args: ActionArgs, names: readonly string[]): ActionArgs {
  return Object.fromEntries(names.flatMap((name) => (args[name] == null ? [] : [[name, args[name]]])))
}
