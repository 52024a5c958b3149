// Chooses the model, its address and the key. The most important rule: a key of the operator is sent to an address of
// the operator or of the provider itself, never to an address that a user chose.

import {
  type Dialect,
  GATEWAY_PREFIXES,
  KEYED_PROVIDERS,
  type KeyedProvider,
  type Provider,
  partsOf,
} from './providers.ts'

/** What the operator's environment says about models. */
export type OperatorModels = {
  readonly model: string | null
  readonly baseUrl: string | null
  readonly apiKey: string | null
  readonly keys: Readonly<Partial<Record<KeyedProvider, string | null>>>
  readonly gateway: { readonly baseUrl: string | null; readonly apiKey: string | null }
  /** Tried in turn when `model` cannot answer; only for owners without a model of their own. */
  readonly fallbacks?: readonly string[]
  readonly hasWorkersAi: boolean
}

/** What an owner's settings say; null or empty where nothing is set. */
export type OwnModel = {
  readonly llmModel: string | null
  readonly llmBaseUrl: string | null
  readonly llmApiKey: string | null
}

export type ModelChoice = {
  /** `provider/model`, as it was named. */
  readonly id: string
  /** The vendor's name, for messages to users. */
  readonly label: string
  readonly dialect: Dialect
  /** The provider's own name of the model. */
  readonly model: string
  /** Null for a binding. */
  readonly baseUrl: string | null
  readonly apiKey: string | null
  /** False: the address is requested through the guarded fetch. */
  readonly isTrustedAddress: boolean
  readonly fallbacks?: readonly ModelChoice[]
}

/** Why a model cannot be used: its key is missing, or its address is unknown. */
export type NoChoice = 'needs-key' | 'needs-address'

/** Null: no model is set. */
export function chooseModel(own: OwnModel, operator: OperatorModels): ModelChoice | null | NoChoice {
  const chosen = chooseOne(own, operator)
  const isDefault = filled(own.llmModel) === null && filled(own.llmBaseUrl) === null
  if (!isDefault || !isChoice(chosen)) return chosen
  const fallbacks = (operator.fallbacks ?? []).flatMap((llmModel) => {
    const other = chooseOne({ llmModel, llmBaseUrl: null, llmApiKey: null }, operator)
    return isChoice(other) ? [other] : []
  })
  return fallbacks.length === 0 ? chosen : { ...chosen, fallbacks }
}

/**
 * The settings with another model for one conversation. The stored key belongs to the stored model: another model uses
 * it only if both have the same address, which is the owner's own address or the same provider.
 */
export function withModel<Own extends OwnModel>(own: Own, model: string | null): Own {
  if (model === null || model === own.llmModel) return own
  const provider = partsOf(model).provider
  const isSamePlace =
    filled(own.llmBaseUrl) !== null || (provider !== null && provider === partsOf(own.llmModel ?? '').provider)
  return { ...own, llmModel: model, llmApiKey: isSamePlace ? own.llmApiKey : null }
}

/** What the owner can do about a model with an unknown address, as a sentence. */
export function unknownModel(own: OwnModel, operator: OperatorModels): string {
  const name = filled(own.llmModel) ?? filled(operator.model) ?? ''
  return `Nobody here knows where the model ${name} is asked. Change llm_model in the settings to a provider/model that is known here, or set llm_base_url to the address of its server.`
}

export const isChoice = (chosen: ModelChoice | null | NoChoice): chosen is ModelChoice =>
  typeof chosen === 'object' && chosen !== null

function chooseOne(own: OwnModel, operator: OperatorModels): ModelChoice | null | NoChoice {
  const id = filled(own.llmModel) ?? filled(operator.model)
  if (id === null) return null
  const ownKey = filled(own.llmApiKey)
  const parts = partsOf(id)
  const ownUrl = ownAddress(own.llmBaseUrl, parts.provider)
  if (ownUrl !== null) {
    return { ...atAddress({ id, ...parts }, { baseUrl: ownUrl, apiKey: ownKey }), isTrustedAddress: false }
  }
  const isOperators = filled(own.llmModel) === null || own.llmModel?.trim() === operator.model
  const place = isOperators && operator.baseUrl !== null ? { baseUrl: operator.baseUrl, apiKey: operator.apiKey } : null
  if (place !== null) return atAddress({ id, ...parts }, { ...place, apiKey: ownKey ?? place.apiKey })
  if (parts.provider === null) return behindGateway({ id, ...parts }, { operator, ownKey })
  return atProvider(id, { provider: parts.provider, model: parts.model }, { operator, ownKey })
}

type Named = { id: string; prefix: string | null; provider: Provider | null; model: string }
type ModelEndpoint = { baseUrl: string; apiKey: string | null }
type KeySources = { operator: OperatorModels; ownKey: string | null }

/** The provider's own address does not count as chosen by the user. */
function ownAddress(baseUrl: string | null, provider: Provider | null): string | null {
  const address = filled(baseUrl)?.replace(/\/+$/, '') ?? null
  const isProviders = provider?.needsKey === true && address === provider.baseUrl
  return isProviders ? null : address
}

function atAddress({ id, provider, model }: Named, { baseUrl, apiKey }: ModelEndpoint): ModelChoice {
  // "OpenAI at another address" is how users name any server that speaks the chat dialect.
  const isAbroad = provider === null || provider.baseUrl !== baseUrl
  const spoken = provider?.dialect ?? 'openai-chat'
  const dialect = isAbroad && (spoken === 'openai-responses' || spoken === 'workers-ai') ? 'openai-chat' : spoken
  const label = isAbroad ? 'The model server' : provider.label
  return { id, label, dialect, model, baseUrl, apiKey, isTrustedAddress: true }
}

function behindGateway(named: Named, { operator, ownKey }: KeySources): ModelChoice | NoChoice {
  const { baseUrl, apiKey } = operator.gateway
  if (named.prefix === null || !GATEWAY_PREFIXES.has(named.prefix)) return 'needs-address'
  if (baseUrl === null) return 'needs-key'
  return { ...atAddress(named, { baseUrl, apiKey: ownKey ?? apiKey }), label: 'The gateway' }
}

function atProvider(
  id: string,
  { provider, model }: { provider: Provider; model: string },
  { operator, ownKey }: KeySources,
): ModelChoice | NoChoice {
  const { label, dialect, baseUrl } = provider
  const apiKey = ownKey ?? operatorKey(provider, operator)
  if (provider.needsKey && apiKey === null) return 'needs-key'
  const isPlaced = dialect === 'workers-ai' ? operator.hasWorkersAi : baseUrl !== null
  if (!isPlaced) return 'needs-address'
  // A provider without keys runs beside the service or nowhere: the guarded fetch decides whether its address may be
  // requested.
  return { id, label, dialect, model, baseUrl, apiKey, isTrustedAddress: provider.needsKey || dialect === 'workers-ai' }
}

/** `LLM_API_KEY` is the key of `LLM_MODEL`'s provider, unless `LLM_BASE_URL` says that it belongs to another server. */
function operatorKey({ name }: Provider, operator: OperatorModels): string | null {
  const keyed = KEYED_PROVIDERS.find((known) => known === name)
  const own = keyed === undefined ? null : (operator.keys[keyed] ?? null)
  if (own !== null || operator.baseUrl !== null || operator.model === null) return own
  return partsOf(operator.model).provider?.name === name ? operator.apiKey : null
}

function filled(text: string | null): string | null {
  const trimmed = text?.trim() ?? ''
  return trimmed === '' ? null : trimmed
}
