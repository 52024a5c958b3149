// Figures that a model names by a key, `{{rsi_12}}`, and that code inserts as the report prints them: with unit, sign
// and currency, in its language. A key identifies the fact with certainty; the words around it are still checked.

import type { ReportLanguage } from '../../schemas.ts'
import { fixed, keptDecimals, largeNumber, round, signedPct, withUnit } from '../../texts/format.ts'
import { plain } from '../sentences.ts'
import { type FactName, type KnownFacts, moneyOf, SIGNED, UNITS } from './known.ts'

export type KeyedFigure = {
  readonly key: string
  readonly fact: FactName
  readonly value: number
  /** As the report prints it. */
  readonly text: string
  readonly label: string
}

const keyOf = (fact: FactName) =>
  fact
    .replace(/([a-z])(\d)/g, '$1_$2')
    .replace(/([A-Z])/g, '_$1')
    .toLowerCase()

/** Every fact with a value, under its key. */
export function keyedFigures(known: KnownFacts, language: ReportLanguage): KeyedFigure[] {
  return (Object.keys(UNITS) as FactName[]).flatMap((fact) => {
    const value = known.values[fact]
    // An outflow is a negative inflow: only one of both has a key.
    if (value === null || !Number.isFinite(value) || fact.startsWith('outflow')) return []
    return [
      {
        key: keyOf(fact),
        fact,
        value,
        text: factText(fact, value, { known, language }),
        label: factLabel(fact, language),
      },
    ]
  })
}

const SHARES: Readonly<Record<ReportLanguage, string>> = { zh: '股', en: ' shares', ko: '주' }
export const SIGNS: ReadonlySet<string> = new Set(SIGNED)
/** Differences of averages need more digits for a small price. */
const FINE: ReadonlySet<FactName> = new Set(['dif', 'dea', 'histogram'])
const WHOLE = /^score/

type Style = { readonly known: KnownFacts; readonly language: ReportLanguage }

/** The figure of a fact as reports print it. */
export function factText(fact: FactName, value: number, { known, language }: Style): string {
  const unit = UNITS[fact]
  const money = moneyOf(fact, known)
  if (unit === 'price') return withUnit(fixed(value, known.decimals), money, language)
  // Renminbi of a company that is listed elsewhere must not be taken for the listing's currency: it is named in full.
  const full = money === 'CNY' && known.currency !== 'CNY' ? 'renminbi' : money
  if (unit === 'money') return withUnit(largeNumber(value, language), full, language)
  if (unit === 'percent') return SIGNS.has(fact) ? signedPct(value) : `${fixed(value, 2)}%`
  if (unit === 'shares') return largeNumber(value, language) + SHARES[language]
  // A ratio is never rounded up.
  if (unit === 'ratio') return fixed(Math.floor(value * 100 + 1e-9) / 100, 2)
  if (WHOLE.test(fact)) return String(value)
  if (!FINE.has(fact)) return fixed(value, 2)
  return fixed(round(value, keptDecimals(known.decimals)), Math.max(2, known.decimals + 1))
}

/** A sentence in pieces: its own text, and the figures that it names. */
export type Pieces<Figure extends NamedFigure = KeyedFigure> = readonly (string | Figure)[]

type NamedFigure = { readonly key: string; readonly text: string }

const KEY = /[{｛]{2}\s*([^{}｛｝]{0,60}?)\s*[}｝]{2}/g
/** Text that looks like a key but is not one. */
const BROKEN = /[{｛]{2}|[}｝]{2}|[{｛]\s*[a-z]\w*\s*[}｝]/i
/** No readable sentence has this many. */
const MOST_KEYS = 24
/** Marks of the checker; they have no meaning in a text. */
export const MARKS = /[\uE000-\uF8FF]/g

const spelled = (key: string) => key.toLowerCase().replace(/[_\-\s]/g, '')

export const figuresByKey = <Figure extends NamedFigure>(figures: readonly Figure[]): ReadonlyMap<string, Figure> =>
  new Map(figures.map((figure) => [spelled(figure.key), figure]))

