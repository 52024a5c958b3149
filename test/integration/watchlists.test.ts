import { expect, test } from 'vitest'
import { client } from '../helpers/app.ts'

const PATH = '/api/v1/analysis/watchlists'
type List = {
  watchlist_id: string
  name: string
  note: string
  is_default: boolean
  stocks: { stock_code: string; note: string }[]
}

const codes = ({ stocks }: List) => stocks.map(({ stock_code }) => stock_code)

test('groups are made, renamed, filled, emptied and deleted; every spelling of a listing is one stock', async () => {
  const ann = await client()
  const made = await ann.ask(PATH, {
    method: 'POST',
    body: { name: ' Tech ', stock_codes: ['AAPL', 'aapl.us', '腾讯控股', '600519.SH', '600519'] },
  })
  expect(made.status).toBe(201)
  const list = await made.json<List>()
  expect(list).toMatchObject({ name: 'Tech', is_default: false })
  expect(codes(list)).toEqual(['AAPL', 'HK00700', '600519.SH'])
  const one = `${PATH}/${list.watchlist_id}`
  const added = await ann.json<List>(`${one}/stocks`, { method: 'POST', body: { stock_code: 'MSFT' } })
  expect(codes(added)).toEqual(['AAPL', 'HK00700', '600519.SH', 'MSFT'])
  const again = await ann.json<List>(`${one}/stocks`, { method: 'POST', body: { stock_code: '00700.HK' } })
  expect(codes(again)).toEqual(codes(added))
  const removed = await ann.json<List>(`${one}/stocks/sh600519`, { method: 'DELETE' })
  expect(codes(removed)).toEqual(['AAPL', 'HK00700', 'MSFT'])
  expect((await ann.ask(`${one}/stocks/sh600519`, { method: 'DELETE' })).status).toBe(404)
  const renamed = await ann.json<List>(one, { method: 'PUT', body: { name: '科技' } })
  expect([renamed.name, codes(renamed)]).toEqual(['科技', codes(removed)])
  const replaced = await ann.json<List>(one, { method: 'PUT', body: { stock_codes: ['NVDA', 'AAPL'] } })
  expect(codes(replaced)).toEqual(['NVDA', 'AAPL'])
  const other = await ann.json<List>(PATH, { method: 'POST', body: { name: 'Empty' } })
  const taken = await ann.ask(`${PATH}/${other.watchlist_id}`, { method: 'PUT', body: { name: '科技' } })
  expect(taken.status).toBe(409)
  expect((await ann.ask(PATH, { method: 'POST', body: { name: 'Empty', stock_codes: ['AAPL'] } })).status).toBe(409)
  const { watchlists } = await ann.json<{ watchlists: List[] }>(PATH)
  expect(watchlists.map(({ name }) => name)).toEqual(['科技', 'Empty'])
  expect(await ann.json(one, { method: 'DELETE' })).toEqual({ deleted: true })
  expect((await ann.ask(one)).status).toBe(404)
})

test('the default group comes with its first stock and is the one that the analysis page reads and changes', async () => {
  const ann = await client()
  const page = '/api/v1/stocks/watchlist'
  expect(await ann.json(page)).toEqual({ stock_codes: [], message: null })
  await Promise.all(
    ['AAPL', 'MSFT'].map((stock_code) => ann.ask(`${page}/add`, { method: 'POST', body: { stock_code } })),
  )
  const { stock_codes } = await ann.json<{ stock_codes: string[] }>(page)
  expect(stock_codes.toSorted()).toEqual(['AAPL', 'MSFT'])
  const { watchlists } = await ann.json<{ watchlists: List[] }>(PATH)
  expect(watchlists).toMatchObject([{ name: 'default', is_default: true }])
  expect(await ann.json(`${page}/remove`, { method: 'POST', body: { stock_code: 'aapl' } })).toEqual({
    stock_codes: ['MSFT'],
    message: 'AAPL is no longer in the watchlist',
  })
  expect(await ann.json(`${page}/remove`, { method: 'POST', body: { stock_code: 'aapl' } })).toMatchObject({
    message: 'AAPL was not in the watchlist',
  })
})

