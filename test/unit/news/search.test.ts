import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { newsPool } from '../../../src/db/market-state.ts'
import type { Fetch } from '../../../src/lib/http-client.ts'
import { plain } from '../../../src/news/article.ts'
import { isSerious, questionsOf, relevantHits, withoutDoubles } from '../../../src/news/relevance.ts'
import { searchNews } from '../../../src/news/search.ts'
import { APPLE, configured, item, MOUTAI, NOW, poolOf, QUERY, SUBJECT, storeOf, worldOf } from './search-deps.ts'

const row = (n: number, title = `贵州茅台消息${n}`) => ({
  title,
  url: `https://n.test/${n}`,
  content: '内容',
  published_date: '2026-03-19',
})
const tavilyRows = (...rows: unknown[]) => Response.json({ results: rows })
const host = (url: string) => new URL(url).hostname

test('a provider that fails or finds nothing makes way for the next one, question by question, and each try is on record', async () => {
  const fetch: Fetch = async (url) => {
    if (host(url) === 'tavily.test') return new Response('no', { status: 403 })
    if (host(url) === 'brave.test') return Response.json({ results: [] })
    return tavilyRows(row(1, '贵州茅台上涨'))
  }
  const settings = {
    search: ['tavily', 'brave', 'searxng'],
    variables: configured('TAVILY', 'BRAVE', 'SEARXNG'),
  }
  const found = await searchNews(worldOf(settings, fetch), SUBJECT, QUERY)
  expect(found).toMatchObject({ count: 1, isPooled: false, ageSeconds: null })
  expect(found.items).toEqual([expect.objectContaining({ title: '贵州茅台上涨', provider: 'searxng' })])
  const questions = questionsOf(SUBJECT, 3)
  expect(questions.map(({ dimension }) => dimension)).toContain('industry')
  expect(found.runs).toHaveLength(questions.length * 3)
  const first = found.runs.filter(({ operation }) => operation === 'latest_news')
  expect(
    first.map(({ provider, success, errorType, fallbackFrom, fallbackTo }) => [
      provider,
      success,
      errorType,
      fallbackFrom,
      fallbackTo,
    ]),
  ).toEqual([
    ['tavily', false, 'http_403', null, 'brave'],
    ['brave', true, null, 'tavily', 'searxng'],
    ['searxng', true, null, 'brave', null],
  ])
  // One refusal is enough: after the first pair of questions nobody knocks there again.
  expect(found.runs.filter(({ errorType }) => errorType === 'circuit_open')).toHaveLength(questions.length - 2)
})

test('not configured, searched without a hit, failed, pooled and social are five different findings', async () => {
  const never: Fetch = async () => {
    throw new Error('nobody may be asked')
  }
  const none = await searchNews(worldOf({}, never), SUBJECT, QUERY)
  expect(none).toMatchObject({ count: null, items: [], isPooled: false, runs: [] })

  const keyed = { search: ['tavily'], variables: configured('TAVILY') }
  const empty = await searchNews(
    worldOf(keyed, async () => tavilyRows()),
    SUBJECT,
    QUERY,
  )
  expect(empty).toMatchObject({ count: 0, items: [] })
  expect(empty.runs.every(({ success }) => success)).toBe(true)

  const hang: Fetch = () => new Promise<Response>(() => undefined)
  const late = await searchNews(worldOf(keyed, hang, { timeoutMs: 20 }), SUBJECT, QUERY)
  expect(late).toMatchObject({ count: 0, items: [] })
  expect(late.runs.some(({ errorType }) => errorType === 'timeout')).toBe(true)

  const pool = poolOf([item()])
  const pooled = await searchNews(
    worldOf(keyed, async () => tavilyRows(), { pool }),
    SUBJECT,
    QUERY,
  )
  expect(pooled).toMatchObject({ count: 0, isPooled: true, items: [{ title: '贵州茅台发布年报' }] })

  const social = { social: { url: 'https://social.test', key: 'k' } }
  const talk = (body: unknown) =>
    searchNews(
      worldOf(social, async () => Response.json(body)),
      { ...SUBJECT, instrument: APPLE },
      QUERY,
    )
  expect((await talk({ symbol: 'AAPL', summary: '<b>Cheerful</b>', score: 0.4, mentions: 12 })).social).toEqual({
    text: 'Cheerful',
    score: 0.4,
    mentions: 12,
    provider: 'social',
  })
  expect(await talk({ symbol: 'AAPL', summary: ' ' })).toMatchObject({ social: null, count: null })
  const foreign = await talk({ symbol: 'MSFT', summary: 'Cheerful' })
  expect([foreign.social, foreign.runs[0]?.errorType]).toEqual([null, 'wrong_symbol'])
})

