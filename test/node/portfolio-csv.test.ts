// Brokers' files, as rows and as trades.

import { expect, test } from 'vitest'
import { formatAmount } from '../../src/lib/decimal.ts'
import { parseCode } from '../../src/market/instruments.ts'
import { tableOf } from '../../src/portfolio/csv-table.ts'
import { dateIn, figureIn, tradesOf } from '../../src/portfolio/csv-trades.ts'
import { type Choice, chosenLayout, headerOf, layoutOf } from '../../src/portfolio/layouts.ts'
import { BROKER_FILES } from '../support/broker-files.ts'

/** Noon of 5 January 2026 in Shanghai. */
const NOW = Date.parse('2026-01-05T04:00:00Z')

async function read(broker: string, text: string, choice: Choice = {}) {
  const known = layoutOf(broker)
  const table = tableOf(text)
  if (known === null || !table.ok) throw new Error('no layout or no table')
  const layout = chosenLayout(known, choice)
  const header = headerOf(table.rows, layout)
  if (!header.ok) throw new Error(`no column for ${header.missing.join()}`)
  const listing = (code: string) => {
    const parsed = parseCode(code)
    return parsed.ok ? parsed.instrument : null
  }
  return tradesOf(table.rows, { header, layout, now: NOW, listing })
}

test('quotes, tabs, line ends, marks of spreadsheets and a byte order mark are read as spreadsheets read them', () => {
  const rows = (text: string) => {
    const table = tableOf(text)
    return table.ok ? table.rows.map(({ row, cells }) => [row, ...cells]) : table
  }
  expect(rows('\uFEFFa,b\r\n"x, y","say ""no"""\r\n\r\n="000001",\'700\r\n')).toEqual([
    [1, 'a', 'b'],
    [2, 'x, y', 'say "no"'],
    [4, '000001', '700'],
  ])
  expect(rows('a;b\n"1\n2";3\n4;5')).toEqual([
    [1, 'a', 'b'],
    [2, '1\n2', '3'],
    [4, '4', '5'],
  ])
  expect(rows('="代码"\t数量\n="600519"\t1,000.5')).toEqual([
    [1, '代码', '数量'],
    [2, '600519', '1,000.5'],
  ])
  expect(rows('a,b\n"1,2\n3,4')).toEqual({ ok: false, openQuote: 2 })
  expect(rows('')).toEqual([])
})

test('days and figures are read in the ways of brokers, and nothing is guessed', () => {
  const days = ['20251202', '2025/12/2', '2025-12-02 09:30:00', '2025年12月2日', '20251202;093001', '2025.12.02']
  expect(days.map((text) => dateIn(text, 'ymd'))).toEqual(days.map(() => '2025-12-02'))
  expect(dateIn('12/02/2025 as of 12/01/2025', 'mdy')).toBe('2025-12-02')
  expect(dateIn('2.12.2025', 'dmy')).toBe('2025-12-02')
  for (const text of ['12/02/2025', '2025-13-01', '2025-02-30', '45993', '=NOW()', '', '2025-12', '25-12-02']) {
    expect([text, dateIn(text, 'ymd')]).toEqual([text, null])
  }
  const figures: [string, string | null][] = [
    ['1,400.05', '1400.05'],
    ['$1,400.05', '1400.05'],
    ['-$0.03', '-0.03'],
    ['(5.00)', '-5'],
    ['１００', '100'],
    ['0.00000001', '0.00000001'],
    ['0.000000001', null],
    ['1,4', null],
    ['1.2.3', null],
    ['=1+1', null],
    ['1e3', null],
    ['--', null],
  ]
  for (const [text, wanted] of figures) {
    const amount = figureIn(text, '.')
    expect([text, amount === null ? null : formatAmount(amount)]).toEqual([text, wanted])
  }
  expect(figureIn('1.400,05', ',')).toBe(140_005_000_000n)
  expect(figureIn('1.400', ',')).toBe(140_000_000_000n)
})