test('an unclear stock is refused with what may be meant, and taken with its name when confirmed', async () => {
  const ann = await client()
  const list = await ann.json<List>(PATH, { method: 'POST', body: { name: 'Unclear' } })
  const places = [`${PATH}/${list.watchlist_id}/stocks`, '/api/v1/stocks/watchlist/add']
  for (const place of places) {
    const refused = await ann.ask(place, { method: 'POST', body: { stock_code: '贵州茅苔' } })
    expect([place, refused.status]).toEqual([place, 400])
    expect(await refused.json()).toMatchObject({
      error: 'validation_error',
      detail: {
        reason: 'not_found',
        candidates: [{ stock_code: '600519', canonical_code: '600519.SH', stock_name: '贵州茅台', market: 'cn' }],
        invalid: [{ input: '贵州茅苔', reason: 'not_found' }],
      },
    })
  }
  const [place = '', page = ''] = places
  const body = { stock_code: '贵州茅苔', confirm: true }
  const taken = await ann.json<List & { readings: Record<string, unknown>[] }>(place, { method: 'POST', body })
  expect(codes(taken)).toEqual(['600519'])
  expect(taken.readings).toMatchObject([
    { input: '贵州茅苔', kind: 'reading', stock_code: '600519', reading: '“贵州茅苔”读作贵州茅台（600519）' },
  ])
  expect(await ann.json(page, { method: 'POST', body })).toEqual({
    stock_codes: ['600519'],
    message: '“贵州茅苔”读作贵州茅台（600519）; 600519 is in the watchlist',
  })
  const unknown = await ann.ask(place, { method: 'POST', body: { stock_code: '龘龘龘', confirm: true } })
  expect([unknown.status, await unknown.json()]).toMatchObject([
    400,
    { detail: { reason: 'not_found', candidates: [] } },
  ])
})

test('stocks are taken in the forms in which people paste them, and the answer says how each was read', async () => {
  const ann = await client()
  const stock_codes = [
    '삼성전자',
    'トヨタ',
    '贵州茅台(600519)',
    '^GSPC',
    'Apple Inc.',
    '600519.XSHG',
    '700 HK',
    'BRK/B',
  ]
  const made = await ann.json<List & { readings: { input: string; stock_code: string }[] }>(PATH, {
    method: 'POST',
    body: { name: 'Pasted', stock_codes },
  })
  expect(made.stocks.map(({ stock_code }) => stock_code)).toEqual([
    '005930.KS',
    '7203.T',
    '600519',
    'GSPC',
    'AAPL',
    '700 HK',
    'BRK/B',
  ])
  expect(made.readings.map(({ input, stock_code }) => `${input} ${stock_code}`)).toEqual([
    '삼성전자 005930.KS',
    'トヨタ 7203.T',
    '贵州茅台(600519) 600519',
    '^GSPC SPX',
    'Apple Inc. AAPL',
  ])
  const other = await ann.ask(PATH, { method: 'POST', body: { name: 'Other', stock_codes: ['贵州茅台(000858)'] } })
  expect([other.status, await other.json()]).toMatchObject([400, { detail: { reason: 'ambiguous' } }])
  const bond = await ann.ask(PATH, { method: 'POST', body: { name: 'Bond', stock_codes: ['113050.SH'] } })
  expect([bond.status, await bond.json()]).toMatchObject([400, { detail: { reason: 'no_share' } }])
})

