// Tests a model with the values in the form of the analysis page's settings. Nothing is stored.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../../../config.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { laxBool, laxInt } from '../../../lib/lax.ts'
import { listedModels } from '../../../llm/models.ts'
import { partsOf } from '../../../llm/providers.ts'
import { type Trial, type Tried, trialModel, triedModel } from '../../model-trial.ts'
import { MASK } from './configuration/fields.ts'
import { readState } from './configuration/state.ts'
import { pageTexts } from './texts.ts'
import { failureSentence } from './trial-failures.ts'

const app = router(analysisEnvelope)
const common = { method: 'post', scope: 'analysis', limit: 'writes', bodyLimit: 'standard', tag: 'Settings' } as const
/** The page stops waiting after 30 s. */
const MOST_MS = 25_000
const CHECKS = ['json', 'tools', 'stream', 'vision'] as const

const ModelEntry = z.object({
  name: z.string().max(100),
  protocol: z.string().max(50),
  base_url: z.string().max(2000).nullish(),
  api_key: z.string().max(8000).nullish(),
  models: z.array(z.string().max(300)).max(50).default([]),
  enabled: laxBool().default(true),
  timeout_seconds: laxInt({ min: 1, max: 300 }).default(20),
  use_saved_secret: laxBool().default(false),
})
type ModelEntry = z.infer<typeof ModelEntry>

const ModelEntryTrial = ModelEntry.extend({
  capability_checks: z.array(z.enum(CHECKS)).max(4).nullish(),
}).openapi('ModelEntryTrial')
const ModelList = ModelEntry.openapi('ModelListRequest')

const Stage = z.enum([
  ...['model_discovery', 'chat_completion', 'response_parse'],
  ...CHECKS.map((check) => `capability_${check}` as const),
] as const)
const details = z.object({ reason: z.string().optional() })
const Capability = z
  .object({
    status: z.enum(['passed', 'failed', 'skipped']),
    message: z.string(),
    error_code: z.string().nullable(),
    stage: z.string(),
    retryable: z.boolean(),
    latency_ms: z.int().nullable(),
    details,
  })
  .openapi('ModelCapability')
type Capability = z.infer<typeof Capability>

const outcome = {
  success: z.boolean(),
  message: z.string(),
  error: z.string().nullable(),
  error_code: z.string().nullable(),
  stage: Stage.nullable(),
  retryable: z.boolean(),
  details,
  resolved_protocol: z.string().nullable(),
  resolved_model: z.string().nullable(),
  latency_ms: z.int().nullable(),
}
const ModelEntryTested = z
  .object({ ...outcome, capability_results: z.record(z.string(), Capability) })
  .openapi('ModelEntryTested')
const ModelsFound = z.object({ ...outcome, models: z.array(z.string()) }).openapi('ModelsFound')

endpoint(
  app,
  {
    ...common,
    path: '/api/v1/system/config/llm/test-channel',
    summary: 'Ask the first model of an entry one short question, and try what it can do',
    body: { schema: ModelEntryTrial, required: true },
    replies: { 200: { description: 'What came of it, also where it failed', schema: ModelEntryTested } },
  },
  async (c, { body }) => {
    const until = Date.now() + Math.min(MOST_MS, body.timeout_seconds * 1000)
    const own = await ownModel(c, body)
    if (own === null) return c.json({ ...failed(c, body, 'needs-key'), capability_results: {} })
    const trial = await triedModel(c.env, own, Math.max(1, until - Date.now()))
    const result = trial.ok
      ? passed(c, body, trial)
      : failed(c, body, trial.failure, failureSentence(trial, callerLanguage(c)))
    const asked = body.capability_checks ?? []
    const found: Record<string, Capability> = {}
    for (const check of trial.ok ? asked : []) found[check] = await capability(c, own, { check, until })
    return c.json({ ...result, latency_ms: trial.latency_ms, capability_results: found })
  },
)

/**
 * The values of the entry, with the stored key if the form has its mask: only for the stored provider at the stored
 * address, otherwise a signed-in user could have the key sent to any address. Null if they differ.
 */
async function ownModel(c: Context<AppEnv>, entry: ModelEntry): Promise<Tried | null> {
  const protocol = entry.protocol.trim().toLowerCase()
  const [name = ''] = entry.models
  const llmModel = name.startsWith(`${protocol}/`) || protocol === '' ? name : `${protocol}/${name}`
  const { owner } = c.get('principal')
  const own = { owner, llmModel: llmModel || null, llmBaseUrl: entry.base_url?.trim() || null }
  if (!entry.use_saved_secret && entry.api_key !== MASK) return { ...own, llmApiKey: entry.api_key?.trim() || null }
  const { settings, mayChangeAgents } = await readState(c)
  const isSame =
    partsOf(settings.llmModel ?? '').prefix === protocol && originOf(settings.llmBaseUrl) === originOf(own.llmBaseUrl)
  return isSame && mayChangeAgents && settings.llmApiKey !== null ? { ...own, llmApiKey: settings.llmApiKey } : null
}

const originOf = (address: string | null): string | null =>
  address !== null && URL.canParse(address) ? new URL(address).origin : null

type TrialResult = Omit<z.infer<typeof ModelEntryTested>, 'capability_results'>

function passed(c: Context<AppEnv>, { protocol }: ModelEntry, { model }: Trial): TrialResult {
  const { modelAnswers: message } = pageTexts(callerLanguage(c)).trial
  return {
    ...{ success: true, message, error: null, error_code: null, stage: null, retryable: false, details: {} },
    ...{ resolved_protocol: protocol, resolved_model: model, latency_ms: null },
  }
}

