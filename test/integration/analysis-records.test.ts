import { env } from 'cloudflare:workers'
import { Buffer } from 'node:buffer'
import { expect, test } from 'vitest'
import { newsPool } from '../../src/db/market-state.ts'
import { type Client, client } from '../helpers/app.ts'

type Json = Record<string, unknown>

async function analysed(who: Client, body: Json): Promise<{ query_id: string; report: Json & { details: Json } }> {
  const response = await who.ask('/api/v1/analysis/analyze', {
    method: 'POST',
    body: { report_language: 'en', ...body },
  })
  expect(response.status).toBe(200)
  return response.json()
}

test('a stored report is a page, a chart, news, diagnostics and a flow, all of the same run, and a picture', async () => {
  const ann = await client()
  const { query_id: id, report } = await analysed(ann, { stock_code: 'AAPL', skills: ['bull_trend', 'none_such'] })
  const page = await ann.ask(`/api/v1/history/${id}/html`)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.headers.get('content-security-policy')).toContain("style-src 'unsafe-inline'")
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  const html = await page.text()
  expect(html).toContain('<svg')
  expect(html).toContain('Sample data')
  expect(html).toContain('Rising trend')

  const chart = await ann.ask(`/api/v1/history/${id}/chart.svg`)
  expect([chart.status, chart.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  expect(chart.headers.get('content-security-policy')).toContain('sandbox')
  expect(await chart.text()).toMatch(/MA20.*#ffffff|#ffffff.*MA20/s)
  const dark = await (await ann.ask(`/api/v1/history/${id}/chart.svg?theme=dark`)).text()
  expect([dark.includes('MA20'), dark.includes('#ffffff'), dark.includes('#191f21')]).toEqual([true, false, true])

  expect(await ann.json(`/api/v1/history/${id}/news`)).toEqual({ total: 0, items: [] })
  expect(await ann.json(`/api/v1/history/${id}/diagnostics`)).toMatchObject({
    query_id: id,
    components: { news: { status: 'not_configured' } },
  })
  expect(await ann.json(`/api/v1/history/${id}/flow`)).toMatchObject({
    task_id: id,
    stock_code: 'AAPL',
    nodes: expect.any(Array),
  })
  const pictures: string[] = []
  for (const theme of ['light', 'dark']) {
    const picture = await ann.ask(`/api/v1/history/${id}/share-image?theme=${theme}`)
    const bytes = Buffer.from(await picture.arrayBuffer())
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png'])
    // The signature, then the first piece: how wide and how high.
    expect([bytes.readUInt32BE(0), bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([0x89504e47, 1080, 1350])
    pictures.push(bytes.toString('base64'))
  }
  expect(new Set(pictures).size).toBe(2)
  expect((await ann.ask(`/api/v1/history/${id}/share-image?theme=pink`)).status).toBe(422)
  expect((await ann.ask(`/api/v1/history/${id}/share-image-html`)).status).toBe(200)
  expect(report.details.empty_news_disclosure).toContain('No news search channel')
  expect(report.details.raw_result).toMatchObject({
    strategy_synthesis: { findings: [{ id: 'bull_trend' }], unknown: ['none_such'] },
  })

  const bob = await client()
  for (const part of ['html', 'chart.svg', 'diagnostics', 'flow', 'share-image', 'share-image-html']) {
    const [foreign, missing] = await Promise.all(
      [id, '0'.repeat(32)].map((one) => bob.ask(`/api/v1/history/${one}/${part}`)),
    )
    expect([part, foreign?.status, await foreign?.text()]).toEqual([part, 404, await missing?.text()])
  }
  expect(await bob.json(`/api/v1/history/${id}/news`)).toEqual({ total: 0, items: [] })
})

test('the second report of a listing says what changed, history shows one row a listing, and a listing goes by any spelling', async () => {
  const ann = await client()
  const first = await analysed(ann, { stock_code: '600519' })
  const second = await analysed(ann, { stock_code: '600519.SH' })
  const other = await analysed(ann, { stock_code: 'AAPL' })
  expect(first.report.details.raw_result).toMatchObject({ changes_since_previous: null })
  expect(second.report.details.raw_result).toMatchObject({
    changes_since_previous: { previous: { query_id: first.query_id }, score_change: 0, trend: null, advice: null },
  })
  type Rows = { total: number; items: { stock_code: string; analysis_count: number; last_analysis_time: string }[] }
  const rows = await ann.json<Rows>('/api/v1/history/stocks')
  expect(rows.items.map(({ stock_code, analysis_count }) => [stock_code, analysis_count])).toEqual([
    ['AAPL', 1],
    ['600519', 2],
  ])
  expect(await ann.json<Rows>('/api/v1/history/stocks?limit=1')).toMatchObject({
    total: 2,
    items: [{ stock_code: 'AAPL' }],
  })
  expect((await ann.ask('/api/v1/history/stocks?limit=501')).status).toBe(422)
  const remove = (code: string) => ann.json(`/api/v1/history/by-code/${code}`, { method: 'DELETE' })
  expect(await (await client()).json('/api/v1/history/by-code/600519', { method: 'DELETE' })).toEqual({ deleted: 0 })
  expect(await remove('sh600519')).toEqual({ deleted: 2 })
  expect(await remove('%3Cscript%3E')).toEqual({ deleted: 0 })
  expect((await ann.ask(`/api/v1/history/${second.query_id}`)).status).toBe(404)
  expect((await ann.ask(`/api/v1/history/${other.query_id}`)).status).toBe(200)
})

test('news of the pool are evidence: the disclosure goes, the items stand in the report and behind its news call', async () => {
  const ann = await client()
  await newsPool(env.DB).put(
    'NVDA',
    [
      {
        title: 'NVIDIA <b>news</b>',
        snippet: 'x'.repeat(300),
        url: 'https://n.test/nvda',
        source: 'n.test',
        publishedAt: new Date().toISOString(),
        dimension: 'latest_news',
        provider: 'tavily',
      },
    ],
    Date.now(),
  )
  const { query_id: id, report } = await analysed(ann, { stock_code: 'NVDA' })
  expect(report.details).toMatchObject({
    empty_news_disclosure: null,
    news_content: expect.stringContaining('NVIDIA'),
    raw_result: { news_result_count: null, news_result_count_known: true, news_evidence_present: true },
  })
  const news = await ann.json<{ total: number; items: { snippet: string; url: string }[] }>(
    `/api/v1/history/${id}/news?limit=5`,
  )
  expect([news.total, news.items[0]?.snippet.length, news.items[0]?.url]).toEqual([1, 200, 'https://n.test/nvda'])
  expect((await ann.ask(`/api/v1/history/${id}/news?limit=0`)).status).toBe(422)
})

test('past advice is measured without samples, says how little it knows, and takes any spelling', async () => {
  const ann = await client()
  await analysed(ann, { stock_code: 'AAPL' })
  const path = '/api/v1/analysis/history/accuracy'
  expect(await ann.json(path)).toMatchObject({ total: 0, pending: 0, stocks: 0, is_small_sample: true, by_action: [] })
  // The same report as if its figures were real: its source has nothing but samples, so it cannot be measured.
  await env.DB.prepare('UPDATE analyses SET data_notice = NULL WHERE owner = ?').bind(ann.owner).run()
  expect(await ann.json(path)).toMatchObject({
    total: 1,
    unmeasured: 1,
    stocks: 1,
    overall: [{ horizon: 5, count: 0 }, { horizon: 10 }, { horizon: 20 }],
  })
  expect(await ann.json(`${path}?stock_code=600519`)).toMatchObject({ total: 0 })
  expect(await ann.json(`${path}?stock_code=aapl.us`)).toMatchObject({ total: 1 })
  expect(await (await client()).json(path)).toMatchObject({ total: 0 })
  for (const days of ['0', '366', 'many']) expect((await ann.ask(`${path}?days=${days}`)).status).toBe(422)
})

test('the strategies are listed in three languages under both names, and each can be asked for', async () => {
  const ann = await client()
  type Skills = { skills: { id: string; name: string; description: string }[]; default_skill_id: string }
  const { skills, default_skill_id } = await ann.json<Skills>('/api/v1/agent/skills?language=en')
  expect([skills.length, default_skill_id, skills[0]?.id]).toEqual([15, 'bull_trend', 'bull_trend'])
  expect(await ann.json<Skills>('/api/v1/agent/strategies?language=en')).toEqual({ skills, default_skill_id })
  const korean = await ann.json<Skills>('/api/v1/agent/skills?language=ko')
  expect(korean.skills.every(({ name }, i) => name !== '' && name !== skills[i]?.name)).toBe(true)
  expect((await ann.ask('/api/v1/agent/skills?language=fr')).status).toBe(422)
  const { report } = await analysed(ann, { stock_code: 'MSFT', strategies: skills.map(({ id }) => id) })
  const { findings } = (report.details.raw_result as { strategy_synthesis: { findings: { verdict: string }[] } })
    .strategy_synthesis
  expect(findings.map(({ verdict }) => ['fits', 'partly', 'not', 'unknown'].includes(verdict))).toEqual(
    Array(15).fill(true),
  )
})
