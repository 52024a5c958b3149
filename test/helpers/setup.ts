import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
// Loading the whole module graph here keeps its cost out of the first object call of a test.
import '../../src/index.ts'
// What a run loads when it is first needed: a first evaluation in a request that is cut off would be nobody's.
import '../../src/analysis/analyze.ts'
import '../../src/analysis/model-narrator.ts'
import '../../src/llm/choose.ts'
import '../../src/llm/client.ts'
import '../../src/market/providers/index.ts'
import '../../src/news/search.ts'
import '../../src/notify/run.ts'
import '../../src/review/listed-prices.ts'
import '../../src/review/news.ts'
import '../../src/review/regions.ts'
import '../../src/review/review-record.ts'
import '../../src/review/work-review.ts'
import '../../src/market/names/packaged.generated.ts'
import '../../src/market/names/packaged.ts'
import '../../src/market/sample-data/series.generated.ts'
import { letImportsStandAlone } from './module-runner.ts'

letImportsStandAlone()
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS)
