// Screening is not offered yet: the analysis page asks, is told so, and hides it. What it would call is refused by name.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { pageTexts } from './texts.ts'

const app = router(analysisEnvelope)
const ROOT = '/api/v1/alphasift'

const Status = z
  .object({
    enabled: z.literal(false),
    available: z.literal(false),
    diagnostics: z.object({ reason: z.string() }),
  })
  .openapi('ScreeningStatus')

const common = { scope: 'analysis', bodyLimit: 'standard', tag: 'Stocks' } as const
const replies = { 403: { description: 'Screening is switched off' } }

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: `${ROOT}/status`,
    limit: 'reads',
    summary: 'Whether the analysis page may screen stocks: it may not yet',
    replies: { 200: { description: 'Switched off', schema: Status } },
  },
  (c) => {
    const { screeningOff } = pageTexts(callerLanguage(c))
    return c.json({ enabled: false as const, available: false as const, diagnostics: { reason: screeningOff } })
  },
)

const off =
  (word: string) =>
  (c: Context<AppEnv>): never => {
    throw new AppError('forbidden', pageTexts(callerLanguage(c)).screeningOff, { word })
  }

for (const [path, summary, params] of [
  ['strategies', 'Refused while screening is off: its strategies'],
  ['screen/tasks/{task_id}', 'Refused while screening is off: a run of it', z.object({ task_id: z.string() })],
  ['hotspots', 'Refused while screening is off: topics of the day'],
  ['hotspots/{topic}', 'Refused while screening is off: one topic', z.object({ topic: z.string() })],
] as const) {
  endpoint(
    app,
    {
      ...common,
      method: 'get',
      path: `${ROOT}/${path}`,
      limit: 'reads',
      summary,
      ...(params && { params }),
      replies,
    },
    off('alphasift_disabled'),
  )
}

endpoint(
  app,
  {
    ...common,
    method: 'post',
    path: `${ROOT}/screen/tasks`,
    limit: 'writes',
    summary: 'Refused while screening is off: a new run of it',
    replies,
  },
  off('alphasift_disabled'),
)

endpoint(
  app,
  {
    ...common,
    method: 'post',
    path: `${ROOT}/install`,
    limit: 'writes',
    summary: 'Refused: nothing is installed by request',
    replies: { 403: { description: 'Always' } },
  },
  off('alphasift_install_access_denied'),
)

export { app as screeningOff }
