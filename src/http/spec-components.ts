// Shapes that the interface description names although no endpoint uses them: they stand in the document, so that clients
// generated from it have the same types as clients generated from the description.

import { z } from '@hono/zod-openapi'
import type { Router } from './router.ts'

const ExperimentConfig = z.object({ config: z.record(z.string(), z.string()).nullish() })

/** Adds the unused shapes to the document of an app. */
export function registerSpecComponents(app: Router): void {
  app.openAPIRegistry.register('ExperimentConfig', ExperimentConfig)
}
