import type { Fetch } from '../../../src/lib/http-client.ts'
import type { Instrument } from '../../../src/market/instruments.ts'
import { memoryGate } from '../../../src/market/providers/gate.ts'
import type { AnswerStore, KeptAnswer } from '../../../src/market/providers/kept.ts'
import type { NewsItem } from '../../../src/news/article.ts'
import type { NewsPool } from '../../../src/news/pool.ts'
import type { NewsSettings, NewsWorld } from '../../../src/news/search.ts'

export const NOW = Date.parse('2026-03-20T08:00:00Z')
export const MOUTAI: Instrument = { key: '600519', market: 'cn', exchange: 'SH', kind: 'stock', code: '600519' }
export const APPLE: Instrument = { key: 'AAPL', market: 'us', exchange: 'US', kind: 'stock', code: 'AAPL' }
export const SUBJECT = { instrument: MOUTAI, names: { zh: '贵州茅台', en: 'Kweichow Moutai' } }

const off = (url: string) => ({ url, key: null })

export const SETTINGS: NewsSettings = {
  search: ['tavily', 'brave', 'serpapi', 'bocha', 'searxng'],
  maxAgeDays: 3,
  tavily: off('https://tavily.test'),
  brave: off('https://brave.test'),
  serpapi: off('https://serpapi.test'),
  bocha: off('https://bocha.test'),
  searxngUrl: null,
  social: null,
}

export const withKey = (url: string) => ({ url, key: 'secret-key' })

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

export function worldOf(settings: Partial<NewsSettings>, fetch: Fetch, changes: Partial<NewsWorld> = {}): NewsWorld {
  const clock = () => NOW
  return {
    settings: { ...SETTINGS, ...settings },
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