test('a file of each broker gives its trades; what is no trade is told, and a title above the header is passed over', async () => {
  for (const { broker, text, trades, dividends = [], cash = [], skipped } of BROKER_FILES) {
    const told = await read(broker, text)
    expect([broker, told.faults]).toEqual([broker, []])
    const shown = told.trades.map(({ date, time, symbol, currency, side, quantity, price, fee, tax, uid }) => {
      const figures = [quantity, price, fee, tax].map(formatAmount)
      return [date, time, symbol, currency, side, ...figures, uid].join(' ')
    })
    expect([broker, shown]).toEqual([broker, trades])
    const paid = told.dividends.map(({ date, symbol, currency, gross, fee, tax }) => {
      return [date, symbol, currency, ...[gross, fee, tax].map(formatAmount)].join(' ')
    })
    expect([broker, paid]).toEqual([broker, dividends])
    const moved = told.cash.map(
      ({ date, direction, amount, currency }) => `${date} ${direction} ${formatAmount(amount)} ${currency}`,
    )
    expect([broker, moved]).toEqual([broker, cash])
    expect([broker, told.skipped.map(({ row, reason, text: word }) => `${row} ${reason} ${word}`.trim())]).toEqual([
      broker,
      skipped,
    ])
  }
})

test('dividends: charges of the row are added to what came, one row of both is two entries, and nothing is guessed', async () => {
  const header = 'date,symbol,side,quantity,price,amount,fee,tax,trade id'
  const told = (...rows: string[]) => read('generic', [header, ...rows].join('\n'))
  const { trades, dividends, skipped, faults } = await told(
    // A Saturday: money may come on a day without a session.
    '2025-12-06,AAPL,Dividend,,,85,1,14,d1',
    '2025-12-08,AAPL,Dividend,,,-85,,,',
    '2025-12-08,AAPL,Withholding Tax,,,-3.5,,,',
    '2025-12-08,AAPL,DRIP,0.12345678,200.12345678,,0.5,,',
    '2025-12-08,AAPL,Spin-off,3,0,,,,',
    '2025-12-08,AAPL,Dividend,,,,,,',
  )
  expect(faults).toEqual([])
  const figures = dividends.map(({ row, gross, fee, tax }) => [row, ...[gross, fee, tax].map(formatAmount)])
  expect(figures).toEqual([
    [2, '100', '1', '14'],
    [3, '-85', '0', '0'],
    [4, '0', '0', '3.5'],
    // 0.12345678 × 200.12345678 is 24.7065975765279684.
    [5, '25.20659758', '0', '0'],
  ])
  expect(trades.map(({ row, side, fee }) => [row, side, formatAmount(fee)])).toEqual([[5, 'buy', '0.5']])
  expect(skipped.map(({ row, column, reason, text }) => [row, column, reason, text])).toEqual([
    [6, 'side', 'no_trade', 'Spin-off'],
    [7, 'amount', 'blank', ''],
  ])
  expect((await told('2025-12-08,AAPL,Dividend,,,0,,,')).faults).toMatchObject([
    { row: 2, column: 'amount', fault: 'zero' },
  ])
  expect((await told('2027-12-08,AAPL,Dividend,,,5,,,')).faults).toMatchObject([
    { row: 2, column: 'date', fault: 'future' },
  ])
  // Two equal rows are two; the same file again has the same hashes.
  const twice = await told('2025-12-08,AAPL,Dividend,,,5,,,', '2025-12-08,AAPL,Dividend,,,5,,,')
  expect(new Set(twice.dividends.map(({ hash }) => hash)).size).toBe(2)
})

test('money in and out: the word or the sign tells the way, and a file of payments alone hides no trade', async () => {
  const header = 'date,symbol,type,amount,currency'
  const told = (...rows: string[]) => read('generic', [header, ...rows].join('\n'))
  const { cash, dividends, skipped, faults } = await told(
    '2025-12-06,,Deposit,1000,USD',
    '2025-12-06,,Deposit,1000,USD',
    '2025-12-07,,Withdrawal,20.5,EUR',
    '2025-12-07,,Withdrawal,-20.5,EUR',
    '2025-12-07,,银证转账,-3,人民币',
    '2025-12-07,,Withdrawal,5,',
    '2025-12-07,AAPL,Dividend,5,',
  )
  expect(faults).toEqual([])
  expect(cash.map(({ row, direction, amount, currency }) => [row, direction, formatAmount(amount), currency])).toEqual([
    [2, 'in', '1000', 'USD'],
    [3, 'in', '1000', 'USD'],
    [4, 'out', '20.5', 'EUR'],
    [5, 'out', '20.5', 'EUR'],
    [6, 'out', '3', 'CNY'],
  ])
  expect(new Set(cash.map(({ hash }) => hash)).size).toBe(5)
  expect(skipped).toEqual([{ row: 7, column: 'currency', reason: 'blank', text: '' }])
  expect(dividends).toHaveLength(1)
  const bad = await told('2025-12-08,AAPL,Buy,5,USD', '2025-12-08,,Deposit,0,USD', '2026-01-07,,Deposit,1,USD')
  expect(bad.cash).toEqual([])
  expect(bad.faults.map(({ fault, row, column }) => `${fault} ${row} ${column}`)).toEqual([
    'no_column 2 quantity',
    'zero 3 amount',
    'future 4 date',
  ])
})

