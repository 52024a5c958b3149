// The model backends in the form of the existing page: one backend, the owner's model. Nothing runs its own processes
// at the edge.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../../../config.ts'
import { ownerSettings } from '../../../db/settings.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { chooseModel, isChoice } from '../../../llm/choose.ts'
import { triedModel } from '../../model-trial.ts'
import { pageTexts } from './texts.ts'

const app = router(analysisEnvelope)
const ROOT = '/api/v1/system/config/generation-backends'
/** The page stops waiting after 30 s. */
const MOST_MS = 25_000

const Backend = z
  .object({
    backend_id: z.literal('litellm').describe('The only one'),
    backend_type: z.literal('litellm').describe('A model that is asked over the network'),
    provider_id: z.string().nullable().describe('`provider/model`; null where none is set'),
    is_primary: z.literal(true).describe('The only one'),
    available: z.boolean().describe('Whether a model is set up'),
    health_status: z
      .enum(['not_tested', 'passed', 'failed', 'skipped'])
      .describe('What the last trial of this answer said'),
    supports_json: z.boolean().describe('Whether it is asked for JSON'),
    supports_tools: z.boolean().describe('Whether it is given tools'),
    supports_stream: z.boolean().describe('Whether its answers are streamed'),
    max_concurrency: z.int().nullable().describe('Null: not limited here'),
    last_error_code: z.string().nullable().describe('`not_configured`, or why the trial failed'),
    last_error_message: z.string().nullable().describe('The same in words'),
  })
  .openapi('GenerationBackend')
type Backend = z.infer<typeof Backend>

const Status = z
  .object({
    primary_backend_id: z.literal('litellm').describe('The one in use'),
    fallback_backend_id: z.string().nullable().describe('Null: none stands in'),
    primary: Backend,
    fallback: Backend.nullable().describe('Null: none stands in'),
    backends: z.array(Backend).describe('All of them'),
  })
  .openapi('GenerationBackends')

const common = { scope: 'analysis', bodyLimit: 'standard', tag: 'Settings' } as const
const Items = z
  .array(
    z.object({
      key: z.string().max(200).describe('A key of the document'),
      value: z.string().max(16_384).describe('Its value'),
    }),
  )
  .max(200)
  .describe('What stands in the form')
  .default([])
const mask_token = z.string().max(100).nullish().describe('What stands for a secret')
const refused = { 400: { description: 'A backend that runs processes' } }

endpoint(
  app,
  {
    ...common,
    method: 'get',
    limit: 'reads',
    path: `${ROOT}/status`,
    summary: 'The model behind the analyses and talks, as the existing page lists it',
    replies: { 200: { description: 'The one there is', schema: Status } },
  },
  async (c) => c.json(statusOf(await backendOf(c))),
)

endpoint(
  app,
  {
    ...common,
    method: 'post',
    limit: 'reads',
    path: `${ROOT}/status/preview`,
    summary: 'The same with what stands in the form',
    body: { required: true, schema: z.object({ items: Items, mask_token }).openapi('GenerationBackendsPreview') },
    replies: { 200: { description: 'The one there is', schema: Status }, ...refused },
  },
  async (c, { body }) => {
    refuseProcesses(c, body.items)
    return c.json(statusOf(await backendOf(c, body.items)))
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'post',
    limit: 'writes',
    path: `${ROOT}/smoke-test`,
    summary: 'Ask the stored model one short question',
    body: {
      required: true,
      schema: z
        .object({
          mode: z.enum(['json', 'text']).describe('Not told apart: the question is the same').default('text'),
          items: Items,
          mask_token,
        })
        .openapi('GenerationBackendTrial'),
    },
    replies: {
      200: {
        description: 'What came of it, also where it failed',
        schema: z
          .object({
            success: z.boolean().describe('Whether it answered'),
            mode: z.enum(['json', 'text']).describe('As it was asked for'),
            message: z.string().describe('What came of it'),
            status: Status,
          })
          .openapi('GenerationBackendTried'),
      },
      ...refused,
    },
  },
  async (c, { body }) => {
    refuseProcesses(c, body.items)
    const texts = pageTexts(callerLanguage(c))
    const before = await backendOf(c)
    const { settings } = await settingsOf(c)
    if (!before.available || settings === null) {
      return c.json({ success: false, mode: body.mode, message: texts.setup.modelWithout, status: statusOf(before) })
    }
    const { llmModel, llmBaseUrl, llmApiKey } = settings
    const { owner } = c.get('principal')
    const trial = await triedModel(c.env, { owner, llmModel, llmBaseUrl, llmApiKey }, MOST_MS)
    const tested: Backend = trial.ok
      ? { ...before, health_status: 'passed' }
      : { ...before, health_status: 'failed', last_error_code: trial.failure, last_error_message: trial.error }
    const message = trial.ok ? texts.trial.modelAnswers : texts.trial.modelFails
    return c.json({ success: trial.ok, mode: body.mode, message, status: statusOf(tested) })
  },
)

type Item = { key: string; value: string }

function refuseProcesses(c: Context<AppEnv>, items: readonly Item[]): void {
  if (!items.some(({ value }) => /\blocal_cli\b/.test(value))) return
  throw new AppError('bad_request', pageTexts(callerLanguage(c)).noProcesses, { word: 'validation_failed' })
}

async function settingsOf(c: Context<AppEnv>) {
  const read = await ownerSettings(c.env, c.get('principal').owner)
  const settings = read.ok ? read.settings : null
  return { settings, chosen: settings && chooseModel(settings, config(c.env).models.operator) }
}

/** Only the model's name is taken from the form: a trial tells whether its key is valid. */
async function backendOf(c: Context<AppEnv>, items: readonly Item[] = []): Promise<Backend> {
  const { chosen } = await settingsOf(c)
  const stored = chosen !== null && isChoice(chosen) ? chosen.id : null
  const typed = items.find(({ key }) => key === 'LITELLM_MODEL')?.value.trim() ?? ''
  const model = typed === '' ? stored : typed
  return {
    ...{ backend_id: 'litellm', backend_type: 'litellm', provider_id: model, is_primary: true },
    ...{ available: model !== null, health_status: model === null ? 'skipped' : 'not_tested' },
    ...{ supports_json: true, supports_tools: true, supports_stream: true, max_concurrency: null },
    last_error_code: model === null ? 'not_configured' : null,
    last_error_message: model === null ? pageTexts(callerLanguage(c)).setup.modelWithout : null,
  }
}

const statusOf = (primary: Backend) => ({
  ...{ primary_backend_id: 'litellm' as const, fallback_backend_id: null, primary, fallback: null },
  backends: [primary],
})

export { app as generationBackends }