/** The sentence in pieces; null when it contains a key that the report does not have. */
export function piecesOf<Figure extends NamedFigure>(
  given: string,
  figures: ReadonlyMap<string, Figure>,
): Pieces<Figure> | null {
  const sentence = given.replace(MARKS, '')
  const pieces: (string | Figure)[] = []
  let from = 0
  for (const match of sentence.matchAll(KEY)) {
    const figure = figures.get(spelled(match[1] ?? ''))
    if (figure === undefined) return null
    const end = match.index + match[0].length
    pieces.push(sentence.slice(from, match.index), figure)
    from = end + unitAfter(sentence.slice(end), figure)
  }
  pieces.push(sentence.slice(from))
  const isBroken = pieces.some((piece) => typeof piece === 'string' && BROKEN.test(piece))
  return isBroken || pieces.length > 2 * MOST_KEYS + 1 ? null : pieces
}

/** How much of the following text repeats the unit of the figure. */
function unitAfter(after: string, { text }: NamedFigure): number {
  const unit = /[^\d.,]+$/.exec(text)?.[0].trim() ?? ''
  const blanks = /^ ?/.exec(after)?.[0].length ?? 0
  return unit !== '' && after.slice(blanks).startsWith(unit) ? blanks + unit.length : 0
}

/** The sentence in its checked form: each figure followed by its mark. */
export const markedText = (pieces: Pieces<NamedFigure>): string => {
  let n = 0
  return pieces
    .map((piece) => (typeof piece === 'string' ? piece : piece.text + String.fromCharCode(0xe000 + n++)))
    .join('')
}

export const figuresOf = <Figure extends NamedFigure>(pieces: Pieces<Figure>): Figure[] =>
  pieces.filter((piece): piece is Figure => typeof piece !== 'string')

/** The position of a named figure in a text with marks. */
export type Placed<Figure extends NamedFigure = KeyedFigure> = {
  readonly at: number
  readonly end: number
  readonly n: number
  readonly figure: Figure
}

export function placedIn<Figure extends NamedFigure>(text: string, figures: readonly Figure[]): Placed<Figure>[] {
  return [...text.matchAll(MARKS)].flatMap(({ index, 0: mark }) => {
    const n = mark.charCodeAt(0) - 0xe000
    const figure = figures[n]
    return figure === undefined ? [] : [{ at: index - plain(figure.text).length, end: index + 1, n, figure }]
  })
}

// The name of each fact for readers, in the report's language. The checker recognises each of these names.

