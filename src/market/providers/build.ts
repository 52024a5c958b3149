// From configuration to sources: which are built, at which addresses, with which keys. One that needs a key and has none is
// left out, like a name that is not known here.

import type { Clock } from '../../lib/clock.ts'
import type { Fetch } from '../../lib/http-client.ts'
import { alphaVantageProvider } from './alpha-vantage.ts'
import { eastMoneyProvider } from './eastmoney.ts'
import { finnhubProvider } from './finnhub.ts'
import { type GateKeeper, paceOf } from './gate.ts'
import type { MarketDataProvider } from './provider.ts'
import { SAMPLE_PROVIDER, sampleProvider } from './sample.ts'
import { sinaProvider } from './sina.ts'
import { tencentProvider } from './tencent.ts'
import { tushareProvider } from './tushare.ts'
import { yahooProvider } from './yahoo.ts'

export type SourceOptions = {
  /** Names of sources in the order in which they are asked. */
  providers: readonly string[]
  tencentQuoteUrl?: string
  tencentKlineUrl?: string
  yahooUrl?: string
  yahooCookieUrl?: string
  sinaQuoteUrl?: string
  sinaKlineUrl?: string
  eastMoneyQuoteUrl?: string
  eastMoneyHistoryUrl?: string
  eastMoneyDatacenterUrl?: string
  finnhubUrl?: string
  finnhubApiKey?: string | null
  alphaVantageUrl?: string
  alphaVantageApiKey?: string | null
  tushareUrl?: string
  tushareToken?: string | null
  fetch?: Fetch
}

const base = (url: string | undefined, standard: string): string => (url ?? standard).replace(/\/+$/, '')

export function buildProviders(
  options: SourceOptions,
  { clock, gate }: { clock: Clock; gate: GateKeeper },
): MarketDataProvider[] {
  const shared = { clock, ...(options.fetch === undefined ? {} : { fetch: options.fetch }) }
  const makers: Record<string, () => MarketDataProvider | null> = {
    tencent: () => tencentProvider({ ...shared, ...tencentUrls(options) }),
    yahoo: () => yahooProvider({ ...shared, ...yahooUrls(options) }),
    sina: () => sinaProvider({ ...shared, ...sinaUrls(options) }),
    eastmoney: () => eastMoneyProvider({ ...shared, ...eastMoneyUrls(options), pace: paceOf(gate) }),
    finnhub: () => keyed(options.finnhubApiKey, (key) => finnhubProvider({ ...shared, key, url: finnhubUrl(options) })),
    alphavantage: () =>
      keyed(options.alphaVantageApiKey, (key) => {
        return alphaVantageProvider({
          ...shared,
          key,
          url: base(options.alphaVantageUrl, 'https://www.alphavantage.co'),
        })
      }),
    tushare: () =>
      keyed(options.tushareToken, (token) => {
        return tushareProvider({ ...shared, token, url: base(options.tushareUrl, 'https://api.tushare.pro') })
      }),
    [SAMPLE_PROVIDER]: sampleProvider,
  }
  return options.providers.flatMap((name) => (Object.hasOwn(makers, name) ? (makers[name]?.() ?? []) : []))
}

function keyed<T>(key: string | null | undefined, make: (key: string) => T): T | null {
  return key ? make(key) : null
}

const finnhubUrl = ({ finnhubUrl: url }: SourceOptions): string => base(url, 'https://finnhub.io')

const yahooUrls = ({ yahooUrl, yahooCookieUrl }: SourceOptions) => ({
  url: base(yahooUrl, 'https://query1.finance.yahoo.com'),
  cookieUrl: base(yahooCookieUrl, 'https://fc.yahoo.com'),
})

const tencentUrls = ({ tencentQuoteUrl, tencentKlineUrl }: SourceOptions) => ({
  quoteUrl: base(tencentQuoteUrl, 'https://qt.gtimg.cn'),
  klineUrl: base(tencentKlineUrl, 'https://web.ifzq.gtimg.cn'),
})

export const sinaUrls = ({ sinaQuoteUrl, sinaKlineUrl }: SourceOptions) => ({
  quoteUrl: base(sinaQuoteUrl, 'https://hq.sinajs.cn'),
  klineUrl: base(sinaKlineUrl, 'https://quotes.sina.cn'),
})

export const eastMoneyUrls = (options: SourceOptions) => ({
  quoteUrl: base(options.eastMoneyQuoteUrl, 'https://push2.eastmoney.com'),
  historyUrl: base(options.eastMoneyHistoryUrl, 'https://push2his.eastmoney.com'),
  datacenterUrl: base(options.eastMoneyDatacenterUrl, 'https://datacenter-web.eastmoney.com'),
})
