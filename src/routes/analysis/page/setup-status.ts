// The setup status for the analysis page: a banner with what is missing, and a list of checks in its settings.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../../../config.ts'
import { notifyTargets } from '../../../db/channels.ts'
import { ownerSettings } from '../../../db/settings.ts'
import { listWatchlists } from '../../../db/watchlists.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { chooseModel, isChoice } from '../../../llm/choose.ts'
import { type PageTexts, pageTexts } from './texts.ts'

const Check = z
  .object({
    key: z.enum(['llm_primary', 'llm_agent', 'stock_list', 'notification', 'storage']),
    title: z.string(),
    category: z.enum(['base', 'ai_model', 'agent', 'notification', 'system']),
    required: z.boolean(),
    status: z.enum(['configured', 'inherited', 'optional', 'needs_action']),
    message: z.string(),
    next_step: z.string().nullable(),
  })
  .openapi('SetupCheck')
type Check = z.infer<typeof Check>

const SetupStatus = z
  .object({
    is_complete: z.boolean().describe('No required check needs action'),
    ready_for_smoke: z.boolean().describe('A trial can run: reports need no model, but a stock'),
    required_missing_keys: z.array(z.string()),
    next_step_key: z.string().nullable(),
    checks: z.array(Check),
  })
  .openapi('SetupStatus')

const app = router(analysisEnvelope)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/system/config/setup/status',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Settings',
    summary: 'What of your analyses is set up, and what is missing',
    replies: { 200: { description: 'Each part, in the order in which it is set up', schema: SetupStatus } },
  },
  async (c) => {
    const checks = await checksOf(c)
    const missing = checks.filter(({ required, status }) => required && status === 'needs_action').map(({ key }) => key)
    return c.json({
      is_complete: missing.length === 0,
      ready_for_smoke: missing.length === 0,
      required_missing_keys: missing,
      next_step_key: missing[0] ?? null,
      checks,
    })
  },
)

async function checksOf(c: Context<AppEnv>): Promise<Check[]> {
  const { owner } = c.get('principal')
  const say = pageTexts(callerLanguage(c)).setup
  const [settings, lists, targets] = await Promise.all([
    ownerSettings(c.env, owner),
    listWatchlists(c.env.DB, owner),
    notifyTargets(c.env, owner),
  ])
  const { operator } = config(c.env).models
  const chosen = settings.ok ? chooseModel(settings.settings, operator) : 'unreadable'
  const hasModel = chosen !== null && typeof chosen !== 'string' && isChoice(chosen)
  const stocks = lists.find(({ isDefault }) => isDefault)?.stocks.length ?? 0
  const channels = targets.filter(({ isEnabled }) => isEnabled).length
  return [
    modelCheck(say, { hasModel, isNamed: chosen !== null }),
    {
      ...{ key: 'llm_agent', title: say.agent, category: 'agent', required: false },
      status: hasModel ? 'inherited' : 'optional',
      message: hasModel ? say.agentInherits : say.agentWithout,
      next_step: hasModel ? null : say.chooseModel,
    },
    {
      ...{ key: 'stock_list', title: say.stocks, category: 'base', required: true },
      status: stocks > 0 ? 'configured' : 'needs_action',
      message: stocks > 0 ? say.hasStocks(stocks) : say.noStocks,
      next_step: stocks > 0 ? null : say.addStocks,
    },
    {
      ...{ key: 'notification', title: say.notification, category: 'notification', required: false },
      status: channels > 0 ? 'configured' : 'optional',
      message: channels > 0 ? say.hasChannels(channels) : say.noChannels,
      next_step: channels > 0 ? null : say.addChannel,
    },
    {
      ...{ key: 'storage', title: say.storage, category: 'system', required: true },
      // The data above was read from the storage, so it works.
      ...{ status: 'configured', message: say.storageWorks, next_step: null },
    },
  ]
}

/** `isNamed` without `hasModel`: its key or address is missing, or the settings cannot be decrypted. */
function modelCheck(say: PageTexts['setup'], { hasModel, isNamed }: { hasModel: boolean; isNamed: boolean }): Check {
  const state = hasModel ? 'configured' : isNamed ? 'needs_action' : 'optional'
  const message = { configured: say.modelWorks, needs_action: say.modelIncomplete, optional: say.modelWithout }[state]
  return {
    ...{ key: 'llm_primary', title: say.model, category: 'ai_model' },
    // A model is optional for reports, but a configured model that cannot be used is an error.
    required: state === 'needs_action',
    status: state,
    message,
    next_step: state === 'configured' ? null : say.chooseModel,
  }
}

export { app as setupStatus }
