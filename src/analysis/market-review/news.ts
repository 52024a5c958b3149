// News about a market's day: three queries for each region, each sent to one search provider after the other until one
// finds something.

import type { Clock } from '../../lib/clock.ts'
import { UpstreamError } from '../../lib/http-client.ts'
import { type ProviderRun, providerRun } from '../../market/bars.ts'
import { type GateKeeper, outcomeOf } from '../../market/providers/gate.ts'
import type { Hit } from '../../news/article.ts'
import type { SearchProvider } from '../../news/search-provider.ts'
import type { ReviewNews } from './facts.ts'
import type { NewsAnswer, NewsQuestion } from './gather.ts'
import { REGION_SPECS } from './regions.ts'

export type NewsDeps = { providers: readonly SearchProvider[]; clock: Clock; gate: GateKeeper; timeoutMs: number }

const PER_QUESTION = 3
const DAYS = 3
const UNDATED = ''

/** Three results for each query, without duplicates. */
export async function reviewNews(deps: NewsDeps, question: NewsQuestion, signal: AbortSignal): Promise<NewsAnswer> {
  const answers = await Promise.all(textsOf(question).map((text) => askInTurn(deps, { text, question }, signal)))
  const seen = new Set<string>()
  const hits = answers.flatMap(({ hits: found }) => found).filter(({ url }) => !seen.has(url) && seen.add(url))
  return {
    items: hits.map(toItem).sort((a, b) => (b.publishedDate ?? UNDATED).localeCompare(a.publishedDate ?? UNDATED)),
    runs: answers.flatMap(({ runs }) => runs),
  }
}

function textsOf({ region, date }: NewsQuestion): string[] {
  const { zh, en } = REGION_SPECS[region].scope
  return region === 'cn'
    ? [`${zh} ${date} 收盘 复盘`, `${zh} ${date} 主线 板块 热点`, `${zh} 政策 隔夜 外围 ${date}`]
    : [`${en} market close ${date}`, `${en} ${date} leading sectors themes`, `${en} policy macro overnight ${date}`]
}

const toItem = ({ title, snippet, source, publishedAt, url }: Hit): ReviewNews => ({
  title,
  snippet,
  source: source ?? '',
  publishedDate: publishedAt?.slice(0, 10) ?? null,
  url,
})

type SearchRequest = { text: string; question: NewsQuestion }

async function askInTurn(
  deps: NewsDeps,
  asked: SearchRequest,
  signal: AbortSignal,
): Promise<{ hits: Hit[]; runs: ProviderRun[] }> {
  const runs: ProviderRun[] = []
  for (const provider of deps.providers) {
    const { hits, run } = await attempt(provider, asked, { deps, signal })
    const before = runs.at(-1)
    runs.push({ ...run, fallbackFrom: before?.provider ?? null })
    if (before !== undefined) before.fallbackTo = run.provider
    if (hits.length > 0) return { hits, runs }
  }
  return { hits: [], runs }
}

type Circumstances = { deps: NewsDeps; signal: AbortSignal }

async function attempt(provider: SearchProvider, { text, question }: SearchRequest, { deps, signal }: Circumstances) {
  const { clock, gate, timeoutMs } = deps
  const startedAt = clock()
  const of = { dataType: 'news_search', provider: provider.name, operation: 'market_news' } as const
  const run = (outcome: Partial<ProviderRun>) =>
    providerRun(of, startedAt, { latencyMs: clock() - startedAt, recordCount: null, ...outcome })
  const circuit = `${provider.name}:news_search` as const
  if ((await gate.openUntil(circuit)) !== null) {
    return { hits: [], run: run({ errorType: 'circuit_open', errorMessage: `${provider.name}: circuit_open` }) }
  }
  try {
    const language = question.region === 'cn' ? ('zh' as const) : ('en' as const)
    const query = { text, days: DAYS, count: PER_QUESTION, language, isNews: true }
    const hits = await provider.search(query, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]))
    await gate.settle(circuit, 'answered')
    return { hits: hits.slice(0, PER_QUESTION), run: run({ success: true, recordCount: hits.length }) }
  } catch (error) {
    signal.throwIfAborted()
    const outcome = outcomeOf(error)
    if (outcome !== null) await gate.settle(circuit, outcome)
    const [errorType, errorMessage] =
      error instanceof UpstreamError ? [error.reason, error.message] : ['timeout', `${provider.name}: timeout`]
    return { hits: [], run: run({ errorType, errorMessage }) }
  }
}
