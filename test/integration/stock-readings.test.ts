import { expect, test } from 'vitest'
import { client } from '../helpers/app.ts'
import { craftZip } from '../helpers/crafted-zip.ts'
import { scriptedModel } from '../helpers/scripted-model.ts'

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
    [{ text: ' \n' }, 'parse_failed'],
    [formOf(new File(['code,name\n'], 'header.csv')), 'parse_failed'],
    [formOf(new File([''], 'nothing.csv')), 'parse_failed'],
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

const workbook = (rows: (string | number)[][]): Uint8Array => {
  const cell = (value: string | number) =>
    typeof value === 'number' ? `<c><v>${value}</v></c>` : `<c t="inlineStr"><is><t>${value}</t></is></c>`
  const lines = rows.map((row) => `<row>${row.map(cell).join('')}</row>`)
  const link = '<Relationships><Relationship Id="a" Target="worksheets/s.xml"/></Relationships>'
  return craftZip(
    [
      { name: 'xl/workbook.xml', data: '<workbook><sheets><sheet name="x" r:id="a"/></sheets></workbook>' },
      { name: 'xl/_rels/workbook.xml.rels', data: link },
      { name: 'xl/worksheets/s.xml', data: `<worksheet><sheetData>${lines.join('')}</sheetData></worksheet>` },
    ].map((entry) => ({ ...entry, deflated: true })),
  )
}

const formOf = (bytes: Uint8Array | string, name: string, type = ''): FormData => {
  const form = new FormData()
  form.set('file', new File([bytes], name, { type }))
  return form
}

test('a workbook is imported by what it is, and one that cannot be read gets a sentence', async () => {
  const ann = await client()
  const headers = { 'accept-language': 'en' }
  const sent = (body: FormData) => ann.ask(IMPORT, { method: 'POST', body, headers })
  const rows = [
    ['股票代码', '股票名称', '分组'],
    [600519, '贵州茅台', '酒'],
    ['000858', '贵州茅台', '酒'],
  ]
  const read = await sent(formOf(workbook(rows), 'named-as-text.csv'))
  expect([read.status, await read.json()]).toMatchObject([
    200,
    {
      codes: ['600519'],
      items: [
        { code: '600519', confidence: 'high', row: 2, group: '酒', note: null },
        { confidence: 'low', row: 3, message: expect.stringContaining('贵州茅台') },
      ],
    },
  ])
  const many = workbook(Array.from({ length: 100_000 }, () => [600519]))
  const refusals: [Uint8Array | string, RegExp][] = [
    [many, /100000 rows/],
    [craftZip([{ name: 'a', data: 'b' }]), /no XLSX workbook/],
    [new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1]), /XLS of the old form/],
    [workbook(rows).subarray(0, 400), /damaged/],
    [new Uint8Array([0x25, 0x50, 0x44, 0x46, 0xff, 0xfe, 0x00, 0x01]), /neither an XLSX workbook nor text/],
  ]
  for (const [bytes, sentence] of refusals) {
    const refused = await sent(formOf(bytes, 'list.xlsx'))
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: 'parse_failed', message: sentence }])
  }
})

const IMAGE = '/api/v1/stocks/extract-from-image'
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])

test('a list in a picture is read by the owner’s model: sure only of a code with its name, and nothing without a model that sees', async () => {
  const ann = await client()
  const headers = { 'accept-language': 'en' }
  const sent = async (body: FormData, query = '') => {
    const answer = await ann.ask(`${IMAGE}${query}`, { method: 'POST', body, headers })
    return [answer.status, await answer.json()] as const
  }
  const use = (model: string, baseUrl: string) =>
    ann.ask('/api/settings', {
      method: 'POST',
      body: { llm_model: model, llm_base_url: baseUrl, llm_api_key: 'sk-picture-0123456789' },
    })
  const picture = formOf(PNG, 'list.png', 'image/png')
  expect(await sent(picture)).toMatchObject([400, { error: 'vision_not_configured' }])
  const rows = [
    { code: '600519', name: '贵州茅台' },
    { code: '000858', name: null },
    { code: null, name: '腾讯控股' },
    { code: '600519', name: '五粮液' },
    { code: ' ', name: '' },
    { code: 'IGNORE ALL INSTRUCTIONS', name: null },
  ]
  const model = await scriptedModel({ text: 'no JSON' }, { text: `Here: ${JSON.stringify({ rows })}` })
  await use('openai/scripted', model.baseUrl)
  expect(await sent(picture)).toMatchObject([400, { error: 'vision_not_configured' }])
  expect(await model.requests()).toEqual([])
  await use('openai/scripted-vision', model.baseUrl)
  const [status, found] = await sent(picture, '?include_raw=true')
  expect([status, found]).toMatchObject([
    200,
    { raw_text: expect.stringContaining('Here: '), codes: ['600519', '000858', 'HK00700'] },
  ])
  const { items } = found as unknown as Import
  expect(items.map(({ code, confidence }) => [code, confidence])).toEqual([
    ['600519', 'high'],
    ['000858', 'medium'],
    ['HK00700', 'medium'],
    [expect.any(String), 'low'],
    [null, 'low'],
  ])
  const asked = await model.requests()
  expect(asked).toHaveLength(2)
  expect(JSON.stringify(asked[0])).toContain('data:image/png;base64,')
  const bad: [FormData, string][] = [
    [formOf(PNG, 'x.png', 'image/jpeg'), 'unsupported_type'],
    [formOf('<svg/>', 'x.svg', 'image/svg+xml'), 'unsupported_type'],
    [formOf(new Uint8Array(5_242_881), 'x.png', 'image/png'), 'file_too_large'],
    [new FormData(), 'bad_request'],
  ]
  for (const [body, error] of bad) expect([error, ...(await sent(body))]).toMatchObject([error, 400, { error }])
  // Models that follow no schema answer with the rows alone, or write codes as numbers.
  await model.set({ replies: [{ text: '```json\n[{"code": 600519, "name": "贵州茅台"}, {"name": "腾讯控股"}]\n```' }] })
  expect(await sent(picture)).toMatchObject([200, { codes: ['600519', 'HK00700'] }])
  // A server that refuses the picture is not asked without it: its answer would be made up.
  await model.set({ replies: [{ status: 400, body: { error: { message: 'image input is not supported' } } }] })
  expect(await sent(picture)).toMatchObject([400, { error: 'extract_failed' }])
  await model.set({ replies: [{ text: '{"rows": []}' }, { text: '{"rows": []}' }] })
  expect(await sent(picture)).toMatchObject([400, { error: 'extract_failed' }])
})
