import { expect, test } from 'vitest'
import { packagedNames } from '../../../src/kits/market-names/index.ts'
import { fromBase64 } from '../../../src/lib/crypto.ts'
import { readRows, rowsOf, textOfFile } from '../../../src/market/import-list.ts'

const names = await packagedNames()

/** `kind key` of each row, or `kind` and the candidates. */
function read(text: string): string[] {
  const rows = rowsOf(text)
  if (typeof rows === 'number') throw new Error(`${rows} rows are too many`)
  return readRows(rows, names).map(({ reading: { kind, resolved, candidates } }) => {
    return `${kind} ${resolved?.instrument.key ?? candidates.map(({ key }) => key).join('/')}`.trim()
  })
}

test('each line of a text is a code, a reading, a question or unknown, and each listing stands there once', () => {
  const text =
    '600519.XSHG\n贵州茅台(600519)\n\nBRK/B\n700 HK\n삼성전자\nトヨタ\nApple Inc.\n^GSPC\nmaotai\n６００５１９\n贵州茅苔\n龘龘龘\n'
  expect(read(text)).toEqual([
    'code 600519',
    'code BRK.B',
    'code HK00700',
    'reading 005930.KS',
    'reading 7203.T',
    'reading AAPL',
    'reading SPX',
    'candidates 600519',
    'unknown',
  ])
  expect(read('600519, AAPL;  0700.HK')).toEqual(['code 600519', 'code AAPL', 'code HK00700'])
  expect(read('600519, AAPL')).toEqual(['code 600519', 'code AAPL'])
  expect(read('600519、000858、AAPL')).toEqual(['code 600519', 'code 000858', 'code AAPL'])
})

test('a table is read by its header, or by the code and the name that its rows have', () => {
  expect(read('股票代码,股票名称,持仓\n600519,贵州茅台,100\n="000858",五粮液,"1,200"\n,腾讯控股,5\n')).toEqual([
    'code 600519',
    'code 000858',
    'reading HK00700',
  ])
  expect(read('Name\tSymbol\tPrice\nApple\tAAPL\t190.5\nToyota Motor\t7203.T\t2,500')).toEqual([
    'code AAPL',
    'code 7203.T',
  ])
  expect(read('600519,贵州茅台,1700.50,100\n五粮液,000858,150.2,200')).toEqual(['code 600519', 'code 000858'])
  expect(read('AAPL,Apple\n700 HK,Tencent')).toEqual(['code AAPL', 'code HK00700'])
})

test('codes beside each other are as many stocks, and none of them is lost to a reading of another', () => {
  expect(read('600519 000858 AAPL')).toEqual(['code 600519', 'code 000858', 'code AAPL'])
  expect(read('600519 和 000858\n300750 / 601318')).toEqual([
    'code 600519',
    'code 000858',
    'code 300750',
    'code 601318',
  ])
  expect(read('600519\t000858 0700.HK')).toEqual(['code 600519', 'code 000858', 'code HK00700'])
  // What is no list of codes alone is asked about as a whole.
  for (const prose of ['我的自选：600519 和 000858', '贵州茅台 600519 五粮液 000858', '600519 SH 000858 SZ']) {
    expect(read(prose)).toEqual([expect.stringMatching(/^(?:unknown|candidates)/)])
  }
  // A name may hold a number, and what stands behind it may be a price.
  expect(read('510300 沪深300ETF\n600519 贵州茅台 1650.00 -1.2%')).toEqual(['code 510300', 'reading 600519'])
  expect(read('700 HK')).toEqual(['code HK00700'])
  expect(read('Bank of China')).toHaveLength(1)
})

test('a pasted code with its own name is as sure as the two cells of a table', () => {
  expect(read('600036 招商银行\n贵州茅台(600519)')).toEqual(['code 600036', 'code 600519'])
  expect(read('600519 a name that nobody has')).toEqual(['reading 600519'])
})

test('a sum is like no stock', () => {
  expect(read('code\n=1+1\n1+2\n=SUM(11)')).toEqual([
    'unknown',
    'unknown',
    expect.stringMatching(/^(?:unknown|candidates)/),
  ])
})

