// The narrator that uses a configured language model. A busy model is asked once more.

import { sleep } from '../../lib/wait-at-most.ts'
import { type AskOptions, type LanguageModel, ModelError, type ModelFailure } from '../../llm/model.ts'
import type { NarratorFault } from '../codes.ts'
import { type Narrator, NarratorError, type NarratorReply, type NarratorRequest } from '../narrator.ts'

const MAX_OUTPUT_TOKENS = 8_192
const BUSY_DELAY_MS = 2_000
/** A model that asks for a longer wait is given up, because the texts written by code are available at once. */
const LONGEST_DELAY_MS = 10_000

export function modelNarrator(model: LanguageModel): Narrator {
  return {
    model: model.id,
    async complete(request) {
      const first = await tried(model, request)
      if (first.ok) return first.reply
      const delayMs = first.error instanceof ModelError ? delayAfter(first.error) : null
      if (delayMs === null) throw first.fault
      if (first.fault instanceof NarratorError) request.onRetry?.(first.fault)
      await sleep(delayMs, request.signal)
      request.onTry?.(model.id)
      const second = await tried(model, request)
      if (!second.ok) throw second.fault
      return second.reply
    },
  }
}

/** A narrator that cannot be used, with the reason. */
export function failingNarrator(fault: NarratorFault, model: string | null = null): Narrator {
  return {
    model,
    async complete() {
      throw new NarratorError(fault, { model })
    },
  }
}

type Tried = { ok: true; reply: NarratorReply } | { ok: false; error: unknown; fault: unknown }

/** One request to the model and its fallbacks; each failure is reported, the last one as the fault. */
async function tried(model: LanguageModel, request: NarratorRequest): Promise<Tried> {
  let last: NarratorError | null = null
  const onFailed: AskOptions['onFailed'] = ({ error, id, next }) => {
    const failed = faultOf(error, { id })
    if (next === null) {
      last = failed
      return
    }
    request.onRetry?.(failed)
    request.onTry?.(next)
  }
  try {
    return { ok: true, reply: await ask(model, request, onFailed) }
  } catch (error) {
    return { ok: false, error, fault: last ?? (error instanceof ModelError ? faultOf(error, model) : error) }
  }
}

async function ask(
  model: LanguageModel,
  request: NarratorRequest,
  onFailed: AskOptions['onFailed'],
): Promise<NarratorReply> {
  let characters = 0
  const reply = await model.ask(
    {
      system: request.system,
      messages: [{ role: 'user', content: [{ type: 'text', text: request.prompt }] }],
      tools: [],
    },
    {
      signal: request.signal,
      schema: request.schema,
      maxOutputTokens: MAX_OUTPUT_TOKENS,
      ...(onFailed === undefined ? {} : { onFailed }),
      onDelta: (delta) => {
        if (delta.kind !== 'text') return
        characters += delta.text.length
        request.onText?.(characters)
      },
    },
  )
  const { promptTokens, completionTokens } = reply.usage
  const id = reply.answeredBy ?? model.id
  const slash = id.indexOf('/')
  return {
    output: reply.text,
    model: id,
    provider: slash > 0 ? id.slice(0, slash) : null,
    tokens: promptTokens + completionTokens || null,
    usage: { input: promptTokens, output: completionTokens },
    isCutOff: reply.finish === 'length',
  }
}

/** How long to wait before the second try; null: there is none. */
function delayAfter({ kind, isPassing, retryAfterMs }: ModelError): number | null {
  if (!isPassing || kind === 'timeout' || kind === 'unusable_reply') return null
  const delayMs = retryAfterMs ?? BUSY_DELAY_MS
  return delayMs > LONGEST_DELAY_MS ? null : delayMs
}

const FAULT: Record<ModelFailure, NarratorFault> = {
  authentication: 'bad_key',
  out_of_credits: 'quota',
  rate_limit: 'rate_limit',
  context_too_long: 'refused',
  content_policy: 'refused',
  unavailable: 'network',
  internal: 'vendor_error',
  timeout: 'timeout',
  broken_stream: 'broke_off',
  unusable_reply: 'bad_json',
  bad_request: 'refused',
  address_refused: 'refused',
  budget_spent: 'budget',
  budget_held: 'budget',
}
const NO_SUCH_MODEL = /model.{0,60}(not found|does not exist|unknown|not exist|no access)|unknown model/i

function faultOf(error: ModelError, { id }: Pick<LanguageModel, 'id'>): NarratorError {
  const fault = error.kind === 'bad_request' && NO_SUCH_MODEL.test(error.message) ? 'unknown_model' : FAULT[error.kind]
  return new NarratorError(fault, { model: id, cause: error })
}
