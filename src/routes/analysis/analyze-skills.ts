// The strategies that `skills` of an analysis may name.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { DEFAULT_SKILL, listSkills } from '../../analysis/skills/catalogue.ts'
import { config } from '../../config.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { ReportLanguage } from '../../reports/report.ts'

const app = router(analysisEnvelope)

const SkillsResponse = z
  .object({
    skills: z.array(z.object({ id: z.string(), name: z.string(), description: z.string() }).openapi('SkillInfo')),
    default_skill_id: z.string(),
  })
  .openapi('SkillsResponse')

const Query = z.object({ language: ReportLanguage.optional().describe('The configured one by default') })

const spec = {
  method: 'get',
  tag: 'Analysis',
  query: Query,
  replies: { 200: { description: 'In the order in which they are offered', schema: SkillsResponse } },
} as const

const answer = (c: Context<AppEnv>, { language }: z.infer<typeof Query>): Response =>
  c.json({ skills: listSkills(language ?? config(c.env).reportLanguage), default_skill_id: DEFAULT_SKILL })

endpoint(
  app,
  { ...spec, path: '/api/v1/agent/skills', summary: 'The strategies that an analysis can weigh' },
  (c, { query }) => answer(c, query),
)

endpoint(
  app,
  {
    ...spec,
    path: '/api/v1/agent/strategies',
    summary: 'Another name of /api/v1/agent/skills',
    deprecated: true,
  },
  (c, { query }) => answer(c, query),
)

export { app as analyzeSkills }
