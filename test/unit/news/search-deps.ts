import type { Fetch } from '../../../src/lib/http-client.ts'
import type { RawVariables } from '../../../src/lib/variables.ts'
import type { Instrument } from '../../../src/market/instruments.ts'
import type { AnswerStore, KeptAnswer } from '../../../src/market/providers/answer-cache.ts'
import { memoryGate } from '../../../src/market/providers/gate.ts'
import type { NewsItem } from '../../../src/news/article.ts'
import type { NewsPool, NewsSettings, SearchDeps } from '../../../src/news/search.ts'

export const NOW = Date.parse('2026-03-20T08:00:00Z')
export const MOUTAI: Instrument = { key: '600519', market: 'cn', exchange: 'SH', kind: 'stock', code: '600519' }
export const APPLE: Instrument = { key: 'AAPL', market: 'us', exchange: 'US', kind: 'stock', code: 'AAPL' }
export const SUBJECT = { instrument: MOUTAI, names: { zh: '贵州茅台', en: 'Kweichow Moutai' } }

export const SETTINGS: NewsSettings = {
  search: ['tavily', 'brave', 'serpapi', 'bocha', 'searxng'],
  maxAgeDays: 3,
  social: null,
}

const KEYED = ['TAVILY', 'BRAVE', 'SERPAPI', 'BOCHA'] as const
const ADDRESSES = Object.fromEntries(KEYED.map((name) => [`${name}_URL`, `https://${name.toLowerCase()}.test`]))

/** The variables under which these providers are configured, beside the addresses of them all. */
export function configured(...names: readonly ((typeof KEYED)[number] | 'SEARXNG')[]): RawVariables {
  const own = names.map((name) => {
    return name === 'SEARXNG' ? ['SEARXNG_URL', 'https://searxng.test'] : [`${name}_API_KEY`, 'secret-key']
  })
  return { ...ADDRESSES, ...Object.fromEntries(own) }
}

/** A pool in memory that shows what it holds. */
export function poolOf(items: NewsItem[] = []): NewsPool & { held: NewsItem[] } {
  const held = [...items]
  return {
    held,
    put: async (_key, added) => void held.push(...added),
    since: async (_key, epochMs) => held.filter(({ publishedAt }) => Date.parse(publishedAt ?? '') >= epochMs),
  }
}

export function storeOf(): AnswerStore {
  const answers = new Map<string, KeptAnswer>()
  return {
    get: async (need, key) => answers.get(`${need} ${key}`) ?? null,
    put: async (need, key, answer) => void answers.set(`${need} ${key}`, answer),
  }
}

type Configured = Partial<NewsSettings> & { variables?: RawVariables }

export function worldOf(
  { variables = configured(), ...settings }: Configured,
  fetch: Fetch,
  changes: Partial<SearchDeps> = {},
): SearchDeps {
  const clock = () => NOW
  return {
    settings: { ...SETTINGS, ...settings },
    variables,
    clock,
    gate: memoryGate(clock),
    pool: poolOf(),
    store: null,
    timeoutMs: 30_000,
    fetch,
    ...changes,
  }
}

export const QUERY = { forceRefresh: false, signal: new AbortController().signal }

export const item = (changes: Partial<NewsItem> = {}): NewsItem => ({
  title: '贵州茅台发布年报',
  snippet: '营收增长',
  url: 'https://news.test/2026/03/19/a.html',
  source: 'news.test',
  publishedAt: '2026-03-19T00:00:00Z',
  dimension: 'latest_news',
  provider: 'tavily',
  ...changes,
})
