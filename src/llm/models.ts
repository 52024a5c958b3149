// The models that settings can name: the packaged catalogue of every provider for which a user can set a key, and the
// lists of the operator's own providers. The lists are cached; a provider that does not answer is left out, or keeps
// its old list.

import { z } from 'zod'
import { type AddressPolicy, typedByPerson } from '../lib/address-policy.ts'
import { GuardedFetchError, guardedFetch } from '../lib/guarded-fetch.ts'
import { requestJson, UpstreamError } from '../lib/http-client.ts'
import { log } from '../lib/log.ts'
import type { ModelFacts } from './ask.ts'
import type { OperatorModels } from './choose.ts'
import type { ModelFailure } from './model.ts'
import { KEYED_PROVIDERS, type KeyedProvider, partsOf, providerNamed } from './providers.ts'

const KEPT_MS = 600_000
const KEPT_AFTER_FAILURE_MS = 60_000
const DEADLINE_MS = 3_000
const MAX_LISTED = 2_000

type ListDeps = { readonly fetch?: typeof fetch; readonly now?: () => number }

/** Sorted `provider/model` ids without duplicates. Never empty, and never delayed by a provider. */
export async function listModels(operator: OperatorModels | null, deps: ListDeps = {}): Promise<readonly string[]> {
  const { CATALOGUE } = await import('./lazy/catalogue.ts')
  const sources = operator === null ? [] : sourcesOf(operator)
  const lists = await Promise.all(sources.map((source) => known(source, deps)))
  const named = operator?.model == null ? [] : [operator.model]
  return [...new Set([...CATALOGUE, ...named, ...lists.flat()])].sort()
}

type Source = { prefix: string; url: string; apiKey: string | null; kind: 'openai' | 'anthropic' | 'google' }

/** The prefix with which the web client proposes models of the hosted gateway. */
const GATEWAY_PREFIX = 'openhands/'

function sourcesOf({ model, baseUrl, apiKey, keys, gateway }: OperatorModels): Source[] {
  const sources: Source[] = []
  const own = model === null ? null : partsOf(model)
  for (const name of KEYED_PROVIDERS) {
    const isOwn = baseUrl === null && own?.provider?.name === name
    const key = keys[name] ?? (isOwn ? apiKey : null)
    const address = providerNamed(name)?.baseUrl
    if (key === null || address == null) continue
    const kind = name === 'anthropic' || name === 'google' ? name : 'openai'
    sources.push({ prefix: `${name}/`, url: `${address}/models`, apiKey: key, kind })
  }
  if (baseUrl !== null && own !== null) {
    const kind = own.provider?.name === 'anthropic' || own.provider?.name === 'google' ? own.provider.name : 'openai'
    const prefix = own.provider === null || own.prefix === null ? '' : `${own.prefix}/`
    sources.push({ prefix, url: `${baseUrl}/models`, apiKey, kind })
  }
  if (gateway.baseUrl !== null) {
    const { apiKey: key } = gateway
    sources.push({ prefix: GATEWAY_PREFIX, url: `${gateway.baseUrl}/models`, apiKey: key, kind: 'openai' })
  }
  return sources
}

type CachedList = { ids: readonly string[]; until: number }

/** By address and key. Only resolved lists are shared: a request cannot wait for the fetch of another one. */
const kept = new Map<string, CachedList>()

async function known(source: Source, { fetch, now = Date.now }: ListDeps): Promise<readonly string[]> {
  const key = JSON.stringify(source)
  const before = kept.get(key)
  if (before !== undefined && now() < before.until) return before.ids
  try {
    const ids = idsOf(source, await listed(source, fetch))
    kept.set(key, { ids, until: now() + KEPT_MS })
    return ids
  } catch (error) {
    const why = error instanceof UpstreamError ? error.reason : 'unknown_form'
    log.warn('llm.list_failed', { provider: source.prefix, why })
    const ids = before?.ids ?? []
    kept.set(key, { ids, until: now() + KEPT_AFTER_FAILURE_MS })
    return ids
  }
}

