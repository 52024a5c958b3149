// What is known of a model before it is asked: how much it reads, what it can do, what it costs.

import type { ModelFacts } from './ask.ts'
import { KEYED_PROVIDERS, type KeyedProvider, partsOf } from './providers.ts'

/** Names of models with eyes, for servers whose models no catalogue lists. */
const SEEING = /(^|[^a-z])(vl|vision|llava|pixtral|omni|multimodal|gemma-?3|llama-?4|gpt-4o|gpt-5|claude|gemini)/i

const unknownFacts = (model: string): ModelFacts => ({
  contextWindow: null,
  maxOutputTokens: null,
  callsTools: true,
  seesImages: SEEING.test(model),
  reasons: false,
  takesTemperature: true,
  prices: null,
})

/**
 * By its id. Behind a gateway the same model is known by its bare name; what it costs there, and whether its thoughts come
 * through as the vendor wants them back, is the gateway's own affair.
 */
export async function modelFacts(id: string): Promise<ModelFacts> {
  const { provider, model } = partsOf(id)
  const { findModel } = await import('./lazy/catalogue.ts')
  const listed = provider === null ? null : findModel(provider.name, model)
  if (listed !== null) return listed
  const isKeyed = provider !== null && KEYED_PROVIDERS.includes(provider.name as KeyedProvider)
  const namesake = isKeyed ? null : namesakeOf(model, findModel)
  return namesake === null ? unknownFacts(model) : { ...namesake, prices: null, reasons: false }
}

type Find = (provider: string, model: string) => ModelFacts | null

function namesakeOf(model: string, find: Find): ModelFacts | null {
  const bare = model.slice(model.lastIndexOf('/') + 1)
  for (const provider of KEYED_PROVIDERS) {
    const found = find(provider, bare)
    if (found !== null) return found
  }
  return null
}
