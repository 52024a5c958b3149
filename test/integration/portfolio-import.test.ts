import { expect, test } from 'vitest'
import { type Client, client } from '../helpers/app.ts'
import { BROKER_FILES } from '../support/broker-files.ts'

const BASE = '/api/v1/portfolio'
const CSV = `${BASE}/imports/csv`
const headers = { 'accept-language': 'en' }

const TABLE = new Map<string, number[]>()
/** There is no encoder of the older Chinese files: the decoder is asked for each pair of bytes. */
function gbk(text: string): Uint8Array<ArrayBuffer> {
  if (TABLE.size === 0) {
    const decoder = new TextDecoder('gbk')
    for (let high = 0x81; high <= 0xfe; high++) {
      for (let low = 0x40; low <= 0xfe; low++) {
        const character = decoder.decode(new Uint8Array([high, low]))
        if (character.length === 1 && !TABLE.has(character)) TABLE.set(character, [high, low])
      }
    }
  }
  return Uint8Array.from([...text].flatMap((one) => (one < '\u0080' ? [one.charCodeAt(0)] : (TABLE.get(one) ?? []))))
}

function sent(who: Client, path: string, fields: Record<string, string | Uint8Array<ArrayBuffer>>): Promise<Response> {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    body.append(name, typeof value === 'string' ? value : new File([value], 'trades.csv'))
  }
  return who.ask(`${CSV}/${path}`, { method: 'POST', body, headers })
}

async function account(who: Client): Promise<string> {
  const made = await who.json<{ id: number }>(`${BASE}/accounts`, { method: 'POST', body: { name: 'Main' } })
  return String(made.id)
}

const total = async (who: Client) => (await who.json<{ total: number }>(`${BASE}/trades`)).total

const HEADER = '成交日期,证券代码,买卖标志,成交数量,成交均价,手续费'

test('the files of seven layouts are offered, previewed in the encodings of their programs, and booked once', async () => {
  const ann = await client()
  const { brokers } = await ann.json<{ brokers: { broker: string; display_name: string }[] }>(`${CSV}/brokers`, {
    headers: { 'accept-language': 'zh' },
  })
  expect(brokers.map(({ broker }) => broker)).toEqual('huatai citic cmb eastmoney schwab ibkr generic'.split(' '))
  expect(brokers[0]?.display_name).toBe('华泰证券')
  const account_id = await account(ann)
  let booked = 0
  for (const { broker, text, trades, dividends = [], cash = [], skipped } of BROKER_FILES) {
    const all = trades.length + dividends.length + cash.length
    const file = /[一-鿿]/.test(text) ? gbk(text) : Uint8Array.from(new TextEncoder().encode(`\uFEFF${text}`))
    const preview = await (await sent(ann, 'parse', { broker, file })).json<Preview>()
    expect(preview).toMatchObject({ record_count: all, skipped_count: skipped.length, error_count: 0 })
    const found = [preview.records, preview.dividends, preview.cash].map(({ length }) => length)
    expect(found).toEqual([trades.length, dividends.length, cash.length])
    const trial = await sent(ann, 'commit', { account_id, broker, file, dry_run: 'true' })
    expect(await trial.json()).toMatchObject({ inserted_count: all, dry_run: true, failed_count: 0 })
    expect(await total(ann)).toBe(booked)
    // Twice at one time: as when a request was killed and sent again.
    const answers = await Promise.all([1, 2].map(() => sent(ann, 'commit', { account_id, broker, file })))
    const results = await Promise.all(answers.map((answer) => answer.json<Result>()))
    expect(results.map(({ inserted_count }) => inserted_count).sort()).toEqual([0, all])
    expect(results.map(({ duplicate_count }) => duplicate_count).sort()).toEqual([0, all])
    booked += trades.length
    expect(await total(ann)).toBe(booked)
  }
  const actions = await ann.json<{ total: number; items: { id: number; symbol: string }[] }>(
    `${BASE}/corporate-actions?action_type=cash_dividend&page_size=100`,
  )
  const lengthOf = (of: 'dividends' | 'cash') => BROKER_FILES.reduce((sum, file) => sum + (file[of]?.length ?? 0), 0)
  expect(actions.total).toBe(lengthOf('dividends'))
  const maotai = actions.items.find(({ symbol }) => symbol === '600519')
  expect(maotai).toMatchObject({ amount: 150, fee: 0, tax: 0, cash_dividend_per_share: null })
  expect((await ann.json<{ total: number }>(`${BASE}/cash-ledger`)).total).toBe(lengthOf('cash'))
  const told = async () => {
    type SnapshotAnswer = { accounts: { cash: { currency: string; amount: number }[] }[] }
    const { accounts } = await ann.json<SnapshotAnswer>(`${BASE}/snapshot?account_id=${account_id}`)
    return Object.fromEntries(accounts[0]?.cash.map(({ currency, amount }) => [currency, amount]) ?? [])
  }
  // Each currency by hand: purchases, sales, dividends, taxes on them, and what moved between bank and account.
  const before = await told()
  expect(before).toMatchObject({ EUR: 10_000, USD: 49293.107955 })
  expect((await ann.ask(`${BASE}/corporate-actions/${maotai?.id}`, { method: 'DELETE' })).status).toBe(200)
  expect((await told()).CNY).toBeCloseTo((before.CNY ?? 0) - 150, 8)
  const { items } = await ann.json<{ items: object[] }>(`${BASE}/trades?symbol=300750`)
  expect(items).toMatchObject([
    { side: 'sell', trade_date: '2025-12-02', price: 381, fee: 10.01, tax: 19.05, currency: 'CNY', note: '102' },
    { side: 'buy', trade_date: '2025-12-02', trade_uid: expect.stringMatching(/^csv:[0-9a-f]{40}$/) },
  ])
})