async function listed(
  { prefix, url, apiKey, kind }: Source,
  fetch: typeof globalThis.fetch | undefined,
): Promise<unknown> {
  const headers: Record<string, Record<string, string>> = {
    openai: { authorization: `Bearer ${apiKey}` },
    anthropic: { 'x-api-key': apiKey ?? '', 'anthropic-version': '2023-06-01' },
    google: { 'x-goog-api-key': apiKey ?? '' },
  }
  return requestJson(kind === 'openai' ? url : `${url}?${PAGE_SIZE[kind]}`, {
    service: `models of ${prefix}`,
    timeoutMs: DEADLINE_MS,
    retries: 0,
    ...(apiKey === null ? {} : { headers: headers[kind] ?? {} }),
    ...(fetch === undefined ? {} : { fetch }),
  })
}

const PAGE_SIZE = { anthropic: 'limit=1000', google: 'pageSize=1000' } as const

const OpenAiList = z.object({ data: z.array(z.object({ id: z.string() })) })
const GoogleList = z.object({
  models: z.array(z.object({ name: z.string(), supportedGenerationMethods: z.array(z.string()).default([]) })),
})

/** Models whose output is not text. */
const NO_CHAT =
  /embed|whisper|tts|dall-e|moderation|realtime|audio|image|transcribe|speech|rerank|guard|davinci|babbage|sora|veo|ocr|aqa/i
const SOUND = /^[^\s\p{Cc}]{1,200}$/u

function idsOf({ prefix, kind }: Source, answer: unknown): string[] {
  const names =
    kind === 'google'
      ? GoogleList.parse(answer)
          .models.filter(({ supportedGenerationMethods: ways }) => ways.includes('generateContent'))
          .map(({ name }) => name.replace(/^models\//, ''))
      : OpenAiList.parse(answer).data.map(({ id }) => id)
  return names
    .filter((name) => SOUND.test(name) && !NO_CHAT.test(name))
    .slice(0, MAX_LISTED)
    .map((name) => `${prefix}${name}`)
}

// What is known about a model before it is asked: its window, its abilities, its price.

/** Names of models with image input, for servers whose models are in no catalogue. */
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
 * By the model's id. Behind a gateway the same model is found by its bare name; its price and the form of its reasoning
 * there depend on the gateway.
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

// The list of models at `GET <address>/models` of an OpenAI-compatible server:
// https://platform.openai.com/docs/api-reference/models/list.

const LIST_BYTES = 2_000_000
const MOST_MODELS = 1_000
const LONGEST_NAME = 300
const Listed = z.object({ data: z.array(z.object({ id: z.string() })) })

type ListRequest = { address: string; key: string | null; policy: AddressPolicy; timeoutMs: number }

/**
 * The names in the order of the list, or the kind of the failure. Redirects are not followed, because the key would be
 * sent along.
 */
export async function listedModels({ address, key, policy, timeoutMs }: ListRequest): Promise<string[] | ModelFailure> {
  const base = address.replace(/\/+$/, '')
  const limits = { maxBytes: LIST_BYTES, headersTimeoutMs: timeoutMs, totalTimeoutMs: timeoutMs }
  const headers = key === null ? {} : { authorization: `Bearer ${key}` }
  try {
    const door = { policy, chosenBy: typedByPerson(base), showsRedirects: true, limits }
    const response = await guardedFetch(`${base}/models`, { headers }, door)
    if (!response.ok) {
      await response.body?.cancel()
      return failureOf(response.status)
    }
    const read = Listed.safeParse(JSON.parse(await response.text()))
    return read.success ? namesOf(read.data) : 'unusable_reply'
  } catch (error) {
    if (error instanceof SyntaxError) return 'unusable_reply'
    if (!(error instanceof GuardedFetchError)) throw error
    return error.reason === 'timeout' ? 'timeout' : 'unavailable'
  }
}

const namesOf = ({ data }: z.infer<typeof Listed>): string[] =>
  data.map(({ id }) => id.slice(0, LONGEST_NAME)).slice(0, MOST_MODELS)

function failureOf(status: number): ModelFailure {
  if (status === 401 || status === 403) return 'authentication'
  return status === 429 ? 'rate_limit' : 'unavailable'
}
