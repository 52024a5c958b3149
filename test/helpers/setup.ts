import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
// Loading the whole module graph here keeps its cost out of the first object call of a test.
import '../../src/index.ts'
import './lazy-modules.ts'
import { keepEvaluatedModules, keepResolutions } from './module-runner.ts'

keepEvaluatedModules()
await keepResolutions()
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS)