const LABELS: Readonly<Record<FactName, Readonly<Record<ReportLanguage, string>>>> = {
  price: { zh: '最新价', en: 'last price', ko: '현재가' },
  prevClose: { zh: '前收盘价', en: 'previous close', ko: '전일 종가' },
  open: { zh: '开盘价', en: 'open', ko: '시가' },
  high: { zh: '最高价', en: "day's high", ko: '당일 고가' },
  low: { zh: '最低价', en: "day's low", ko: '당일 저가' },
  change: { zh: '涨跌额', en: 'change on the day', ko: '전일 대비 등락액' },
  changePct: { zh: '当日涨跌幅', en: "day's percentage change", ko: '당일 등락률' },
  amplitudePct: { zh: '振幅', en: "day's amplitude", ko: '당일 변동폭' },
  volume: { zh: '成交量', en: 'volume', ko: '거래량' },
  amount: { zh: '成交额', en: 'turnover value', ko: '거래대금' },
  turnoverRatePct: { zh: '换手率', en: 'turnover rate', ko: '회전율' },
  volumeRatio: { zh: '量比', en: 'volume ratio', ko: '거래량 비율' },
  volumeVsPrevious: { zh: '成交量与前一日之比', en: 'volume against the day before', ko: '전일 대비 거래량 배수' },
  marketCap: { zh: '总市值', en: 'market value', ko: '시가총액' },
  ma5: { zh: 'MA5', en: 'MA5', ko: 'MA5' },
  ma10: { zh: 'MA10', en: 'MA10', ko: 'MA10' },
  ma20: { zh: 'MA20', en: 'MA20', ko: 'MA20' },
  ma60: { zh: 'MA60', en: 'MA60', ko: 'MA60' },
  ma120: { zh: 'MA120', en: 'MA120', ko: 'MA120' },
  ma250: { zh: 'MA250', en: 'MA250', ko: 'MA250' },
  bias5: { zh: 'MA5乖离率', en: 'bias to MA5', ko: 'MA5 이격도' },
  bias10: { zh: 'MA10乖离率', en: 'bias to MA10', ko: 'MA10 이격도' },
  bias20: { zh: 'MA20乖离率', en: 'bias to MA20', ko: 'MA20 이격도' },
  rsi6: { zh: 'RSI6', en: 'RSI6', ko: 'RSI6' },
  rsi12: { zh: 'RSI12', en: 'RSI12', ko: 'RSI12' },
  rsi24: { zh: 'RSI24', en: 'RSI24', ko: 'RSI24' },
  k: { zh: 'KDJ的K值', en: 'KDJ K value', ko: 'KDJ의 K값' },
  d: { zh: 'KDJ的D值', en: 'KDJ D value', ko: 'KDJ의 D값' },
  j: { zh: 'KDJ的J值', en: 'KDJ J value', ko: 'KDJ의 J값' },
  dif: { zh: 'MACD的DIF', en: 'MACD DIF', ko: 'MACD의 DIF' },
  dea: { zh: 'MACD的DEA', en: 'MACD DEA', ko: 'MACD의 DEA' },
  histogram: { zh: 'MACD柱', en: 'MACD histogram', ko: 'MACD 히스토그램' },
  bollUpper: { zh: '布林带上轨', en: 'upper Bollinger band', ko: '볼린저 밴드 상단' },
  bollMiddle: { zh: '布林带中轨', en: 'middle Bollinger band', ko: '볼린저 밴드 중심선' },
  bollLower: { zh: '布林带下轨', en: 'lower Bollinger band', ko: '볼린저 밴드 하단' },
  atr: { zh: 'ATR14', en: 'ATR14', ko: 'ATR14' },
  high52: { zh: '52周最高价', en: '52-week high', ko: '52주 최고가' },
  low52: { zh: '52周最低价', en: '52-week low', ko: '52주 최저가' },
  position52Pct: { zh: '52周区间位置', en: 'position in the 52-week range', ko: '52주 범위 내 위치' },
  belowHigh52Pct: { zh: '距52周高点的回落', en: 'distance below the 52-week high', ko: '52주 고점 대비 하락률' },
  aboveLow52Pct: { zh: '较52周低点的涨幅', en: 'gain from the 52-week low', ko: '52주 저점 대비 상승률' },
  change5Pct: { zh: '5日涨跌幅', en: '5-day return', ko: '5일 등락률' },
  change20Pct: { zh: '20日涨跌幅', en: '20-day return', ko: '20일 등락률' },
  change60Pct: { zh: '60日涨跌幅', en: '60-day return', ko: '60일 등락률' },
  change250Pct: { zh: '250日涨跌幅', en: '250-day return', ko: '250일 등락률' },
  volatility60Pct: { zh: '60日年化波动率', en: '60-day annualised volatility', ko: '60일 연환산 변동성' },
  drawdown250Pct: { zh: '250日最大回撤', en: '250-day maximum drawdown', ko: '250일 최대 낙폭' },
  turnover20: { zh: '20日平均成交额', en: '20-day average turnover', ko: '20일 평균 거래대금' },
  pe: { zh: '市盈率', en: 'P/E ratio', ko: '주가수익비율' },
  pb: { zh: '市净率', en: 'P/B ratio', ko: '주가순자산비율' },
  eps: { zh: '每股收益', en: 'earnings per share', ko: '주당순이익' },
  roePct: { zh: '净资产收益率', en: 'return on equity', ko: '자기자본이익률' },
  debtRatioPct: { zh: '资产负债率', en: 'debt ratio', ko: '부채비율' },
  revenueGrowthPct: { zh: '营收同比增速', en: 'revenue growth', ko: '매출 증가율' },
  profitGrowthPct: { zh: '净利润同比增速', en: 'net profit growth', ko: '순이익 증가율' },
  dividendYieldPct: { zh: '股息率', en: 'dividend yield', ko: '배당수익률' },
  score: { zh: '综合评分', en: 'overall score', ko: '종합 점수' },
  support: { zh: '支撑位', en: 'support level', ko: '지지선' },
  resistance: { zh: '压力位', en: 'resistance level', ko: '저항선' },
  stop: { zh: '止损位', en: 'stop', ko: '손절가' },
  idealBuy: { zh: '理想买点', en: 'ideal entry', ko: '이상적 매수가' },
  secondaryBuy: { zh: '次优买点', en: 'second entry', ko: '차선 매수가' },
  target1: { zh: '第一目标价', en: 'first target', ko: '1차 목표가' },
  target2: { zh: '第二目标价', en: 'second target', ko: '2차 목표가' },
  rewardRisk: { zh: '盈亏比', en: 'reward/risk', ko: '손익비' },
  scoreTrend: { zh: '趋势部分得分', en: 'trend part of the score', ko: '추세 항목 점수' },
  scoreBias: { zh: '乖离率部分得分', en: 'bias part of the score', ko: '이격도 항목 점수' },
  scoreVolume: { zh: '量能部分得分', en: 'volume part of the score', ko: '거래량 항목 점수' },
  scoreSupport: { zh: '均线支撑部分得分', en: 'support part of the score', ko: '지지 항목 점수' },
  scoreMacd: { zh: 'MACD部分得分', en: 'MACD part of the score', ko: 'MACD 항목 점수' },
  scoreRsi: { zh: 'RSI部分得分', en: 'RSI part of the score', ko: 'RSI 항목 점수' },
  chipProfitPct: { zh: '获利比例', en: 'share of holdings in profit', ko: '수익 물량 비율' },
  chipCost: { zh: '筹码平均成本', en: 'average cost of holdings', ko: '평균 매입 원가' },
  chipLow90: { zh: '九成筹码区间下沿', en: 'low end of 90 % of holdings', ko: '매물 90% 구간 하단' },
  chipHigh90: { zh: '九成筹码区间上沿', en: 'high end of 90 % of holdings', ko: '매물 90% 구간 상단' },
  chipConcentration90Pct: { zh: '九成筹码集中度', en: 'concentration of 90 % of holdings', ko: '매물 90% 집중도' },
  revenue: { zh: '营业收入', en: 'revenue', ko: '매출' },
  netProfit: { zh: '净利润', en: 'net profit', ko: '순이익' },
  operatingCashFlow: { zh: '经营现金流', en: 'operating cash flow', ko: '영업현금흐름' },
  grossMarginPct: { zh: '毛利率', en: 'gross margin', ko: '매출총이익률' },
  flowToday: { zh: '当日主力资金净流入', en: "day's net inflow of main money", ko: '당일 주력 자금 순유입' },
  flow5: { zh: '5日主力资金净流入', en: '5-day net inflow of main money', ko: '5일 주력 자금 순유입' },
  flow10: { zh: '10日主力资金净流入', en: '10-day net inflow of main money', ko: '10일 주력 자금 순유입' },
  outflowToday: { zh: '当日主力资金净流出', en: "day's net outflow of main money", ko: '당일 주력 자금 순유출' },
  outflow5: { zh: '5日主力资金净流出', en: '5-day net outflow of main money', ko: '5일 주력 자금 순유출' },
  outflow10: { zh: '10日主力资金净流出', en: '10-day net outflow of main money', ko: '10일 주력 자금 순유출' },
}

export const factLabel = (fact: FactName, language: ReportLanguage): string => LABELS[fact][language]
