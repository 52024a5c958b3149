import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { saveChangedNames, stockNameStore } from '../../src/db/stock-names.ts'
import { currentNames, forgetNames, type Listing, packagedNames } from '../../src/kits/market-names/index.ts'
import { client, request } from '../helpers/app.ts'

type SearchResult = { query: string; total: number; items: Record<string, unknown>[] }
type Entry = [string, string, string, string, string, string[], string, string, boolean, number]

const count = (where = '1') => env.DB.prepare(`SELECT count(*) AS n FROM stock_names WHERE ${where}`).first<number>('n')

/** Other files use the same database and the same isolate. */
async function startAfresh(): Promise<void> {
  await env.DB.batch(['stock_names', 'stock_name_state'].map((table) => env.DB.prepare(`DELETE FROM ${table}`)))
  forgetNames()
}

test('the packaged list is laid down by the first question, once, and answers searches in every spelling', async () => {
  const ann = await client()
  await startAfresh()
  const search = async (query: string) => {
    const found = await ann.json<SearchResult>(`/api/v1/stocks/search?${query}`)
    return found.items.map(({ stock_code, match }) => [stock_code, match])
  }
  expect(await search('q=%E8%8C%85%E5%8F%B0&limit=1')).toEqual([['600519', 'name']])
  const packaged = await packagedNames()
  expect(await count()).toBe(packaged.all().length)
  expect(await count('changed_at IS NOT NULL')).toBe(0)
  expect((await stockNameStore(env.DB).state()).seededFrom).toBe(packaged.version)
  expect(await search('q=gzmt&limit=1')).toEqual([['600519', 'initials']])
  expect(await search('q=tencent&limit=1')).toEqual([['HK00700', 'name']])
  expect(await search('q=0700&limit=1')).toEqual([['HK00700', 'code']])
  expect(await search('q=hk.00700&limit=1')).toEqual([['HK00700', 'code']])
  expect(await search('q=600519.SH&limit=3')).toEqual([['600519', 'code']])
  const pasted: [string, string][] = [
    ['600519.XSHG', '600519'],
    ['sh600519', '600519'],
    ['700 HK', 'HK00700'],
    ['BRK/B', 'BRK.B'],
    ['285A.T', ''],
    ['６００５１９', '600519'],
    ['贵州茅台(600519)', '600519'],
    ['贵州茅台(000858)', '000858 600519'],
    ['^GSPC', 'SPX'],
    ['삼성전자', '005930.KS 005935.KS'],
    ['トヨタ', '7203.T'],
    ['Apple Inc.', 'AAPL'],
    ['maotai', '600519'],
  ]
  for (const [typed, keys] of pasted) {
    const found = await search(`limit=3&q=${encodeURIComponent(typed)}`)
    expect([typed, found.map(([key]) => key).join(' ')]).toEqual([typed, keys])
  }
  expect(await search('q=')).toEqual([])
  expect(await search('q=%3Cscript%3E')).toEqual([])
  const [ping] = (await ann.json<SearchResult>('/api/v1/stocks/search?q=601318&language=en')).items
  expect(ping).toEqual({
    stock_code: '601318',
    canonical_code: '601318.SH',
    stock_name: 'Ping An Insurance',
    name_zh: '中国平安',
    name_en: 'Ping An Insurance',
    aliases: expect.arrayContaining(['平安']),
    market: 'cn',
    exchange: 'SH',
    market_label: 'Shanghai',
    asset_type: 'stock',
    match: 'code',
  })
  for (const query of ['limit=0', 'limit=51', 'limit=x', `q=${'a'.repeat(101)}`, 'language=fr']) {
    const refused = await ann.ask(`/api/v1/stocks/search?${query}`)
    expect([query, refused.status]).toEqual([query, 422])
    expect(await refused.json()).toMatchObject({ error: 'validation_error' })
  }
})

