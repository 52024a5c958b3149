// Parses codes: one listing has one key, however it is written. Everything here depends only on the text; inputs that
// need the list of listings (four bare digits, names, initials) are in `resolve.ts`.

export type Market = 'cn' | 'hk' | 'us' | 'jp' | 'kr' | 'tw'

/** One listing, independent of its spelling. */
export type Instrument = {
  /** The normalised form, equal for all spellings: `600519`, `HK00700`, `AAPL`, `7203.T`, `SH000001` (an index). */
  key: string
  market: Market
  exchange: 'SH' | 'SZ' | 'BJ' | 'HK' | 'US' | 'T' | 'KS' | 'KQ' | 'TW' | 'TWO'
  kind: 'stock' | 'etf' | 'index'
  /** The bare code without exchange: `600519`, `00700`, `AAPL`, `BRK.B`. */
  code: string
}

export type CodeRejection =
  /** The text is not a code: it may be a name. */
  | { ok: false; reason: 'not_code' }
  /** A code whose exchange contradicts its number, such as `600519.SZ`. */
  | { ok: false; reason: 'wrong_exchange'; exchange: string; belongsTo: string }
  /** Six digits of no mainland stock, fund or index: those of a bond, a repurchase or a subscription. */
  | { ok: false; reason: 'no_share' }
  /** Four bare digits: Tokyo, Hong Kong and Taipei all use them. */
  | { ok: false; reason: 'four_digits' }

export type ParsedCode = { ok: true; instrument: Instrument } | CodeRejection

type Exchange = Instrument['exchange']
type MainlandExchange = 'SH' | 'SZ' | 'BJ'

const NOT_CODE: CodeRejection = { ok: false, reason: 'not_code' }
const NO_SHARE: CodeRejection = { ok: false, reason: 'no_share' }

/** The instrument of the text, ignoring case and surrounding blanks. */
export function parseCode(text: string): ParsedCode {
  const code = ownSpelling(text.trim().toUpperCase())
  return parseNumber(code) ?? parseAsianSuffix(code) ?? parseIndexName(code) ?? parseUsTicker(code) ?? NOT_CODE
}

/** The form in reports; parsing it returns the same instrument. */
export function displayCode(instrument: Instrument): string {
  return instrument.key
}

/** The currency of the prices. Mainland B shares trade in foreign currency. */
export function currencyOf({ market, exchange, code }: Instrument): string {
  if (exchange === 'SH' && code.startsWith('900')) return 'USD'
  if (exchange === 'SZ' && code.startsWith('200')) return 'HKD'
  return { cn: 'CNY', hk: 'HKD', us: 'USD', jp: 'JPY', kr: 'KRW', tw: 'TWD' }[market]
}

/** The spellings of exchanges in other systems: market identifier codes (ISO 10383), and codes after a blank. */
const EXCHANGE_SPELLINGS: Readonly<Record<string, string>> = {
  XSHG: 'SH',
  XSHE: 'SZ',
  XBSE: 'BJ',
  XHKG: 'HK',
  XTKS: 'T',
  XKRX: 'KS',
  XKOS: 'KQ',
  XTAI: 'TW',
  ROCO: 'TWO',
  XNAS: 'US',
  XNYS: 'US',
}
const BEHIND_BLANK: Readonly<Record<string, string>> = {
  HK: 'HK',
  US: 'US',
  JP: 'T',
  JT: 'T',
  KS: 'KS',
  KQ: 'KQ',
  TT: 'TW',
}

/** `600519.XSHG`, `700 HK`, `BRK/B`, `600519 CH` in this service's spelling; any other text unchanged. */
function ownSpelling(code: string): string {
  const identified = /^([A-Z0-9]+)\.(X[A-Z]{3}|ROCO)$/.exec(code)
  const exchange = EXCHANGE_SPELLINGS[identified?.[2] ?? '']
  if (exchange !== undefined) return `${identified?.[1]}.${exchange}`
  const spaced = /^([A-Z0-9]+(?:[./-][A-Z])?) ([A-Z]{2})$/.exec(code)
  if (spaced?.[2] === 'CH' && /^\d{6}$/.test(spaced[1] ?? '')) return spaced[1] ?? code
  const place = BEHIND_BLANK[spaced?.[2] ?? '']
  const isKnown = place !== undefined && (place === 'US' || /\d/.test(spaced?.[1] ?? ''))
  const joined = isKnown ? `${spaced?.[1]}.${place}` : code
  return joined.replace(/^([A-Z]{1,5})\/([A-Z])(?=$|\.US$)/, '$1.$2')
}

