// The registry of market data providers, in the default order of MARKET_DATA.

import type { Clock } from '../../lib/clock.ts'
import type { Fetch } from '../../lib/http-client.ts'
import {
  baseUrl,
  type LazyUnit,
  type LazyUnitSpec,
  lazyUnit,
  providerKey,
  type RawVariables,
  readVariables,
  type Variables,
} from '../../lib/variables.ts'
import type { Pace } from './gate.ts'
import type { MarketDataProvider } from './provider.ts'

export type ProviderDeps = { clock: Clock; pace: Pace; fetch?: Fetch }

type Provider<Table extends Variables> = LazyUnit<ProviderDeps, MarketDataProvider> & {
  readonly variables: Table
  /** False for figures that are bundled with the program: they are used only if MARKET_DATA names them. */
  readonly isLive: boolean
}

function provider<Table extends Variables, Module>({
  isLive,
  ...spec
}: LazyUnitSpec<Table, Module, ProviderDeps, MarketDataProvider> & { isLive: boolean }): Provider<Table> {
  return { isLive, ...lazyUnit(spec) }
}

const SINA = {
  SINA_QUOTE_URL: baseUrl('https://hq.sinajs.cn'),
  SINA_KLINE_URL: baseUrl('https://quotes.sina.cn'),
} as const

const EASTMONEY = {
  EASTMONEY_QUOTE_URL: baseUrl('https://push2.eastmoney.com'),
  EASTMONEY_HISTORY_URL: baseUrl('https://push2his.eastmoney.com'),
  EASTMONEY_DATACENTER_URL: baseUrl('https://datacenter-web.eastmoney.com'),
} as const

export const MARKET_PROVIDERS = {
  tencent: provider({
    isLive: true,
    variables: {
      TENCENT_QUOTE_URL: baseUrl('https://qt.gtimg.cn'),
      TENCENT_KLINE_URL: baseUrl('https://web.ifzq.gtimg.cn'),
    },
    load: () => import('./tencent.ts'),
    make: ({ tencentProvider }, { TENCENT_QUOTE_URL: quoteUrl, TENCENT_KLINE_URL: klineUrl }, deps) =>
      tencentProvider({ ...deps, quoteUrl, klineUrl }),
  }),
  yahoo: provider({
    isLive: true,
    variables: {
      YAHOO_URL: baseUrl('https://query1.finance.yahoo.com'),
      YAHOO_COOKIE_URL: baseUrl('https://fc.yahoo.com'),
    },
    load: () => import('./yahoo.ts'),
    make: ({ yahooProvider }, { YAHOO_URL: url, YAHOO_COOKIE_URL: cookieUrl }, deps) =>
      yahooProvider({ ...deps, url, cookieUrl }),
  }),
  eastmoney: provider({
    isLive: true,
    variables: EASTMONEY,
    load: () => import('./eastmoney.ts'),
    make: ({ eastMoneyProvider }, values, deps) => eastMoneyProvider({ ...deps, ...eastMoneyUrls(values) }),
  }),
  sina: provider({
    isLive: true,
    variables: SINA,
    load: () => import('./sina.ts'),
    make: ({ sinaProvider }, values, deps) => sinaProvider({ ...deps, ...sinaUrls(values) }),
  }),
  tushare: provider({
    isLive: true,
    variables: { TUSHARE_URL: baseUrl('https://api.tushare.pro'), TUSHARE_TOKEN: providerKey() },
    load: () => import('./tushare.ts'),
    make: ({ tushareProvider }, { TUSHARE_URL: url, TUSHARE_TOKEN: token }, deps) =>
      token === undefined ? null : tushareProvider({ ...deps, url, token }),
  }),
  finnhub: provider({
    isLive: true,
    variables: { FINNHUB_URL: baseUrl('https://finnhub.io'), FINNHUB_API_KEY: providerKey() },
    load: () => import('./finnhub.ts'),
    make: ({ finnhubProvider }, { FINNHUB_URL: url, FINNHUB_API_KEY: key }, deps) =>
      key === undefined ? null : finnhubProvider({ ...deps, url, key }),
  }),
  alphavantage: provider({
    isLive: true,
    variables: { ALPHAVANTAGE_URL: baseUrl('https://www.alphavantage.co'), ALPHAVANTAGE_API_KEY: providerKey() },
    load: () => import('./alpha-vantage.ts'),
    make: ({ alphaVantageProvider }, { ALPHAVANTAGE_URL: url, ALPHAVANTAGE_API_KEY: key }, deps) =>
      key === undefined ? null : alphaVantageProvider({ ...deps, url, key }),
  }),
  sample: provider({
    isLive: false,
    variables: {},
    load: () => import('./sample.ts'),
    make: ({ sampleProvider }, _, { clock }) => sampleProvider(clock),
  }),
} as const

export type MarketSource = keyof typeof MARKET_PROVIDERS

export const MARKET_SOURCES = Object.keys(MARKET_PROVIDERS) as MarketSource[]

/** Sina's addresses, for data other than the prices of one instrument. */
export function sinaUrls(raw: RawVariables) {
  const { SINA_QUOTE_URL: quoteUrl, SINA_KLINE_URL: klineUrl } = readVariables(SINA, raw)
  return { quoteUrl, klineUrl }
}

/** The same for EastMoney. */
export function eastMoneyUrls(raw: RawVariables) {
  const { EASTMONEY_QUOTE_URL: quoteUrl, EASTMONEY_HISTORY_URL: historyUrl, ...rest } = readVariables(EASTMONEY, raw)
  return { quoteUrl, historyUrl, datacenterUrl: rest.EASTMONEY_DATACENTER_URL }
}

/** The addresses of name lists that do not come from a provider of prices. */
export const NAME_LIST_VARIABLES = {
  NASDAQ_TRADER_URL: baseUrl('https://www.nasdaqtrader.com'),
  MOPS_URL: baseUrl('https://mopsfin.twse.com.tw'),
  KIND_URL: baseUrl('https://kind.krx.co.kr'),
} as const

export function nameListUrls(raw: RawVariables) {
  const { NASDAQ_TRADER_URL: nasdaq, MOPS_URL: mops, KIND_URL: kind } = readVariables(NAME_LIST_VARIABLES, raw)
  return { nasdaq, mops, kind }
}