/** The page's codes for a failure, with a reason if it has one. */
const FAILURES: Readonly<Record<NonNullable<Trial['failure']>, readonly [code: string, reason?: string]>> = {
  authentication: ['auth', 'api_key_rejected'],
  out_of_credits: ['quota', 'insufficient_balance'],
  rate_limit: ['quota', 'rate_limit'],
  context_too_long: ['format_error'],
  content_policy: ['request_blocked', 'provider_blocked'],
  unavailable: ['network_error'],
  internal: ['network_error'],
  timeout: ['timeout'],
  broken_stream: ['network_error'],
  unusable_reply: ['empty_response'],
  bad_request: ['model_not_found'],
  no_model: ['invalid_config'],
  'needs-key': ['invalid_config', 'missing_api_key'],
  'needs-address': ['invalid_config'],
  address_refused: ['invalid_config'],
  budget_spent: ['quota', 'insufficient_balance'],
  budget_held: ['quota', 'rate_limit'],
}
const PASSING: ReadonlySet<string> = new Set(['rate_limit', 'unavailable', 'internal', 'timeout', 'broken_stream'])

function failed(
  c: Context<AppEnv>,
  { protocol }: ModelEntry,
  failure: Trial['failure'],
  error: string | null = null,
): TrialResult {
  const [error_code, reason] = FAILURES[failure ?? 'internal']
  const say = pageTexts(callerLanguage(c)).trial
  return {
    ...{ success: false, message: failure === 'needs-key' ? say.noKey : say.modelFails, error, error_code },
    ...{
      stage: 'chat_completion',
      retryable: PASSING.has(failure ?? ''),
      details: reason === undefined ? {} : { reason },
    },
    ...{ resolved_protocol: protocol, resolved_model: null, latency_ms: null },
  }
}

const ANSWER = { type: 'object', properties: { ready: { type: 'boolean' } }, required: ['ready'] } as const
const TOOL = { name: 'report_ready', description: 'Says that you are ready', parameters: ANSWER }

async function capability(
  c: Context<AppEnv>,
  own: Tried,
  { check, until }: { check: (typeof CHECKS)[number]; until: number },
): Promise<Capability> {
  const say = pageTexts(callerLanguage(c)).trial
  const bare = { error_code: null, stage: `capability_${check}`, retryable: false, latency_ms: null, details: {} }
  const skipped = { ...bare, status: 'skipped' as const, message: say.notTried, error_code: 'skipped' }
  const left = until - Date.now()
  const model = check === 'vision' || left < 1000 ? null : await trialModel(c.env, own, left)
  if (model === null) return skipped
  let isStreamed = false
  const text =
    check === 'json' ? 'Answer with the JSON {"ready": true} alone' : 'Call report_ready with ready set to true'
  const content = [{ type: 'text' as const, text: check === 'stream' ? 'Count from one to five' : text }]
  const prompt = { system: '', messages: [{ role: 'user' as const, content }], tools: check === 'tools' ? [TOOL] : [] }
  try {
    const reply = await model.ask(prompt, {
      maxOutputTokens: 512,
      onDelta: () => {
        isStreamed = true
      },
      ...(check === 'json' && { schema: ANSWER }),
    })
    const can = { json: isJson(reply.text), tools: reply.calls.length > 0, stream: isStreamed }[check as 'json']
    const { latencyMs: latency_ms } = reply
    if (can) return { ...bare, status: 'passed', message: say.can, latency_ms }
    const details = { reason: 'capability_unsupported' }
    return { ...bare, status: 'failed', message: say.cannot, error_code: 'capability_unsupported', details, latency_ms }
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ModelError') throw error
    return { ...bare, status: 'failed', message: error.message, error_code: 'network_error', retryable: true }
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text.replace(/^```(?:json)?\s*|\s*```$/g, ''))
    return true
  } catch {
    // It is not valid JSON.
    return false
  }
}

const LISTING: ReadonlySet<string> = new Set(['openai', 'deepseek'])

endpoint(
  app,
  {
    ...common,
    path: '/api/v1/system/config/llm/discover-models',
    summary: 'The models that a provider of the OpenAI kind lists',
    body: { schema: ModelList, required: true },
    replies: { 200: { description: 'Their names, or why they cannot be had', schema: ModelsFound } },
  },
  async (c, { body }) => {
    const own = await ownModel(c, body)
    const nothing = { models: [], stage: 'model_discovery' as const }
    if (own === null) return c.json({ ...failed(c, body, 'needs-key'), ...nothing })
    const say = pageTexts(callerLanguage(c)).trial
    if (!LISTING.has(body.protocol.toLowerCase())) {
      return c.json({
        ...failed(c, body, 'no_model'),
        ...nothing,
        message: say.noList,
        error_code: 'unsupported_protocol',
      })
    }
    const found = await modelsAt(c, body, own)
    if (typeof found === 'string') return c.json({ ...failed(c, body, found), ...nothing })
    return c.json({ ...passed(c, body, { model: null } as Trial), message: say.found(found.length), models: found })
  },
)

/** The names of the models, or why they cannot be listed. */
async function modelsAt(c: Context<AppEnv>, { protocol, timeout_seconds }: ModelEntry, own: Tried) {
  const address = own.llmBaseUrl ?? partsOf(`${protocol.toLowerCase()}/x`).provider?.baseUrl ?? ''
  if (address === '') return 'needs-address' as const
  const timeoutMs = Math.min(MOST_MS, timeout_seconds * 1000)
  return listedModels({ address, key: own.llmApiKey, policy: config(c.env).addressPolicy, timeoutMs })
}

export { app as modelTrials }