// --- Mainland China and Hong Kong: a number, perhaps with its exchange before or after it

const PREFIXED = /^(SH|SZ|SS|BJ)\.?(\d{6})$/
const SUFFIXED = /^(\d{6})\.(SH|SZ|SS|BJ)$/
const HK_PREFIXED = /^HK\.?(\d{1,5})$/
const HK_SUFFIXED = /^(\d{1,5})\.HK$/

function parseNumber(code: string): ParsedCode | null {
  if (/^\d{6}$/.test(code)) {
    const exchange = inferredExchange(code)
    return exchange === null ? NO_SHARE : found(mainland(code, exchange))
  }
  if (/^\d{5}$/.test(code)) return hongKong(code)
  if (/^\d{4}$/.test(code)) return { ok: false, reason: 'four_digits' }
  const prefixed = PREFIXED.exec(code)
  if (prefixed) return namedExchange(prefixed[2] ?? '', prefixed[1] ?? '')
  const suffixed = SUFFIXED.exec(code)
  if (suffixed) return namedExchange(suffixed[1] ?? '', suffixed[2] ?? '')
  const hk = HK_PREFIXED.exec(code) ?? HK_SUFFIXED.exec(code)
  return hk ? hongKong(hk[1] ?? '') : null
}

/** The exchange of a bare number by the numbering of the three exchanges; null when it is not a share, fund or index. */
function inferredExchange(code: string): MainlandExchange | null {
  if (/^(92|43|81|82|83|87|88|899)/.test(code)) return 'BJ'
  if (/^[569]/.test(code)) return 'SH'
  return /^(00|20[01]|30|39|15|16|18)/.test(code) ? 'SZ' : null
}

/** A named exchange decides, so `000001.SH` is the Shanghai Composite while a bare `000001` is a bank in Shenzhen. */
function namedExchange(code: string, name: string): ParsedCode {
  const exchange = name === 'SS' ? 'SH' : (name as MainlandExchange)
  const belongsTo = inferredExchange(code)
  if (exchange === belongsTo || isIndexNumber(code, exchange)) return found(mainland(code, exchange))
  if (belongsTo === null) return NO_SHARE
  return { ok: false, reason: 'wrong_exchange', exchange, belongsTo }
}

function isIndexNumber(code: string, exchange: MainlandExchange): boolean {
  const prefix = { SH: '000', SZ: '399', BJ: '899' }[exchange]
  return code.startsWith(prefix)
}

function mainland(code: string, exchange: MainlandExchange): Instrument {
  if (isIndexNumber(code, exchange)) return { key: exchange + code, market: 'cn', exchange, kind: 'index', code }
  const isFund = /^(51|52|56|58)/.test(code) || (exchange === 'SZ' && /^(15|16|18)/.test(code))
  return { key: code, market: 'cn', exchange, kind: isFund ? 'etf' : 'stock', code }
}

function hongKong(digits: string): ParsedCode {
  const code = digits.padStart(5, '0')
  if (code === '00000') return NOT_CODE
  return found({ key: `HK${code}`, market: 'hk', exchange: 'HK', kind: 'stock', code })
}

// --- Tokyo, Seoul, Taipei: reachable by suffix alone

const ASIAN_SUFFIXES: { pattern: RegExp; market: Market }[] = [
  // Since 2024 Tokyo's codes have letters as well (`285A`), and Seoul's since 2026 (`0126Z0`).
  { pattern: /^(\d{4,5}|\d[0-9A-Z]\d[0-9A-Z])\.(T)$/, market: 'jp' },
  { pattern: /^(\d{6}|\d{4}[0-9A-Z]\d)\.(KS|KQ)$/, market: 'kr' },
  { pattern: /^(\d{4,6})\.(TW|TWO)$/, market: 'tw' },
]

function parseAsianSuffix(key: string): ParsedCode | null {
  for (const { pattern, market } of ASIAN_SUFFIXES) {
    const match = pattern.exec(key)
    if (match) return found({ key, market, exchange: match[2] as Exchange, kind: 'stock', code: match[1] ?? '' })
  }
  return null
}

// --- United States, and the indices that go by letters

type NamedIndex = { key: string; market: Market; spellings: string[]; tencent: string | null; yahoo: string }

