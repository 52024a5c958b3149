import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  currencyOf,
  displayCode,
  type Instrument,
  parseCode,
  tencentSymbol,
  yahooSymbol,
} from '../../../src/market/instruments.ts'

function instrumentOf(text: string): Instrument {
  const parsed = parseCode(text)
  if (!parsed.ok) throw new Error(`${text} was refused: ${parsed.reason}`)
  return parsed.instrument
}

test('every documented spelling of a code leads to its one key', () => {
  const spellings: Record<string, string[]> = {
    '600519': ['600519', '600519.SH', '600519.SS', 'SH600519', 'SS600519', 'sh.600519', 'SH.600519', ' sh600519 '],
    '000001': ['000001', '000001.SZ', 'sz000001', 'SZ.000001'],
    '920748': ['920748', 'BJ920748', '920748.BJ', 'bj.920748'],
    '900901': ['900901', 'SH900901'],
    HK00700: ['HK00700', 'hk700', 'HK.00700', 'HK.700', '00700', '00700.HK', '0700.HK', '700.hk'],
    HK00005: ['5.HK', 'HK5', '00005'],
    AAPL: ['AAPL', 'aapl', 'AAPL.US', 'aapl.us'],
    'BRK.B': ['BRK.B', 'BRK-B', 'brk-b', 'BRK.B.US', 'BRK-B.US'],
    'BF.B': ['BF.B', 'BF-B'],
    SH000001: ['SH000001', '000001.SH', '000001.SS', 'sh.000001'],
    SH000300: ['000300.SH', 'sh000300'],
    SZ399001: ['399001', '399001.SZ', 'SZ399001'],
    BJ899050: ['899050', 'BJ899050', '899050.BJ'],
    '7203.T': ['7203.T', '7203.t'],
    '13010.T': ['13010.T'],
    '005930.KS': ['005930.KS'],
    '035720.KQ': ['035720.kq'],
    '2330.TW': ['2330.TW'],
    '00878.TW': ['00878.TW'],
    '6488.TWO': ['6488.TWO'],
    SPX: ['SPX', 'GSPC', 'spx.us'],
    DJI: ['DJI', 'DJIA'],
    IXIC: ['IXIC', 'NASDAQ'],
    HSI: ['HSI', 'HSI.HK'],
    HSTECH: ['hstech'],
  }
  for (const [key, texts] of Object.entries(spellings)) {
    expect(texts.map((text) => [text, instrumentOf(text).key])).toEqual(texts.map((text) => [text, key]))
  }
})

test('market, exchange and kind follow from the code', () => {
  const rows: [string, Instrument['market'], Instrument['exchange'], Instrument['kind']][] = [
    ['600519', 'cn', 'SH', 'stock'],
    ['000001', 'cn', 'SZ', 'stock'],
    ['300750', 'cn', 'SZ', 'stock'],
    ['688001', 'cn', 'SH', 'stock'],
    ['430047', 'cn', 'BJ', 'stock'],
    ['832000', 'cn', 'BJ', 'stock'],
    ['920748', 'cn', 'BJ', 'stock'],
    ['900901', 'cn', 'SH', 'stock'],
    ['510300', 'cn', 'SH', 'etf'],
    ['159915', 'cn', 'SZ', 'etf'],
    ['SH000001', 'cn', 'SH', 'index'],
    ['399006', 'cn', 'SZ', 'index'],
    ['00700', 'hk', 'HK', 'stock'],
    ['HSI', 'hk', 'HK', 'index'],
    ['SPX', 'us', 'US', 'index'],
    ['BRK-B', 'us', 'US', 'stock'],
    ['7203.T', 'jp', 'T', 'stock'],
    ['035720.KQ', 'kr', 'KQ', 'stock'],
    ['6488.TWO', 'tw', 'TWO', 'stock'],
  ]
  for (const [text, ...expected] of rows) {
    const { market, exchange, kind } = instrumentOf(text)
    expect([text, market, exchange, kind]).toEqual([text, ...expected])
  }
})