type Preview = {
  records: object[]
  dividends: object[]
  cash: object[]
  mapping: Record<string, string | null>
  columns: string[]
}
type Result = { inserted_count: number; duplicate_count: number; failed_count: number; errors: string[] }

test('a longer file books what is new; one row at fault books nothing, and its row and column are named', async () => {
  const ann = await client()
  const account_id = await account(ann)
  const first = [HEADER, '2025-12-02,600519,买入,100,1400,5']
  const commit = async (lines: string[], more: Record<string, string> = {}) =>
    sent(ann, 'commit', { account_id, broker: 'huatai', file: gbk(lines.join('\r\n')), ...more })
  expect(await (await commit(first)).json()).toMatchObject({ inserted_count: 1 })
  // The newest first, as many programs write.
  const longer = [HEADER, '2025-12-04,600519,卖出,60,1410,5', '2025-12-03,600519,卖出,40,1410,5', first[1] ?? '']
  expect(await (await commit(longer)).json()).toMatchObject({ inserted_count: 2, duplicate_count: 1, record_count: 3 })
  const bad = [
    HEADER,
    '2025-12-08,300750,买入,100,380,5',
    '2025-12-06,300750,买入,-1,380,5',
    '2025-12-08,300750,买入,-1,380,5',
  ]
  const refused = await commit(bad)
  expect(refused.status).toBe(400)
  const { error, message } = await refused.json<{ error: string; message: string }>()
  expect([error, message]).toEqual([
    'validation_error',
    'row 3, column "成交日期": 2025-12-06 is no trading day of the market cn; row 4, column "成交数量": "-1" is not above 0',
  ])
  expect(await (await commit(bad, { dry_run: 'true' })).json<Result>()).toMatchObject({
    ...{ inserted_count: 0, failed_count: 2, record_count: 1 },
    errors: [expect.stringContaining('row 3'), expect.stringContaining('row 4')],
  })
  const oversold = await commit([HEADER, '2025-12-05,600519,卖出,0.5,1410,5'])
  expect([oversold.status, await oversold.json()]).toEqual([
    409,
    expect.objectContaining({
      error: 'portfolio_oversell',
      message: 'row 2, column "成交数量": 0.5 of 600519 are sold on 2025-12-05, but only 0 are held then',
    }),
  ])
  // What is sold before a sale that is booked already makes that one impossible.
  const early = await commit([HEADER, '2025-12-02,600519,卖出,1,1410,5'])
  expect([early.status, (await early.json<{ message: string }>()).message]).toEqual([
    409,
    '60 of 600519 are sold on 2025-12-04, but only 59 are held then',
  ])
  expect(await total(ann)).toBe(3)
  // A trade that was taken back is booked again by its file.
  const { items } = await ann.json<{ items: { id: number }[] }>(`${BASE}/trades?side=sell&date_from=2025-12-04`)
  await ann.ask(`${BASE}/trades/${items[0]?.id}`, { method: 'DELETE' })
  expect(await (await commit(longer)).json()).toMatchObject({ inserted_count: 1, duplicate_count: 2 })
})

test('a trade that was booked by hand under its number is not booked again; the same number of another day is another trade', async () => {
  const ann = await client()
  const account_id = await account(ann)
  const trade = { account_id: Number(account_id), symbol: '600519', trade_date: '2025-12-02', side: 'buy' }
  const body = { ...trade, quantity: 100, price: 1400, trade_uid: '77' }
  expect((await ann.ask(`${BASE}/trades`, { method: 'POST', body })).status).toBe(200)
  const file = [`${HEADER},成交编号`, '2025-12-02,600519,买入,100,1400,5,77', '2025-12-03,600519,买入,100,1400,5,77']
  const answer = await sent(ann, 'commit', { account_id, broker: 'citic', file: file.join('\n') })
  expect(await answer.json()).toMatchObject({ inserted_count: 1, duplicate_count: 1 })
  const long = [`${HEADER},成交编号`, `2025-12-04,600519,买入,100,1400,5,${'7'.repeat(300)}`]
  await sent(ann, 'commit', { account_id, broker: 'citic', file: long.join('\n') })
  const { items } = await ann.json<{ items: { note: string }[] }>(`${BASE}/trades`)
  expect(items.map(({ note }) => note?.length ?? 0)).toEqual([255, 2, 0])
})

