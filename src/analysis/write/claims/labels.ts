// What each fact is called where a reader sees it, in the language of the report. The checker reads each of these names.

import type { ReportLanguage } from '../../schemas.ts'
import { type FactName, UNITS } from './known.ts'

const LABELS: Readonly<Record<FactName, Readonly<Record<ReportLanguage, string>>>> = {
  price: { zh: '收盘价', en: 'close', ko: '종가' },
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
}

export const factLabel = (fact: FactName, language: ReportLanguage): string => LABELS[fact][language]

/** The figure of a fact as reports write it: two decimals, three for what is small, percentages with their sign of percent. */
export function factFigure(fact: FactName, value: number): string {
  const unit = UNITS[fact]
  if (unit === 'shares' || unit === 'money') return String(Math.round(value))
  const isSmall = Math.abs(value) < 10 && unit !== 'percent'
  return `${Number(value.toFixed(isSmall ? 3 : 2))}${unit === 'percent' ? '%' : ''}`
}
