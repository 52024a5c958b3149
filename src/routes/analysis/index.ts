import { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv } from '../../http/router.ts'

/** The analysis family. */
export const analysisRoutes = new OpenAPIHono<AppEnv>()
