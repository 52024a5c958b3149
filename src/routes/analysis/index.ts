import { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv } from '../../http/router.ts'
import { analyze } from './analyze.ts'
import { history } from './history.ts'
import { stocks } from './stocks.ts'
import { stream } from './stream.ts'
import { tasks } from './tasks.ts'

/** The analysis family. */
export const analysisRoutes = new OpenAPIHono<AppEnv>()

for (const part of [analyze, stream, tasks, history, stocks]) analysisRoutes.route('/', part)
