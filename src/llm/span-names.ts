// The names of a model in spans, following the OpenTelemetry conventions for generative AI.

import { providerName } from '../lib/otlp.ts'
import { partsOf } from './providers.ts'

/** For a model's id, `provider/model`. */
export function modelNames(id: string): { 'gen_ai.provider.name': string; 'gen_ai.request.model': string } {
  const { provider, model } = partsOf(id)
  return { 'gen_ai.provider.name': providerName(provider?.name ?? null), 'gen_ai.request.model': model }
}