test('a search is kept for ten minutes and tells its age; force_refresh passes over it', async () => {
  let [calls, now] = [0, NOW]
  const fetch: Fetch = async () => {
    calls += 1
    return tavilyRows(row(calls))
  }
  const settings = { search: ['tavily'], variables: configured('TAVILY') }
  const world = worldOf(settings, fetch, { store: storeOf(), clock: () => now })
  const first = await searchNews(world, SUBJECT, QUERY)
  const asked = calls
  now += 90_000
  const again = await searchNews(world, SUBJECT, QUERY)
  expect([calls, again.ageSeconds, again.count]).toEqual([asked, 90, first.count])
  expect(again.items).toEqual(first.items)
  expect(again.runs).toEqual([expect.objectContaining({ operation: 'kept_news_search', staleSeconds: 90 })])
  await searchNews(world, SUBJECT, { ...QUERY, forceRefresh: true })
  expect(calls).toBe(asked * 2)
  now += 700_000
  await searchNews(world, SUBJECT, QUERY)
  expect(calls).toBe(asked * 3)
})

test('only news about the listing, in time and no pages of quotes count; what has no date stands behind what has', () => {
  const [question] = questionsOf(SUBJECT, 3)
  if (!question) throw new Error('no question')
  const hit = (title: string, publishedAt: string | null, snippet = '') => ({
    ...item({ title, publishedAt, snippet }),
    url: `https://n.test/${title}`,
  })
  const hits = [
    hit('贵州茅台股票行情走势图', '2026-03-19'),
    hit('五粮液提价', '2026-03-19'),
    hit('贵州茅台旧闻', '2026-03-01'),
    hit('贵州茅台未来', '2026-03-23'),
    hit('贵州茅台无日期', null),
    hit('白酒板块走强', '2026-03-19', '贵州茅台领涨'),
    hit('贵州茅台涨价', '2026-03-17'),
  ]
  const kept = relevantHits(hits, question, { ...SUBJECT, now: NOW })
  expect(kept.map(({ title }) => title)).toEqual(['贵州茅台涨价', '白酒板块走强', '贵州茅台无日期'])
  const apple = { instrument: APPLE, names: { zh: '苹果', en: 'Apple' }, now: NOW }
  const [english] = questionsOf(apple, 3)
  if (!english) throw new Error('no question')
  const titles = ['Apple unveils phone', 'Pineapple harvest', 'AAPL upgraded', 'Snapple sells'].map((title) =>
    hit(title, '2026-03-19'),
  )
  expect(relevantHits(titles, english, apple).map(({ title }) => title)).toEqual([
    'Apple unveils phone',
    'AAPL upgraded',
  ])
  expect(english.language).toBe('en')
})

test('one story counts once, whatever its address carries, and serious news are known by their words', () => {
  const story = { ...item(), url: 'https://www.n.test/a?utm_source=x&id=1' }
  const copies = [
    story,
    { ...story, url: 'https://n.test/a/?id=1' },
    { ...story, url: 'https://other.test/b', title: '贵州茅台，发布年报' },
  ]
  expect(withoutDoubles(copies)).toEqual([story])
  expect(withoutDoubles([story, { ...story, url: 'https://n.test/a?id=2', title: '另一篇' }])).toHaveLength(2)
  expect([item({ title: '公司被立案调查' }), item({ title: 'SEC sues for fraud' }), item()].map(isSerious)).toEqual([
    true,
    true,
    false,
  ])
})

test('what providers send becomes plain words: no markup, entities, hidden or turning characters', () => {
  expect(plain('<script>alert(1)</script>A <b>bold</b> &amp; &lt;i&gt; \u202egnp\u200b\u0000x', 100)).toBe(
    'A bold & <i> gnp x',
  )
  expect(plain('x'.repeat(300), 200)).toHaveLength(200)
})