test('columns that somebody chose are taken; what the file lacks is named', async () => {
  const text = 'Day;What;Isin or code;Count;Each;Cost;Levy\n2.12.2025;Kauf;AAPL;1.000;200,10;1,50;0,25\n'
  const columns = { date: ['Day'], symbol: ['isin or code'], side: ['What'], quantity: ['Count'], price: ['Each'] }
  const choice: Choice = { columns: { ...columns, fee: ['Cost'], tax: ['Levy'] }, buy: ['kauf'], sell: ['verkauf'] }
  const { trades } = await read('generic', text, { ...choice, dateOrder: 'dmy', decimal: ',' })
  expect(trades).toMatchObject([
    { date: '2025-12-02', symbol: 'AAPL', side: 'buy', quantity: 100_000_000_000n, price: 20_010_000_000n },
  ])
  expect(trades).toMatchObject([{ fee: 150_000_000n, tax: 25_000_000n, currency: 'USD' }])
  const layout = layoutOf('huatai')
  const table = tableOf(text)
  if (layout === null || !table.ok) throw new Error('no layout')
  expect(headerOf(table.rows, layout)).toMatchObject({
    ok: false,
    missing: ['date', 'symbol', 'side', 'quantity', 'price'],
    names: ['Day', 'What', 'Isin or code', 'Count', 'Each', 'Cost', 'Levy'],
  })
})

test('every fault names its row and column', async () => {
  const header = '成交日期,证券代码,买卖标志,成交数量,成交均价,手续费,币种'
  const rows: [string, string][] = [
    ['2025-12-02,600519,买入,-100,1400,5,人民币', 'not_positive 2 成交数量'],
    ['2025-12-02,600519,买入,0,1400,5,人民币', 'not_positive 3 成交数量'],
    ['2025-12-02,600519,买入,100,x,5,人民币', 'number 4 成交均价'],
    ['2025-12-02,600519,买入,100,1400,-5,人民币', 'negative 5 手续费'],
    ['2025-12-02,600519,买入,100,1400,5,XYZ', 'currency 6 币种'],
    ['2025-12-06,600519,买入,100,1400,5,人民币', 'closed 7 成交日期'],
    ['2026-01-06,600519,买入,100,1400,5,人民币', 'future 8 成交日期'],
    ['1989-12-29,600519,买入,100,1400,5,人民币', 'early 9 成交日期'],
    ['2025-02-30,600519,买入,100,1400,5,人民币', 'date 10 成交日期'],
    ['2025-12-02,204001,买入,100,1400,5,人民币', 'code 11 证券代码'],
    ['2025-12-02,SH000001,买入,100,1400,5,人民币', 'index 12 证券代码'],
    ['2025-12-02,600519,买入,1000000000001,1400,5,人民币', 'number 13 成交数量'],
    ['2025-12-02,=600519+1,买入,1,1400,5,人民币', 'code 14 证券代码'],
  ]
  const { faults, trades } = await read('huatai', [header, ...rows.map(([row]) => row)].join('\n'))
  expect(trades).toEqual([])
  expect(faults.map(({ fault, row, column }) => `${fault} ${row} ${column}`)).toEqual(rows.map(([, told]) => told))
})

test('the hash of a trade is the same in a longer file, another for each of equal rows, and does not know its row', async () => {
  const header = '成交日期,证券代码,买卖标志,成交数量,成交均价,合同编号'
  const row = '20251202,600519,买入,100,1400,A1'
  const other = '20251203,600519,卖出,50,1401,A2'
  const hashes = async (...lines: string[]) => (await read('citic', [header, ...lines].join('\n'))).trades
  const [first, second] = await hashes(row, row)
  expect(first?.hash).not.toBe(second?.hash)
  // An order number is no number of a trade: both fills of the order count.
  expect(first?.uid).toBe(null)
  const longer = await hashes(other, '', row, row)
  expect(longer.map(({ hash }) => hash).slice(0, 2)).toEqual([first?.hash, second?.hash])
  // A file that begins with the newest: the purchase comes first all the same.
  expect(longer.map(({ side }) => side)).toEqual(['buy', 'buy', 'sell'])
  expect((await hashes(row.replace('600519', 'SH600519')))[0]?.hash).toBe(first?.hash)
})
