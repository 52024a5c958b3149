// What is configured and what is missing, for a start page: it shows new users what to do next.

import { z } from '@hono/zod-openapi'
import { AGENTS, agentToRun } from '../agent/agents.ts'
import { owner as ownerOf } from '../bindings.ts'
import { config } from '../config.ts'
import { ownerSettings } from '../db/settings.ts'
import { detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { router } from '../http/router.ts'
import { systemClock } from '../lib/clock.ts'
import { chooseModel, isChoice } from '../llm/choose.ts'
import { MARKET_PROVIDERS } from '../market/providers/registry.ts'

const MODEL_STATES = ['ready', 'none', 'needs-key', 'needs-address', 'unreadable'] as const

const Setup = z
  .object({
    settings_stored: z.boolean().describe('Whether the owner ever saved settings'),
    model: z
      .object({
        state: z.enum(MODEL_STATES).describe('`unreadable`: the stored settings cannot be opened'),
        id: z.string().nullable().describe('`provider/model`; null where none is named'),
        is_own: z.boolean().describe("Whether the owner's settings name it, rather than the operator"),
      })
      .describe('The model that agents and analyses of the owner would use; it is not asked'),
    agent: z.enum(AGENTS).describe('What a new conversation works with, unless its request says otherwise'),
    market_data_is_live: z.boolean().describe('False: reports are made from the bundled samples alone'),
    news_is_configured: z.boolean().describe('Whether any search for news is set up'),
    runners_connected: z.int().describe('How many runners of the owner are connected'),
  })
  .openapi('Setup')

const app = router(detailEnvelope)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/setup',
    scope: 'any',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Settings',
    summary: 'What is set up, and what is missing',
    replies: { 200: { description: 'The state of each part', schema: Setup } },
  },
  async (c) => {
    const { owner } = c.get('principal')
    const { marketData, models, news, variables } = config(c.env)
    const { searchProviders } = await import('../news/search.ts')
    const [settings, runners, searches] = await Promise.all([
      ownerSettings(c.env, owner),
      ownerOf(c.env, owner).runners(),
      searchProviders({ settings: news, variables, clock: systemClock }),
    ])
    const own = settings.ok ? settings.settings.llmModel?.trim() || null : null
    const chosen = settings.ok ? chooseModel(settings.settings, models.operator) : 'unreadable'
    return c.json({
      settings_stored: !settings.ok || settings.isStored,
      model: { state: stateOf(chosen), id: own ?? models.operator.model, is_own: own !== null },
      agent: agentToRun(settings.ok ? settings.settings.agent : null, {
        model: chosen !== null && settings.ok,
        recording: false,
      }).agent,
      market_data_is_live: marketData.some((name) => MARKET_PROVIDERS[name].isLive),
      news_is_configured: searches.length > 0,
      runners_connected: runners.filter(({ state }) => state === 'connected').length,
    })
  },
)

function stateOf(chosen: ReturnType<typeof chooseModel> | 'unreadable'): (typeof MODEL_STATES)[number] {
  if (chosen === null) return 'none'
  if (chosen === 'unreadable') return 'unreadable'
  return isChoice(chosen) ? 'ready' : chosen
}

export { app as setup }