test('the pool in the database keeps one row a story, gives back what is new enough, and takes hostile text as text', async () => {
  const pool = newsPool(env.DB)
  const key = `T${crypto.randomUUID().slice(0, 6)}`
  const evil = item({ title: "'); DROP TABLE news_items;--", url: 'https://n.test/evil', publishedAt: null })
  await pool.put(key, [item(), evil, item({ url: 'https://n.test/old', publishedAt: '2026-03-01T00:00:00Z' })], NOW)
  await pool.put(key, [item({ title: '更新' })], NOW + 1)
  const found = await pool.since(key, NOW - 3 * 86_400_000)
  expect(found.map(({ title }) => title).sort()).toEqual([evil.title, '更新'].sort())
  expect(found.find(({ url }) => url === evil.url)).toEqual(evil)
  expect(await pool.since(MOUTAI.key + key, 0)).toEqual([])
  expect(await pool.since(key, NOW + 10)).toEqual([])
})

test('every way in which a provider fails is on record by its name, and only a refusal keeps it from being asked again', async () => {
  const asking = (error: Error | Response) => {
    const fetch: Fetch = async (url) => {
      if (host(url) !== 'tavily.test') return tavilyRows(row(1, '贵州茅台上涨'))
      if (error instanceof Response) return error.clone()
      throw error
    }
    const settings = {
      search: ['tavily', 'searxng'],
      variables: configured('TAVILY', 'SEARXNG'),
    }
    return searchNews(worldOf(settings, fetch), SUBJECT, QUERY)
  }
  const refusing = (status: number) => new Response('no', { status })
  const cases: [Error | Response, errorType: string, isRefusal: boolean][] = [
    [refusing(401), 'http_401', true],
    [refusing(403), 'http_403', true],
    [refusing(429), 'http_429', true],
    [refusing(404), 'http_404', false],
    [refusing(500), 'http_500', false],
    [new Response('<html>'), 'not_json', false],
    [Response.json({ other: 1 }), 'malformed', false],
    [new TypeError('lost'), 'network', false],
  ]
  for (const [error, errorType, isRefusal] of cases) {
    const { runs } = await asking(error)
    const own = runs.filter(({ provider }) => provider === 'tavily').map((run) => run.errorType)
    const asked = own.filter((type) => type !== 'circuit_open')
    expect([errorType, [...new Set(asked)]]).toEqual([errorType, [errorType]])
    // Two questions go out at a time, and three failures are borne.
    expect([errorType, asked.length]).toEqual([errorType, isRefusal ? 2 : 4])
    expect(own).toHaveLength(questionsOf(SUBJECT, 3).length)
  }
})

test('what the question about the industry finds is background: not counted, and no reason to leave the pool alone', async () => {
  const aboutOthers = row(1, '五粮液被立案调查，白酒行业震动')
  const world = (pool = poolOf()) => {
    const settings = { search: ['tavily'], variables: configured('TAVILY') }
    return worldOf(settings, async () => tavilyRows(aboutOthers), { pool })
  }
  const alone = await searchNews(world(), SUBJECT, QUERY)
  expect(alone).toMatchObject({
    count: 0,
    isPooled: false,
    items: [{ title: aboutOthers.title, dimension: 'industry' }],
  })
  const pool = poolOf([item(), item({ title: '另一家被立案', url: 'https://n.test/other', dimension: 'industry' })])
  const pooled = await searchNews(world(pool), SUBJECT, QUERY)
  expect(pooled).toMatchObject({ count: 0, isPooled: true })
  expect(pooled.items.map(({ dimension }) => dimension)).toEqual(['latest_news', 'industry'])
})

test('a story that was first found about the industry and then about the listing is one about the listing', async () => {
  const pool = newsPool(env.DB)
  const key = `T${crypto.randomUUID().slice(0, 6)}`
  await pool.put(key, [item({ dimension: 'industry' })], NOW)
  await pool.put(key, [item()], NOW + 1)
  await pool.put(key, [item({ dimension: 'industry' })], NOW + 2)
  expect((await pool.since(key, NOW - 3 * 86_400_000)).map(({ dimension }) => dimension)).toEqual(['latest_news'])
})
