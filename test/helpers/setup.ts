import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
// Loads the whole module graph here, so that the first object call of a test does not have to.
import '../../src/index.ts'
import './lazy-modules.ts'
import { keepEvaluatedModules, keepResolutions } from './module-runner.ts'

keepEvaluatedModules()
await keepResolutions()
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS)