test('what is no code is refused, and an exchange that contradicts the number is named', () => {
  const noCodes = ['', '600', '1234567', 'abc123', 'GOOGLE', '^GSPC', '600519.US', 'SH60051', 'HK', 'HK123456', '00000']
  const refused = noCodes.filter((text) => text !== 'HK')
  for (const text of refused) expect([text, parseCode(text)]).toEqual([text, { ok: false, reason: 'not_code' }])
  expect(instrumentOf('HK').market, 'two letters alone are a US ticker').toBe('us')
  for (const text of ['7203', '0700', '2330']) expect(parseCode(text)).toEqual({ ok: false, reason: 'four_digits' })
  expect(parseCode('600519.SZ')).toEqual({ ok: false, reason: 'wrong_exchange', exchange: 'SZ', belongsTo: 'SH' })
  expect(parseCode('SH300750')).toEqual({ ok: false, reason: 'wrong_exchange', exchange: 'SH', belongsTo: 'SZ' })
  expect(parseCode('600519.BJ')).toEqual({ ok: false, reason: 'wrong_exchange', exchange: 'BJ', belongsTo: 'SH' })
  for (const text of ['113050.SH', '113050', 'sz128034', '019547.SH', '204001.SH', '400010.SZ', '730001.SH'])
    expect([text, parseCode(text)]).toEqual([text, { ok: false, reason: 'no_share' }])
  expect(parseCode('SPX.HK')).toEqual({ ok: false, reason: 'not_code' })
})

const digits = (length: number) =>
  fc.integer({ min: 1, max: 10 ** length - 1 }).map((n) => String(n).padStart(length, '0'))
const anyCase = (text: string) => fc.constantFrom(text, text.toLowerCase(), ` ${text}\t`)

test('all spellings of one listing merge and its display form leads back to it', () => {
  const mainland = digits(6)
    .filter((code) => parseCode(code).ok)
    .chain((code) => {
      const exchange = instrumentOf(code).exchange
      return fc
        .constantFrom(code, exchange + code, `${exchange}.${code}`, `${code}.${exchange}`)
        .map((text) => [code, text])
    })
  const hongKong = digits(5).chain((code) => {
    const short = String(Number(code))
    const forms = [code, `HK${code}`, `HK${short}`, `HK.${code}`, `HK.${short}`, `${code}.HK`, `${short}.HK`]
    return fc.constantFrom(...forms).map((text) => [code, text])
  })
  const letters = fc.string({ unit: fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'), minLength: 1, maxLength: 5 })
  const american = fc.tuple(letters, fc.constantFrom('', 'A', 'B')).chain(([ticker, share]) => {
    const forms = share === '' ? [ticker, `${ticker}.US`] : [`${ticker}.${share}`, `${ticker}-${share}`]
    return fc.constantFrom(...forms).map((text) => [forms[0] ?? '', text])
  })
  const spelled = fc.oneof(mainland, hongKong, american).chain(([first = '', other = '']) => {
    return anyCase(other).map((text) => [first, text])
  })
  fc.assert(
    fc.property(spelled, ([first = '', text = '']) => {
      const instrument = instrumentOf(text)
      expect(instrument).toEqual(instrumentOf(first))
      expect(instrumentOf(displayCode(instrument))).toEqual(instrument)
    }),
    { numRuns: 500 },
  )
})

test('no text makes the parser throw, and whatever it accepts has one stable key', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789.SHZKBJTWUQ-') })), (text) => {
      const parsed = parseCode(text)
      if (parsed.ok) expect(instrumentOf(parsed.instrument.key)).toEqual(parsed.instrument)
    }),
    { numRuns: 1000 },
  )
})

test('each source gets its own symbol, or none where it does not carry the listing', () => {
  const rows: [string, string | null, string | null, string][] = [
    ['600519', 'sh600519', '600519.SS', 'CNY'],
    ['000001', 'sz000001', '000001.SZ', 'CNY'],
    ['920748', 'bj920748', null, 'CNY'],
    ['900901', 'sh900901', '900901.SS', 'USD'],
    ['200596', 'sz200596', '200596.SZ', 'HKD'],
    ['SH000001', 'sh000001', '000001.SS', 'CNY'],
    ['399001', 'sz399001', '399001.SZ', 'CNY'],
    ['HK00700', 'hk00700', '0700.HK', 'HKD'],
    ['80700.HK', 'hk80700', '80700.HK', 'HKD'],
    ['HSI', 'hkHSI', '^HSI', 'HKD'],
    ['AAPL', 'usAAPL', 'AAPL', 'USD'],
    ['BRK.B', 'usBRK.B', 'BRK-B', 'USD'],
    ['SPX', 'usINX', '^GSPC', 'USD'],
    ['VIX', null, '^VIX', 'USD'],
    ['7203.T', null, '7203.T', 'JPY'],
    ['005930.KS', null, '005930.KS', 'KRW'],
    ['6488.TWO', null, '6488.TWO', 'TWD'],
  ]
  for (const [text, ...expected] of rows) {
    const instrument = instrumentOf(text)
    expect([text, tencentSymbol(instrument), yahooSymbol(instrument), currencyOf(instrument)]).toEqual([
      text,
      ...expected,
    ])
  }
})