test('a name that is not that of the code beside it is asked about, and never passed over', () => {
  expect(read('code,name\n000858,贵州茅台')).toEqual(['candidates 000858/600519'])
  // A spreadsheet dropped the zeros of 002594: what is left is a code of Hong Kong.
  expect(read('代码,名称\n2594,比亚迪')).toEqual(['reading 002594'])
  expect(read('代码,名称\n2330,台积电')).toEqual(['reading 2330.TW'])
  expect(read('code,name\n113050,南银转债')).toEqual(['unknown'])
  expect(read('code,name\n600519,a name that nobody has')).toEqual(['reading 600519'])
})

test('files in UTF-8 and in GBK are texts, pictures and archives are not, and a list has an end', () => {
  expect(textOfFile(new TextEncoder().encode('\uFEFF贵州茅台'))).toBe('贵州茅台')
  expect(textOfFile(fromBase64('ufPW3cOpzKg=') ?? new Uint8Array())).toBe('贵州茅台')
  expect(textOfFile(new Uint8Array([0x50, 0x4b, 3, 4, 20, 0, 8, 0]))).toBeNull()
  expect(textOfFile(new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff, 0xff]))).toBeNull()
  expect(rowsOf(Array.from({ length: 1_001 }, (_, i) => `X${i}`).join('\n'))).toBe(1_001)
  // The header is no row of the list.
  const lines = Array.from({ length: 1_000 }, (_, i) => `${600_000 + i}`)
  expect(rowsOf(['code', ...lines].join('\n'))).toHaveLength(1_000)
  expect(rowsOf(['code', ...lines, '000001'].join('\n'))).toBe(1_001)
  expect(rowsOf('\n \n')).toEqual([])
})

test('what spreadsheets call Unicode text is read', () => {
  const units = [...'代码,名称\n600519,贵州茅台\n'].map((character) => character.charCodeAt(0))
  const little = new Uint8Array([0xff, 0xfe, ...units.flatMap((unit) => [unit & 255, unit >> 8])])
  const big = new Uint8Array([0xfe, 0xff, ...units.flatMap((unit) => [unit >> 8, unit & 255])])
  for (const bytes of [little, big]) expect(read(textOfFile(bytes) ?? '')).toEqual(['code 600519'])
})

test('groups and notes stand in columns of their own, the same stock in two groups twice, and rows keep their numbers', () => {
  const rows = rowsOf('group,code,note\n\nA,AAPL,"say ""hi"", twice"\nB,aapl,\nA,AAPL,again\n')
  if (typeof rows === 'number') throw new Error('too many')
  expect(readRows(rows, names).map(({ group, note, row }) => [group, note, row])).toEqual([
    ['A', 'say "hi", twice', 3],
    ['B', null, 4],
  ])
})

test('a column is known by each of its names in every language, in any case and place, and only by these', () => {
  const columns = {
    code: 'code stock_code symbol ticker 代码 股票代码 证券代码 代碼 證券代碼 종목코드 コード'
      .split(' ')
      .concat('stock code'),
    name: 'name stock_name 名称 股票名称 证券名称 名稱 證券名稱 종목명 銘柄名'.split(' ').concat('stock name'),
    group: 'group watchlist 分组 自选组 그룹 グループ'.split(' '),
    note: 'note notes remark memo 备注 備註 메모 メモ'.split(' '),
  }
  // A header needs a code or a name: the other columns stand beside one.
  const beside = { code: 'name', name: 'symbol', group: 'symbol', note: 'symbol' } as const
  for (const [column, words] of Object.entries(columns)) {
    for (const word of words.flatMap((one) => [one, one.toUpperCase()])) {
      const other = beside[column as keyof typeof beside]
      const known = column === 'name' || other === 'symbol' ? { code: 'AAPL' } : { name: 'AAPL' }
      const row = { ...{ code: null, name: null, group: null, note: null, row: 2 }, ...known, [column]: 'kept' }
      expect([word, rowsOf(`price,${word},${other}\n7,kept,AAPL`)]).toEqual([word, [row]])
    }
  }
  expect(rowsOf('symbol,names\nAAPL,kept')).toEqual([
    { ...{ code: 'AAPL', name: null, group: null, note: null, row: 2 } },
  ])
})
