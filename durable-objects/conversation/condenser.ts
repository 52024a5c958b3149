// Keeps what the model sees within its bounds: older events are left out, with a summary of them where one is written.
// Nothing is deleted; an event says what is no longer shown.

import { condensation } from '../../src/agent/actions.ts'
import { type Condensing, condensing, summaryPrompt, summaryText } from '../../src/agent/condenser.ts'
import type { NewEvent } from '../../src/agent/events.ts'
import { fixedTokens } from '../../src/agent/tokens.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { addUsage, newMetrics } from '../../src/llm/metrics.ts'
import { type LanguageModel, ModelError, type ModelReply } from '../../src/llm/model.ts'
import type { History } from './history.ts'
import type { Outfit } from './outfit.ts'
import type { StepOutcome } from './step-outcome.ts'
import type { Desk } from './turn.ts'

export class Condenser {
  readonly #desk: Desk
  readonly #history: History

  constructor(desk: Desk, history: History) {
    this.#desk = desk
    this.#history = history
  }

  /** Null when there is nothing to condense. A summary that cannot be had does not hold the turn up. */
  async condense(outfit: Outfit, model: LanguageModel, signal: AbortSignal): Promise<StepOutcome | null> {
    const plan = condensing({
      view: this.#history.view(),
      isRequested: false,
      summarizes: outfit.condenses,
      contextWindow: model.contextWindow,
      fixedTokens: fixedTokens({ system: outfit.system, tools: [...outfit.tools.values()] }),
    })
    if (plan === null) return null
    try {
      const reply = await model.ask(this.#question(plan, model), { signal })
      const event = condensed(plan, { text: summaryText(reply.text), offset: plan.offset })
      return { events: [event], stored: () => this.#count(model, reply) }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ModelError)) throw error
      log.warn('agent.summary_failed', errorFields(error))
      return { events: [condensed(plan, null)] }
    }
  }

  /** Leaves out the older half; null when there is nothing left to leave out. */
  shorten(): NewEvent | null {
    const view = this.#history.view()
    const plan = condensing({ view, isRequested: true, summarizes: false, contextWindow: null, fixedTokens: 0 })
    return plan && condensed(plan, null)
  }

  #question({ places }: Condensing, { contextWindow }: LanguageModel) {
    const entries = this.#history.entries()
    const gone = places.flatMap((at) => entries[at] ?? [])
    const former = gone.find(({ content }) => content.kind === 'summary')
    const formerText = former?.content.kind === 'summary' ? former.content.parts : []
    return summaryPrompt({
      former: formerText.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') || null,
      forgotten: gone.filter((entry) => entry !== former).flatMap((entry) => this.#history.messagesOf(entry)),
      contextWindow,
    })
  }

  #count(model: LanguageModel, reply: ModelReply): void {
    const { turn } = this.#desk
    turn.change({ metrics: addUsage(turn.value.metrics ?? newMetrics(), model, reply) })
  }
}

function condensed({ from, to }: Condensing, summary: { text: string; offset: number } | null): NewEvent {
  return condensation({ ids: { start: from, end: to }, summary })
}