test('bad input is refused, and another owner’s list answers like one that never was', async () => {
  const [ann, bob] = [await client(), await client()]
  const list = await ann.json<List>(PATH, { method: 'POST', body: { name: 'mine', stock_codes: ['AAPL'] } })
  const bad: [string, string, unknown, number][] = [
    ['POST', PATH, { name: '' }, 422],
    ['POST', PATH, { name: 'x'.repeat(101) }, 422],
    ['POST', PATH, { name: 'n', stock_codes: 'AAPL' }, 422],
    ['POST', PATH, { name: 'n', stock_codes: Array.from({ length: 501 }, (_, i) => `X${i}`) }, 422],
    ['POST', PATH, { name: 'n', stock_codes: ['AAPL', '12ab!', '600519.SZ'] }, 400],
    ['POST', `${PATH}/${list.watchlist_id}/stocks`, { stock_code: ' ' }, 400],
    ['POST', `${PATH}/${list.watchlist_id}/stocks`, { stock_code: "'; DROP TABLE watchlists; --" }, 400],
    ['POST', `${PATH}/${list.watchlist_id}/stocks`, {}, 422],
    ['POST', '/api/v1/stocks/watchlist/add', { stock_code: '' }, 400],
    ['POST', '/api/v1/stocks/watchlist/add', { stock_code: null }, 422],
  ]
  for (const [method, path, body, status] of bad) {
    const response = await ann.ask(path, { method, body })
    expect([body, response.status]).toEqual([body, status])
    expect(await response.json()).toMatchObject({ error: 'validation_error' })
  }
  const calls = (id: string): [string, string, unknown][] => [
    ['GET', `${PATH}/${id}`, undefined],
    ['PUT', `${PATH}/${id}`, { name: 'theirs' }],
    ['DELETE', `${PATH}/${id}`, undefined],
    ['POST', `${PATH}/${id}/stocks`, { stock_code: 'MSFT' }],
    ['DELETE', `${PATH}/${id}/stocks/AAPL`, undefined],
    ['PUT', `${PATH}/${id}/stocks/AAPL`, { note: 'theirs' }],
    ['PUT', PATH, { watchlist_ids: [id] }],
    ['POST', `${PATH}/${id}/run`, {}],
    ['GET', `${PATH}/export?watchlist_id=${id}`, undefined],
    ['GET', `${PATH}/digest?watchlist_id=${id}`, undefined],
  ]
  const answer = async ([method, path, body]: [string, string, unknown]) => {
    const response = await bob.ask(path, { method, body })
    return [response.status, await response.text()]
  }
  const [strange, never] = [calls(list.watchlist_id), calls('never')]
  for (const [i, call] of strange.entries()) {
    const told = await answer(call)
    expect([call, told]).toEqual([call, await answer(never[i] ?? call)])
    expect(told[0]).toBe(404)
  }
  expect(codes(await ann.json<List>(`${PATH}/${list.watchlist_id}`))).toEqual(['AAPL'])
})

test('notes stay with their stocks when a group is put in order, and groups themselves have an order', async () => {
  const ann = await client()
  const make = (name: string) =>
    ann.json<List>(PATH, { method: 'POST', body: { name, note: `about  ${name}`, stock_codes: ['AAPL', 'MSFT'] } })
  const [first, second, third] = [await make('one'), await make('two'), await make('three')]
  expect(first.note).toBe('about one')
  const one = `${PATH}/${first.watchlist_id}`
  const noted = await ann.json<List>(`${one}/stocks/msft`, { method: 'PUT', body: { note: ' bought\n in March ' } })
  expect(noted.stocks.map(({ note }) => note)).toEqual(['', 'bought in March'])
  expect((await ann.ask(`${one}/stocks/NVDA`, { method: 'PUT', body: { note: 'x' } })).status).toBe(404)
  const long = await ann.ask(`${one}/stocks/MSFT`, { method: 'PUT', body: { note: 'x'.repeat(501) } })
  expect(long.status).toBe(422)
  const turned = await ann.json<List>(one, { method: 'PUT', body: { stock_codes: ['MSFT', 'NVDA', 'AAPL'], note: '' } })
  expect(turned.stocks.map(({ stock_code, note }) => [stock_code, note])).toEqual([
    ['MSFT', 'bought in March'],
    ['NVDA', ''],
    ['AAPL', ''],
  ])
  expect(turned.note).toBe('')
  const order = [third.watchlist_id, first.watchlist_id]
  const ordered = await ann.json<{ watchlists: List[] }>(PATH, { method: 'PUT', body: { watchlist_ids: order } })
  expect(ordered.watchlists.map(({ name }) => name)).toEqual(['three', 'one', 'two'])
  expect(second.name).toBe('two')
})

