import { expect, test } from 'vitest'
import type { Fetch } from '../../../src/lib/http-client.ts'
import { searchProviders } from '../../../src/news/search.ts'
import { instantOf, publishedAt, type SearchQuery } from '../../../src/news/search-provider.ts'
import { configured, NOW, SETTINGS } from './search-deps.ts'

// Replies in the form that each service documents, reduced to the fields that are read.
const REPLIES: Record<string, unknown> = {
  tavily: {
    query: 'q',
    results: [
      {
        title: 'Moutai <b>rises</b>',
        url: 'https://a.test/1',
        content: 'Sales grew.',
        published_date: 'Thu, 19 Mar 2026 10:00:00 GMT',
      },
      { title: '', url: 'https://a.test/2', content: 'no title' },
      { title: 'Bad address', url: 'javascript:alert(1)', content: 'x' },
    ],
  },
  brave: {
    type: 'news',
    results: [
      {
        title: 'Moutai news',
        url: 'https://b.test/1',
        description: 'text',
        age: '5 hours ago',
        meta_url: { hostname: 'b.test' },
      },
    ],
  },
  serpapi: {
    news_results: [{ title: 'Moutai', link: 'https://c.test/20260318/x', snippet: 's', date: null, source: 'Paper' }],
    organic_results: [{ title: 'Other', link: 'https://c.test/2', snippet: 's', source: { name: 'not text' } }],
  },
  bocha: {
    code: 200,
    data: {
      webPages: {
        value: [
          {
            name: '贵州茅台公告',
            url: 'https://d.test/1',
            snippet: 'a',
            summary: '摘要',
            siteName: '证券报',
            datePublished: '2026-03-19T08:00:00+08:00',
          },
        ],
      },
    },
  },
  searxng: {
    results: [
      { title: 'Moutai', url: 'https://e.test/1', content: 'c', publishedDate: '2026-03-17T00:00:00', engine: 'x' },
    ],
  },
}

const variables = configured('TAVILY', 'BRAVE', 'SERPAPI', 'BOCHA', 'SEARXNG')

type SentRequest = { url: string; init: RequestInit }

async function providersWith(reply: (service: string) => Response) {
  const asked: SentRequest[] = []
  const fetch: Fetch = async (url, init) => {
    asked.push({ url, init })
    return reply(new URL(url).hostname.replace('.test', ''))
  }
  const providers = await searchProviders({ settings: SETTINGS, variables, clock: () => NOW, fetch })
  return { asked, providers }
}

const QUESTION: SearchQuery = { text: '贵州茅台 最新消息', days: 3, count: 10, language: 'zh', isNews: true }
const signal = new AbortController().signal

test('each service is asked in its own form, with its key where it belongs, and its results are read, cleaned and dated', async () => {
  const { asked, providers } = await providersWith((service) => Response.json(REPLIES[service]))
  expect(providers.map(({ name }) => name)).toEqual(['tavily', 'brave', 'serpapi', 'bocha', 'searxng'])
  const found = await Promise.all(providers.map((provider) => provider.search(QUESTION, signal)))
  expect(found.map((hits) => hits.map(({ title, publishedAt: at, source }) => [title, at, source]))).toEqual([
    [['Moutai rises', '2026-03-19T10:00:00Z', 'a.test']],
    [['Moutai news', '2026-03-20T03:00:00Z', 'b.test']],
    [
      ['Moutai', '2026-03-18T00:00:00Z', 'Paper'],
      ['Other', null, 'c.test'],
    ],
    [['贵州茅台公告', '2026-03-19T00:00:00Z', '证券报']],
    [['Moutai', '2026-03-17T00:00:00Z', 'e.test']],
  ])
  const [tavily, brave, serpapi, bocha, searxng] = asked.map(({ url, init }) => ({
    url: new URL(url),
    headers: new Headers(init.headers),
    body: typeof init.body === 'string' ? JSON.parse(init.body) : null,
  }))
  expect(tavily?.headers.get('authorization')).toBe('Bearer secret-key')
  expect(tavily?.body).toMatchObject({ query: QUESTION.text, topic: 'news', days: 3, max_results: 10 })
  expect(brave?.headers.get('x-subscription-token')).toBe('secret-key')
  expect([brave?.url.pathname, brave?.url.searchParams.get('freshness')]).toEqual(['/res/v1/news/search', 'pw'])
  expect(Object.fromEntries(serpapi?.url.searchParams ?? [])).toMatchObject({
    api_key: 'secret-key',
    tbm: 'nws',
    tbs: 'qdr:w',
  })
  expect(bocha?.body).toMatchObject({ freshness: 'oneWeek', summary: true })
  expect(Object.fromEntries(searxng?.url.searchParams ?? [])).toMatchObject({ format: 'json', categories: 'news' })
})

test('a page, a cut-off body, another shape, a refusal in prose and every bad status are failures, never an empty search', async () => {
  const bad: Record<string, () => Response> = {
    html: () => new Response('<html>busy</html>', { headers: { 'content-type': 'text/html' } }),
    cut: () => new Response('{"results":[{"title":"a"'),
    empty: () => new Response(''),
    shape: () => Response.json({ results: 'none', code: 500, error: 'Your account has run out of searches.', web: 3 }),
    403: () => new Response('no', { status: 403 }),
    432: () => new Response('quota', { status: 432 }),
  }
  for (const [name, reply] of Object.entries(bad)) {
    const { providers } = await providersWith(reply)
    for (const provider of providers) {
      const outcome = await provider.search(QUESTION, signal).then(
        (hits) => `found ${hits.length}`,
        (error: Error) => error.name,
      )
      expect([name, provider.name, outcome]).toEqual([name, provider.name, 'UpstreamError'])
    }
  }
  const nothing = await providersWith((service) =>
    Response.json(
      service === 'bocha'
        ? { code: 200, data: {} }
        : { results: [], error: "Google hasn't returned any results for this query." },
    ),
  )
  for (const provider of nothing.providers)
    expect([provider.name, await provider.search(QUESTION, signal)]).toEqual([provider.name, []])
})

test('dates are read in the words of every service, and from the address or the text where nobody tells them', () => {
  const day = (text: string) => {
    const at = instantOf(text, NOW)
    return at === null ? null : new Date(at).toISOString().slice(0, 16)
  }
  expect(['2 hours ago', '3天前', 'an hour ago', '1 week ago', '15 分钟前', '2개월 전'].map(day)).toEqual([
    '2026-03-20T06:00',
    '2026-03-17T08:00',
    '2026-03-20T07:00',
    '2026-03-13T08:00',
    '2026-03-20T07:45',
    '2026-01-19T08:00',
  ])
  expect(
    ['2026年3月9日', 'Mar 9, 2026', '2026-03-09T00:00:00Z', 'yesterday', '2026/2/30', 'soon', ''].map(day),
  ).toEqual(['2026-03-09T00:00', '2026-03-09T00:00', '2026-03-09T00:00', '2026-03-19T08:00', null, null, null])
  const dated = (url: string, snippet = '') => publishedAt({ date: null, url, snippet }, NOW)
  expect(dated('https://x.test/2026/03/12/story')).toBe('2026-03-12T00:00:00Z')
  expect(dated('https://x.test/a/20260312abc')).toBe('2026-03-12T00:00:00Z')
  expect(dated('https://x.test/a', '2026年3月11日讯 公司')).toBe('2026-03-11T00:00:00Z')
  expect(dated('https://x.test/item/12345678901')).toBeNull()
})