test('laying the list down again changes nothing, and a newer list keeps what was changed since', async () => {
  const store = stockNameStore(env.DB)
  forgetNames()
  const names = await currentNames(store)
  const moutai = names.byKey('600519')
  if (moutai === null) throw new Error('no 600519')
  const renamed: Listing = { ...moutai, zh: '贵州酱酒', pinyin: 'gui zhou jiang jiu', aliases: ['茅台', '贵州茅台'] }
  await saveChangedNames(env.DB, [renamed], { source: 'eastmoney', at: '2026-11-21T00:00:00.000000Z' })
  const before = await store.state()
  const packaged = (await packagedNames()).all()
  const listings = packaged.filter(({ key }) => key !== 'AAPL')
  await store.seed('999999-next', listings)
  expect(await count()).toBe(packaged.length - 1)
  expect(await count("key = 'AAPL'")).toBe(0)
  expect(await store.changed()).toEqual([renamed])
  const after = await store.state()
  expect(after.seededFrom).toBe('999999-next')
  expect(after.revision).not.toBe(before.revision)

  forgetNames()
  const current = await currentNames(store)
  expect(current.named('贵州酱酒').map(({ key }) => key)).toEqual(['600519'])
  expect(current.named('贵州茅台').map(({ key }) => key)).toEqual(['600519'])
  expect((await store.state()).seededFrom, 'an older program leaves the newer list alone').toBe('999999-next')
  const ann = await client()
  const analysis = await ann.ask('/api/v1/analysis/analyze', { method: 'POST', body: { stock_code: '贵州酱酒' } })
  expect(analysis.status).toBe(200)
  expect(await analysis.json()).toMatchObject({ stock_code: '600519', stock_name: '贵州酱酒' })
  await startAfresh()
})

test('names are answered from the packaged list while the store fails', async () => {
  forgetNames()
  const broken = { state: () => Promise.reject(new Error('down')), seed: async () => {}, changed: async () => [] }
  const names = await currentNames(broken)
  expect(names.named('贵州茅台').map(({ key }) => key)).toEqual(['600519'])
  forgetNames()
})

test('the list for the browser has one tuple a listing, is closed, and is sent again only when it changed', async () => {
  forgetNames()
  const ann = await client()
  const response = await ann.ask('/stocks.index.json?_t=2026112109')
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('private, no-cache')
  const entries = await response.json<Entry[]>()
  const entry = (code: string) => entries.find(([canonical]) => canonical === code)
  expect(entries.length).toBeGreaterThan(5_500)
  expect(entry('300750.SZ')?.slice(0, 9)).toEqual([
    '300750.SZ',
    '300750',
    '宁德时代',
    'ningdeshidai',
    'ndsd',
    ['Contemporary Amperex Technology', '宁王', 'CATL'],
    'CN',
    'stock',
    true,
  ])
  expect(entry('00700.HK')?.slice(1, 3)).toEqual(['00700', '腾讯控股'])
  expect(entry('000001.SH')?.slice(1, 3)).toEqual(['SH000001', '上证指数'])
  const shapes = ['510300.SH', 'HSI', 'SPY', '7203.T', '005930.KS', 'TWII', 'N225', '899050.BJ'].map((code) => {
    return entry(code)?.slice(6, 8).join(' ')
  })
  expect(shapes).toEqual([
    'ETF etf',
    'INDEX index',
    'US etf',
    'JP stock',
    'KR stock',
    'INDEX index',
    'INDEX index',
    'INDEX index',
  ])

  // The existing page completes nothing any more once one of its suggestions is of a market that it does not know.
  const known = ['CN', 'HK', 'US', 'JP', 'KR', 'INDEX', 'ETF', 'BSE']
  expect(entries.filter(([, , , , , , market]) => !known.includes(String(market)))).toEqual([])
  const etag = response.headers.get('etag') ?? ''
  const again = await ann.ask('/stocks.index.json', { headers: { 'if-none-match': etag } })
  expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
  expect((await ann.ask('/stocks.index.json', { headers: { 'if-none-match': '"other"' } })).status).toBe(200)

  const nobody = await request('/stocks.index.json')
  expect([nobody.status, await nobody.json()]).toEqual([401, { detail: 'Unauthorized' }])
  const talker = await client({ scopes: ['conversations'] })
  expect((await talker.ask('/stocks.index.json')).status).toBe(403)
})
