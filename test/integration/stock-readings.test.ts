import { expect, test } from 'vitest'
import { client } from '../helpers/app.ts'

type Item = {
  input: string
  kind: string
  stock_code: string | null
  stock_name: string | null
  reading: string | null
}
type Read = { items: (Item & { candidates: { stock_code: string }[]; reason: string | null })[] }
type Import = { codes: string[]; items: { code: string | null; name: string | null; confidence: string }[] }

const READINGS = '/api/v1/stocks/readings'
const IMPORT = '/api/v1/stocks/parse-import'

test('entries are read without being submitted: a code, a reading, a question, or unknown', async () => {
  const ann = await client()
  const entries = ['600519', '茅台', '贵州茅苔', '龘龘龘', ' ', 'NVIDA', '阿里巴巴', '113050.SH', 'x😀']
  const { items } = await ann.json<Read>(READINGS, { method: 'POST', body: { entries, language: 'en' } })
  expect(items.map(({ input, kind, stock_code, reason }) => [input, kind, stock_code, reason])).toEqual([
    ['600519', 'code', '600519', null],
    ['茅台', 'reading', '600519', null],
    ['贵州茅苔', 'candidates', null, 'not_found'],
    ['龘龘龘', 'unknown', null, 'not_found'],
    ['NVIDA', 'code', 'NVIDA', null],
    ['阿里巴巴', 'candidates', null, 'ambiguous'],
    ['113050.SH', 'unknown', null, 'no_share'],
    ['x😀', 'unknown', null, 'not_found'],
  ])
  expect(items[1]?.reading).toBe('"茅台" was read as Kweichow Moutai (600519)')
  expect(items[0]).toMatchObject({
    stock_name: 'Kweichow Moutai',
    market_label: 'Shanghai',
    reading: null,
    candidates: [],
  })
  // A ticker that no list knows stays one, and what it is like is told beside it.
  expect([items[4]?.stock_name, items[4]?.candidates[0]?.stock_code]).toEqual([null, 'NVDA'])
  expect(items[5]?.candidates.map(({ stock_code }) => stock_code)).toEqual(['HK09988', 'BABA'])
  expect(await ann.json('/api/v1/analysis/tasks')).toMatchObject({ total: 0 })
  const zh = await ann.json<Read>(READINGS, { method: 'POST', body: { entries: ['maotai'], language: 'zh' } })
  expect(zh.items[0]?.reading).toBe('“maotai”读作贵州茅台（600519）')
  for (const body of [{}, { entries: 'AAPL' }, { entries: [1] }, { entries: Array(501).fill('AAPL') }])
    expect((await ann.ask(READINGS, { method: 'POST', body })).status).toBe(422)
})

test('a message names a stock whose code looks like the status of a failing network by its name alone', async () => {
  const ann = await client()
  const analyze = async (stock_code: string) => {
    const answer = await ann.ask('/api/v1/analysis/analyze', { method: 'POST', body: { stock_code } })
    const { message, detail } = await answer.json<{
      message: string
      detail: { candidates: { stock_code: string }[] }
    }>()
    return { status: answer.status, message, codes: detail.candidates.map((one) => one.stock_code) }
  }
  const { status, message, codes } = await analyze('安徽建公')
  expect([status, codes.includes('600502')]).toEqual([400, true])
  expect(message).toContain('安徽建工')
  expect(message).not.toMatch(/50[23]/)
})

test('an import reads a text or a file row by row, and says how sure it is', async () => {
  const ann = await client()
  const text = 'code,name\n600519,贵州茅台\n000858,贵州茅台\n,腾讯控股\nZZQXV,\n,龘龘龘\n600519,\n'
  const read = await ann.json<Import>(IMPORT, { method: 'POST', body: { text } })
  expect(read.items.map(({ code, name, confidence }) => [code, name, confidence])).toEqual([
    ['600519', '贵州茅台', 'high'],
    ['000858', '五粮液', 'low'],
    ['HK00700', '腾讯控股', 'medium'],
    ['ZZQXV', null, 'medium'],
    [null, null, 'low'],
  ])
  expect(read.codes).toEqual(['600519', 'HK00700', 'ZZQXV'])
  const form = new FormData()
  form.append('file', new File(['\uFEFF股票代码\t股票名称\r\n300750\t宁德时代\r\n'], 'stocks.txt'))
  expect((await ann.json<Import>(IMPORT, { method: 'POST', body: form })).codes).toEqual(['300750'])
})

test('an import that cannot be read says which way', async () => {
  const ann = await client()
  const formOf = (part: File | null) => {
    const form = new FormData()
    if (part === null) form.append('other', 'x')
    else form.append('file', part)
    return form
  }
  const bad: [unknown, string][] = [
    [formOf(new File([new Uint8Array([0x50, 0x4b, 3, 4, 0, 0])], 'book.xlsx')), 'parse_failed'],
    [formOf(new File(['x'.repeat(2_097_153)], 'big.txt')), 'file_too_large'],
    [formOf(null), 'bad_request'],
    [{ words: 'x' }, 'bad_request'],
    [{ text: Array.from({ length: 1_001 }, (_, i) => `A${i}`).join('\n') }, 'parse_failed'],
  ]
  for (const [body, word] of bad) {
    const refused = await ann.ask(IMPORT, { method: 'POST', body })
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: word }])
  }
  const headers = { 'content-type': 'text/plain' }
  const noJson = await ann.ask(IMPORT, { method: 'POST', headers, body: undefined })
  expect([noJson.status, await noJson.json()]).toMatchObject([400, { error: 'invalid_json' }])
})
