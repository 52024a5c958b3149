import { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv } from '../../http/router.ts'
import { options } from './options.ts'

/** The conversation family. */
export const conversationRoutes = new OpenAPIHono<AppEnv>()

for (const part of [options]) conversationRoutes.route('/', part)
