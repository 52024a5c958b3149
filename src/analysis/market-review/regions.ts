// The possible markets of a review, with the available data of each: the contract's table, and Taiwan.

import type { Market } from '../../market/instruments.ts'
import type { ReportLanguage } from '../schemas.ts'

export const REGIONS = ['cn', 'hk', 'us', 'jp', 'kr', 'tw'] as const satisfies readonly Market[]
export type Region = (typeof REGIONS)[number]

/** The regions for the word `both`. */
const BOTH: readonly Region[] = ['cn', 'hk', 'us', 'jp', 'kr']

export type IndexSpec = {
  /** As in the payload. */
  code: string
  /** The instrument's key. */
  key: string
  zh: string
  en: string
  ko: string
}

export type RegionSpec = {
  indices: readonly IndexSpec[]
  hasBreadth: boolean
  hasSectors: boolean
  hasLight: boolean
  /** The unit of turnover, and its size in the currency. */
  turnover: { unit: Record<ReportLanguage, string>; size: number }
  scope: Record<ReportLanguage, string>
  /** Indices of other markets that are open while this one is closed. */
  overnight: readonly IndexSpec[]
}

const index = (code: string, key: string, zh: string, en: string, ko = en): IndexSpec => ({ code, key, zh, en, ko })

const SPX = index('SPX', 'SPX', '标普500', 'S&P 500')
const IXIC = index('IXIC', 'IXIC', '纳斯达克', 'Nasdaq Composite', '나스닥')
const DJI = index('DJI', 'DJI', '道琼斯', 'Dow Jones', '다우존스')
const VIX = index('VIX', 'VIX', 'VIX恐慌指数', 'VIX')
const HSI = index('HSI', 'HSI', '恒生指数', 'Hang Seng Index', '항셍지수')
const N225 = index('N225', 'N225', '日经225', 'Nikkei 225', '닛케이225')
const SSE = index('sh000001', 'SH000001', '上证指数', 'SSE Composite', '상하이종합')

const billions = (zh: string, en: string): RegionSpec['turnover'] => ({
  unit: { zh: `十亿${zh}`, en: `${en} bn`, ko: `십억 ${en}` },
  size: 1e9,
})

const NOTHING_MORE = { hasBreadth: false, hasSectors: false, hasLight: false }

export const REGION_SPECS: Record<Region, RegionSpec> = {
  cn: {
    indices: [
      SSE,
      index('sz399001', 'SZ399001', '深证成指', 'SZSE Component', '선전성분'),
      index('sz399006', 'SZ399006', '创业板指', 'ChiNext', '차이넥스트'),
      index('sh000688', 'SH000688', '科创50', 'STAR 50', '커촹50'),
      index('sh000016', 'SH000016', '上证50', 'SSE 50', '상하이50'),
      index('sh000300', 'SH000300', '沪深300', 'CSI 300'),
    ],
    ...{ hasBreadth: true, hasSectors: true, hasLight: true },
    turnover: { unit: { zh: '亿元', en: 'CNY 100m', ko: '억 위안' }, size: 1e8 },
    scope: { zh: 'A股市场', en: 'China A-shares', ko: '중국 A주' },
    overnight: [SPX, IXIC, DJI, VIX, HSI],
  },
  hk: {
    indices: [
      HSI,
      index('HSTECH', 'HSTECH', '恒生科技', 'Hang Seng TECH', '항셍테크'),
      index('HSCEI', 'HSCEI', '国企指数', 'HSCEI'),
    ],
    ...NOTHING_MORE,
    hasLight: true,
    turnover: billions('港元', 'HKD'),
    scope: { zh: '港股市场', en: 'Hong Kong stocks', ko: '홍콩 증시' },
    overnight: [SPX, IXIC, SSE],
  },
  us: {
    indices: [SPX, IXIC, DJI, VIX],
    ...NOTHING_MORE,
    hasLight: true,
    turnover: billions('美元', 'USD'),
    scope: { zh: '美股市场', en: 'US stocks', ko: '미국 증시' },
    overnight: [N225, HSI, SSE],
  },
  jp: {
    indices: [N225, index('TOPX', 'TOPX', '东证指数', 'TOPIX', '토픽스')],
    ...NOTHING_MORE,
    turnover: billions('日元', 'JPY'),
    scope: { zh: '日股市场', en: 'Japanese stocks', ko: '일본 증시' },
    overnight: [SPX, IXIC, VIX],
  },
  kr: {
    indices: [
      index('KS11', 'KS11', '韩国综合指数', 'KOSPI', '코스피'),
      index('KQ11', 'KQ11', '韩国科斯达克', 'KOSDAQ', '코스닥'),
    ],
    ...NOTHING_MORE,
    turnover: billions('韩元', 'KRW'),
    scope: { zh: '韩股市场', en: 'Korean stocks', ko: '한국 증시' },
    overnight: [SPX, IXIC, VIX],
  },
  tw: {
    indices: [
      index('TWII', 'TWII', '台湾加权指数', 'TAIEX', '대만 가권'),
      index('TWOII', 'TWOII', '台湾柜买指数', 'TPEx', '대만 타이베이거래소'),
    ],
    ...NOTHING_MORE,
    turnover: billions('新台币', 'TWD'),
    scope: { zh: '台股市场', en: 'Taiwanese stocks', ko: '대만 증시' },
    overnight: [SPX, IXIC, VIX],
  },
}

const isRegion = (word: string): word is Region => (REGIONS as readonly string[]).includes(word)
const inOrder = (wanted: ReadonlySet<Region>): Region[] => REGIONS.filter((region) => wanted.has(region))

/** The regions in a request, in their order without duplicates; null when the text is invalid. */
export function strictRegions(text: string): Region[] | null {
  const words = text
    .trim()
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())
  if (words.length === 1 && words[0] === 'both') return [...BOTH]
  const regions = words.filter(isRegion)
  return regions.length === words.length ? inOrder(new Set(regions)) : null
}

/** The regions of the configuration: unknown words are ignored, and an empty result means the mainland. */
export function lenientRegions(text: string): Region[] {
  const words = text.toLowerCase().split(',')
  const named = words.flatMap((word): readonly Region[] => {
    const trimmed = word.trim()
    if (trimmed === 'both') return BOTH
    return isRegion(trimmed) ? [trimmed] : []
  })
  return named.length === 0 ? ['cn'] : inOrder(new Set(named))
}