test('an export is read back as what it was, and no cell of it is a formula to a spreadsheet', async () => {
  const [ann, bob] = [await client(), await client()]
  const notes = [
    '=HYPERLINK("http://x","y")',
    '+1, and "more"',
    '-2',
    '@SUM(A1)',
    "'=kept",
    '＝full',
    'plain, with comma',
  ]
  const stocks = ['AAPL', 'MSFT', 'NVDA', '600519', '00700.HK', '7203.T', '005930.KS']
  const rows = stocks.map((stock_code, i) => ({ stock_code, group: '=cmd|x', note: notes[i] }))
  const done = await ann.json(`${PATH}/import`, { method: 'POST', body: { rows } })
  expect(done).toMatchObject({ added: 7, groups: [{ name: '=cmd|x', is_new: true }] })
  const file = await ann.ask(`${PATH}/export`)
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="watchlists.csv"')
  const bytes = new Uint8Array(await file.arrayBuffer())
  expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
  const text = new TextDecoder().decode(bytes)
  const cells = text.split(/\r\n|,(?=(?:[^"]*"[^"]*")*[^"]*$)/).map((cell) => cell.replace(/^"/, ''))
  expect(cells.filter((cell) => /^[=+\-@\t\r＝＋－＠]/.test(cell))).toEqual([])
  expect(text).toContain('600519.SH')
  const form = new FormData()
  form.set('file', new File([bytes], 'watchlists.csv'))
  type Item = { code: string; confidence: string; group: string; note: string; row: number }
  const { items } = await bob.json<{ items: Item[] }>('/api/v1/stocks/parse-import', { method: 'POST', body: form })
  expect(items.map(({ group, note, row }) => [group, note, row])).toEqual(
    notes.map((note, i) => ['=cmd|x', note, i + 2]),
  )
  expect(items.every(({ confidence }) => confidence === 'high')).toBe(true)
  const back = items.map(({ code, group, note, row }) => ({ stock_code: code, group, note, row }))
  await bob.json(`${PATH}/import`, { method: 'POST', body: { rows: back } })
  expect(new TextDecoder().decode(await (await bob.ask(`${PATH}/export`)).arrayBuffer())).toBe(
    new TextDecoder().decode(bytes),
  )
})

test('an import is all or nothing: each bad row is named with its row and column, and no group is left half filled', async () => {
  const ann = await client()
  const rows = [
    { stock_code: 'AAPL', group: 'new' },
    { stock_code: '贵州茅苔', group: 'new', row: 7 },
    { stock_code: ' ' },
    { stock_code: '600519.SZ' },
  ]
  const headers = { 'accept-language': 'en' }
  const refused = await ann.ask(`${PATH}/import`, { method: 'POST', body: { rows }, headers })
  type Refusal = { message: string; detail: { invalid: { row: number; column: string; candidates: object[] }[] } }
  const { message, detail } = await refused.json<Refusal>()
  expect(refused.status).toBe(400)
  expect(message).toMatch(/Row 7, column stock_code: .*Row 3, column stock_code: .*Row 4, column stock_code: /s)
  expect(detail.invalid.map(({ row, column }) => [row, column])).toEqual([
    [7, 'stock_code'],
    [3, 'stock_code'],
    [4, 'stock_code'],
  ])
  expect(detail.invalid[0]?.candidates).toMatchObject([{ stock_code: '600519' }])
  expect(await ann.json(PATH)).toEqual({ watchlists: [] })
  const many = Array.from({ length: 501 }, (_, i) => ({ stock_code: `${600_000 + i}.SH`, group: 'new' }))
  const full = await ann.ask(`${PATH}/import`, { method: 'POST', body: { rows: many } })
  expect([full.status, await ann.json(PATH)]).toEqual([400, { watchlists: [] }])
  const far = Array.from({ length: 1_001 }, () => ({ stock_code: 'AAPL' }))
  expect((await ann.ask(`${PATH}/import`, { method: 'POST', body: { rows: far } })).status).toBe(422)
  const taken = await ann.json(`${PATH}/import`, {
    method: 'POST',
    body: {
      rows: [{ stock_code: '贵州茅苔' }, { stock_code: '600519' }, { stock_code: 'MSFT', group: 'b' }],
      confirm: true,
    },
  })
  expect(taken).toMatchObject({ added: 2, groups: [{ name: 'default' }, { name: 'b', is_new: true }] })
  const twice = { stock_code: 'MSFT', group: 'b' }
  const again = { rows: [{ ...twice, note: 'seen' }, twice] }
  expect(await ann.json(`${PATH}/import`, { method: 'POST', body: again })).toMatchObject({ added: 0 })
  const { watchlists } = await ann.json<{ watchlists: List[] }>(PATH)
  expect(watchlists.map(({ stocks }) => stocks.map(({ stock_code, note }) => [stock_code, note]))).toEqual([
    [['600519', '']],
    [['MSFT', 'seen']],
  ])
  const cells = `code\n${'AAPL\n'.repeat(100_000)}`
  const large = await ann.ask('/api/v1/stocks/parse-import', { method: 'POST', body: { text: cells }, headers })
  expect([large.status, await large.json()]).toMatchObject([400, { error: 'parse_failed', message: /100000 rows/ }])
})

test('imports at once stay within the bounds together: each is stored whole, or refused with the row that finds no room', async () => {
  const ann = await client()
  const ticker = (i: number) => `Q${[i % 26, Math.floor(i / 26)].map((n) => String.fromCharCode(65 + n)).join('')}.US`
  const rows = (from: number, count: number, group = 'full') =>
    Array.from({ length: count }, (_, i) => ({ stock_code: ticker(from + i), group, row: i + 2 }))
  const brought = async (some: object[]) => {
    const reply = await ann.ask(`${PATH}/import`, {
      method: 'POST',
      body: { rows: some },
      headers: { 'accept-language': 'en' },
    })
    return { status: reply.status, ...(await reply.json<{ added?: number; message?: string }>()) }
  }
  expect(await brought(rows(0, 494))).toMatchObject({ status: 200, added: 494 })
  const many = await Promise.all(Array.from({ length: 6 }, (_, i) => brought(rows(500 + 3 * i, 3))))
  expect(many.filter(({ status }) => status === 200).map(({ added }) => added)).toEqual([3, 3])
  for (const { message } of many.filter(({ status }) => status !== 200)) {
    expect(message).toBe('Row 2, column group: the watchlist “full” holds at most 500 stocks')
  }
  const groups = (mark: string) => Array.from({ length: 30 }, (_, i) => ({ stock_code: 'AAPL', group: `${mark}${i}` }))
  const made = await Promise.all(['a', 'b', 'c'].map((mark) => brought(groups(mark))))
  expect(made.map(({ status }) => status).sort()).toEqual([200, 400, 400])
  expect(made.find(({ status }) => status !== 200)?.message).toBe(
    'Row 20, column group: You have 50 watchlists already',
  )
  // The same new group by several imports at once is one group, with what all of them brought.
  const { watchlists } = await ann.json<{ watchlists: List[] }>(PATH)
  expect(watchlists.map(({ stocks }) => stocks.length)).toEqual([500, ...Array.from({ length: 30 }, () => 1)])
  const same = await Promise.all([0, 1, 2, 3].map((i) => brought(rows(i, 1, 'same'))))
  expect(same.map(({ status, added }) => [status, added])).toEqual(Array.from({ length: 4 }, () => [200, 1]))
  const after = await ann.json<{ watchlists: List[] }>(PATH)
  expect(after.watchlists.filter(({ name }) => name === 'same').map(({ stocks }) => stocks.length)).toEqual([4])
})

test('a group is analysed as one batch, once a minute, and an empty one is refused', async () => {
  const ann = await client()
  const body = { name: 'g', stock_codes: ['MSFT', 'NVDA'] }
  const list = await ann.json<List>(PATH, { method: 'POST', body })
  const run = `${PATH}/${list.watchlist_id}/run`
  type RunAnswer = { accepted: { task_id: string; stock_code: string }[] }
  const once = { method: 'POST', body: { report_type: 'brief', notify: false } }
  const [one, two] = [await ann.json<RunAnswer>(run, once), await ann.json<RunAnswer>(run, once)]
  expect(one.accepted.map(({ stock_code }) => stock_code)).toEqual(['MSFT', 'NVDA'])
  // Beyond the minute the second is another batch; its stocks may be open or done.
  if (two.accepted.length > 0) expect(two.accepted.map(({ stock_code }) => stock_code)).toEqual(['MSFT', 'NVDA'])
  const { tasks } = await ann.json<{ tasks: Record<string, unknown>[] }>('/api/v1/analysis/tasks')
  expect(tasks).toContainEqual(expect.objectContaining({ stock_code: 'MSFT', selection_source: 'watchlist' }))
  const empty = await ann.json<List>(PATH, { method: 'POST', body: { name: 'e' } })
  expect((await ann.ask(`${PATH}/${empty.watchlist_id}/run`, { method: 'POST' })).status).toBe(400)
})
