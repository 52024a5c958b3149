import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
// Loading the whole module graph here keeps its cost out of the first object call of a test.
import '../../src/index.ts'
// What a run loads when it is first needed. An import that is begun by a request which is then cut off never ends here, and
// everybody after it waits for the same module.
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

await applyD1Migrations(env.DB, env.TEST_MIGRATIONS)
