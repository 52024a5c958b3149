import { z } from '@hono/zod-openapi'
import { AGENTS } from '../../agent/agents.ts'
import { config } from '../../config.ts'
import { detailEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { listModels } from '../../llm/models.ts'

const WebClientConfig = z
  .looseObject({
    APP_MODE: z.literal('oss'),
    GITHUB_CLIENT_ID: z.string(),
    POSTHOG_CLIENT_KEY: z.string(),
    FEATURE_FLAGS: z.record(z.string(), z.boolean()),
  })
  .openapi('WebClientConfig')

const app = router(detailEnvelope)
const tag = 'Options'
const names = { 200: { description: 'Sorted names', schema: z.array(z.string()) } }

endpoint(
  app,
  {
    method: 'get',
    path: '/api/options/models',
    scope: 'any',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Model identifiers, `provider/model`, that settings can name',
    example: { reply: ['anthropic/claude-sonnet-4-5', 'openai/gpt-5'] },
    replies: names,
  },
  async (c) => c.json(await listModels(config(c.env).models.operator)),
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/options/agents',
    scope: 'any',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Agents that a conversation can run',
    example: { reply: AGENTS },
    replies: names,
  },
  (c) => c.json(AGENTS),
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/options/security-analyzers',
    scope: 'any',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Security analyzers that settings can name',
    example: { reply: ['invariant'] },
    replies: names,
  },
  (c) => c.json(['invariant']),
)

// The web client reads this first. `oss` is the only mode in which it does not require a login service, and an empty
// analytics key disables its telemetry.
const WEB_CLIENT_CONFIG = {
  APP_MODE: 'oss' as const,
  GITHUB_CLIENT_ID: '',
  POSTHOG_CLIENT_KEY: '',
  FEATURE_FLAGS: { ENABLE_BILLING: false, HIDE_LLM_SETTINGS: false, HIDE_MICROAGENT_MANAGEMENT: true },
}

endpoint(
  app,
  {
    method: 'get',
    path: '/api/options/config',
    scope: 'any',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'What the web client needs to know about this server',
    replies: { 200: { description: 'The configuration', schema: WebClientConfig } },
  },
  (c) => c.json(WEB_CLIENT_CONFIG),
)

export { app as options }