/** The exchange that represents a market for an index without an exchange of its own. */
const MAIN_EXCHANGE = { cn: 'SH', hk: 'HK', us: 'US', jp: 'T', kr: 'KS', tw: 'TW' } as const

const NAMED_INDICES: NamedIndex[] = [
  { key: 'SPX', market: 'us', spellings: ['GSPC'], tencent: 'usINX', yahoo: '^GSPC' },
  { key: 'DJI', market: 'us', spellings: ['DJIA'], tencent: 'usDJI', yahoo: '^DJI' },
  { key: 'IXIC', market: 'us', spellings: ['NASDAQ'], tencent: 'usIXIC', yahoo: '^IXIC' },
  { key: 'NDX', market: 'us', spellings: [], tencent: null, yahoo: '^NDX' },
  { key: 'VIX', market: 'us', spellings: [], tencent: null, yahoo: '^VIX' },
  { key: 'RUT', market: 'us', spellings: [], tencent: null, yahoo: '^RUT' },
  { key: 'HSI', market: 'hk', spellings: [], tencent: 'hkHSI', yahoo: '^HSI' },
  { key: 'HSTECH', market: 'hk', spellings: [], tencent: 'hkHSTECH', yahoo: 'HSTECH.HK' },
  { key: 'HSCEI', market: 'hk', spellings: [], tencent: 'hkHSCEI', yahoo: '^HSCE' },
  { key: 'N225', market: 'jp', spellings: [], tencent: null, yahoo: '^N225' },
  { key: 'TOPX', market: 'jp', spellings: ['TOPIX'], tencent: null, yahoo: '^TOPX' },
  { key: 'KS11', market: 'kr', spellings: ['KOSPI'], tencent: null, yahoo: '^KS11' },
  { key: 'KQ11', market: 'kr', spellings: ['KOSDAQ'], tencent: null, yahoo: '^KQ11' },
  { key: 'TWII', market: 'tw', spellings: ['TAIEX'], tencent: null, yahoo: '^TWII' },
  { key: 'TWOII', market: 'tw', spellings: [], tencent: null, yahoo: '^TWOII' },
]

const US_TICKER = /^([A-Z]{1,5})(?:[.-]([A-Z]))?(?:\.US)?$/

function parseIndexName(code: string): ParsedCode | null {
  const bare = code.replace(/\.(US|HK|T|KS|KQ|TW|TWO)$/, '')
  const index = NAMED_INDICES.find(({ key, spellings }) => key === bare || spellings.includes(bare))
  if (!index) return null
  const exchange = MAIN_EXCHANGE[index.market]
  if (code !== bare && code !== `${bare}.${exchange}`) return null
  return found({ key: index.key, market: index.market, exchange, kind: 'index', code: index.key })
}

function parseUsTicker(code: string): ParsedCode | null {
  const match = US_TICKER.exec(code)
  if (!match) return null
  const key = match[2] === undefined ? (match[1] ?? '') : `${match[1]}.${match[2]}`
  return found({ key, market: 'us', exchange: 'US', kind: 'stock', code: key })
}

// --- What the sources call it

/** The symbol in Tencent's quote list; null for markets and indices that it does not have. */
export function tencentSymbol(instrument: Instrument): string | null {
  if (instrument.market === 'cn') return instrument.exchange.toLowerCase() + instrument.code
  const index = namedIndex(instrument)
  if (index) return index.tencent
  if (instrument.market === 'hk') return `hk${instrument.code}`
  return instrument.market === 'us' ? `us${instrument.code}` : null
}

/** Yahoo's symbol; null for Beijing, which it does not have. */
export function yahooSymbol(instrument: Instrument): string | null {
  const index = namedIndex(instrument)
  if (index) return index.yahoo
  const { market, exchange, code } = instrument
  if (market === 'us') return code.replace('.', '-')
  // Four digits at least: Hong Kong's fifth is written only when it is not zero.
  if (market === 'hk') return `${code.replace(/^0/, '')}.HK`
  if (market !== 'cn') return `${code}.${exchange}`
  if (exchange === 'BJ') return null
  return `${code}.${exchange === 'SH' ? 'SS' : 'SZ'}`
}

function namedIndex(instrument: Instrument): NamedIndex | undefined {
  if (instrument.kind !== 'index') return undefined
  return NAMED_INDICES.find(({ key }) => key === instrument.key)
}

const found = (instrument: Instrument): ParsedCode => ({ ok: true, instrument })