test('columns are chosen by name, and a file without a needed one is told which', async () => {
  const ann = await client()
  const account_id = await account(ann)
  const file = 'Day;What;Paper;Count;Each\n2.12.2025;Kauf;AAPL;10;200,10\n'
  const without = await sent(ann, 'parse', { broker: 'generic', file })
  expect([without.status, (await without.json<{ message: string }>()).message]).toEqual([
    400,
    'The file has no column for: date, code, buy or sell, quantity, price. Its columns are "Day", "What", "Paper", "Count", "Each". Name them with "mapping"',
  ])
  const mapping = JSON.stringify({
    ...{ date: 'Day', side: 'What', symbol: 'Paper', quantity: 'Count', price: ['Each'] },
    ...{ buy: ['Kauf'], sell: ['Verkauf'], date_order: 'dmy', decimal: ',' },
  })
  const preview = await (await sent(ann, 'parse', { broker: 'generic', file, mapping })).json<Preview>()
  expect(preview).toMatchObject({
    records: [{ row: 2, trade_date: '2025-12-02', symbol: 'AAPL', price: 200.1, currency: 'USD' }],
    mapping: { date: 'Day', side: 'What', fee: null },
  })
  expect(await (await sent(ann, 'commit', { account_id, broker: 'generic', file, mapping })).json()).toMatchObject({
    inserted_count: 1,
  })
})

test('what is no file of trades is refused with a sentence, and another owner books nothing', async () => {
  const [ann, bob] = [await client(), await client()]
  const account_id = await account(ann)
  const row = '2025-12-02,600519,买入,100,1400,5'
  const file = `${HEADER}\n${row}`
  const cases: [Record<string, string | Uint8Array<ArrayBuffer>>, number, RegExp][] = [
    [{ broker: 'nobody', file }, 400, /"nobody" is no known broker; known are huatai, /],
    [{ broker: 'huatai' }, 400, /Send a form with/],
    [{ broker: 'huatai', file: new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]) }, 400, /no text in UTF-8/],
    [{ broker: 'huatai', file: '' }, 400, /no rows/],
    [{ broker: 'huatai', file: `${HEADER}\n"2025-12-02,600519` }, 400, /row 2: a quotation mark is never closed/],
    [{ broker: 'huatai', file: `${HEADER}\n${'1\n'.repeat(100_000)}` }, 400, /100001 rows; at most 10000/],
    [{ broker: 'huatai', file: `${HEADER}\n${`${row}\n`.repeat(80_000)}` }, 400, /larger than 2 MB/],
    [{ broker: 'huatai', file, mapping: '{' }, 400, /mapping: /],
    [{ broker: 'huatai', file, mapping: '{"isin":"x"}' }, 400, /mapping: .*isin/],
    [{ broker: 'huatai', file: `${HEADER},手续费\n${row},5` }, 400, /column "手续费" more than once/],
    [{ broker: 'huatai', file, mapping: '{"buy":["K"],"sell":["v","k"]}' }, 400, /"k" cannot mean two of/],
    [{ broker: 'huatai', file, mapping: '{"buy":["K"],"dividend":["k"]}' }, 400, /"k" cannot mean two of/],
    [{ broker: 'huatai', file, account_id: 'x' }, 404, /No account/],
    [{ broker: 'huatai', file, account_id: '999' }, 404, /No account/],
  ]
  for (const [fields, status, text] of cases) {
    const answer = await sent(ann, 'commit', { account_id, ...fields })
    const { message } = await answer.json<{ message: string }>()
    expect([text.source, answer.status, message]).toEqual([text.source, status, expect.stringMatching(text)])
  }
  // What stands in a cell is told in its beginning, however long it is.
  const wide = `${HEADER}\n${`2025-12-02,600519,买入,${'9'.repeat(90_000)},1400,5\n`.repeat(20)}`
  const long = await sent(ann, 'parse', { broker: 'huatai', file: wide })
  expect((await long.text()).length).toBeLessThan(10_000)
  expect((await sent(bob, 'commit', { account_id, broker: 'huatai', file })).status).toBe(404)
  expect((await sent(bob, 'commit', { account_id, broker: 'huatai', file, dry_run: 'true' })).status).toBe(404)
  expect((await ann.ask(`${CSV}/parse`, { method: 'POST', body: { broker: 'huatai' }, headers })).status).toBe(400)
  expect(await total(ann)).toBe(0)
})

test('ten thousand rows are booked in one piece', async () => {
  const ann = await client()
  const account_id = await account(ann)
  const rows = Array.from(
    { length: 10_000 },
    (_, i) => `2025-12-02,600519,${i % 2 ? '卖出' : '买入'},1,${1400 + i / 100},5`,
  )
  const file = [HEADER, ...rows].join('\n')
  const answer = await sent(ann, 'commit', { account_id, broker: 'huatai', file })
  expect(await answer.json()).toMatchObject({ inserted_count: 10_000, duplicate_count: 0 })
  expect(await total(ann)).toBe(10_000)
  expect(await (await sent(ann, 'commit', { account_id, broker: 'huatai', file })).json()).toMatchObject({
    ...{ inserted_count: 0, duplicate_count: 10_000 },
  })
})
