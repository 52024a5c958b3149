// Texts of a calendar for users, in the caller's language.

import type { ReportLanguage } from '../../analysis/schemas.ts'
import type { IcsEvent } from '../../lib/ics.ts'
import type { ListingEvents } from '../../market/company-calendar.ts'
import type { DividendMark, Earnings, EventKind } from '../../market/company-events.ts'
import type { Market } from '../../market/instruments.ts'

type Texts = {
  /** `unknown` contains the codes with unknown days. */
  calendar: (unknown: string) => string
  backwards: (from: string, to: string) => string
  tooLong: (days: number) => string
  codes: (count: number, most: number) => string
  noAccount: string
  market: Record<Market, string>
  states: Record<Exclude<ListingEvents['state'], 'known'>, (market: string) => string>
  kind: Record<EventKind, string>
  certainty: Record<Earnings['certainty'], string>
  period: (end: string) => string
  window: (from: string, to: string) => string
  days: { ex: string; record: string; pay: string }
  amount: (amount: string) => string
  unknownAmount: string
  expected: (amount: string, shares: string) => string
  marks: Record<DividendMark, string>
  source: (name: string) => string
}

export const CALENDAR_TEXTS: Record<ReportLanguage, Texts> = {
  en: {
    calendar: (unknown) => `Results and dividends${unknown === '' ? '' : ` (days not known of: ${unknown})`}`,
    backwards: (from, to) => `from: ${from} is after ${to}`,
    tooLong: (days) => `to: at most ${days} days after the first`,
    codes: (count, most) => `stock_codes: ${count} codes; name 1 to ${most}`,
    noAccount: 'No account of yours has this id',
    market: {
      ...{ cn: 'the mainland', hk: 'Hong Kong', us: 'the United States', jp: 'Japan', kr: 'Korea', tw: 'Taiwan' },
    },
    states: {
      no_source: (market) => `No configured source tells days of such a listing in ${market}`,
      failed: () => 'The sources failed, so its days are not known now',
      not_asked: () => 'Not looked up yet: ask again in a moment',
    },
    kind: { earnings: 'Results', ex_dividend: 'Ex-dividend', dividend_payment: 'Dividend payment' },
    certainty: { estimate: 'estimate of the source', scheduled: 'scheduled', published: 'published' },
    period: (end) => `Period up to ${end}`,
    window: (from, to) => `Between ${from} and ${to}`,
    days: { ex: 'Ex-date', record: 'Record date', pay: 'Payment' },
    amount: (amount) => `${amount} a share before tax`,
    unknownAmount: 'Amount not known',
    expected: (amount, shares) => `Expected: ${amount} for ${shares} shares, before tax`,
    marks: {
      pay_left_out: 'The day of payment cannot be right and is left out',
      record_left_out: 'The record date cannot be right and is left out',
      amount_left_out: 'The amount cannot be right and is left out',
      amount_large: 'The amount is unusually large against the price',
      amount_unchecked: 'The amount could not be compared with a price',
      ex_closed: 'The ex-date is no trading day of the market',
    },
    source: (name) => `Source: ${name}`,
  },
  zh: {
    calendar: (unknown) => `财报与分红${unknown === '' ? '' : `（以下代码的日期未知：${unknown}）`}`,
    backwards: (from, to) => `from：${from} 晚于 ${to}`,
    tooLong: (days) => `to：最多为起始日后 ${days} 天`,
    codes: (count, most) => `stock_codes：有 ${count} 个代码，应为 1 至 ${most} 个`,
    noAccount: '您没有此 id 的账户',
    market: { cn: 'A 股', hk: '港股', us: '美股', jp: '日股', kr: '韩股', tw: '台股' },
    states: {
      no_source: (market) => `没有已配置的数据源提供${market}此类证券的日期`,
      failed: () => '数据源出错，目前不知道其日期',
      not_asked: () => '尚未查询，请稍后再试',
    },
    kind: { earnings: '财报', ex_dividend: '除息', dividend_payment: '派息' },
    certainty: { estimate: '数据源预计', scheduled: '已预约', published: '已公布' },
    period: (end) => `报告期截至 ${end}`,
    window: (from, to) => `${from} 至 ${to} 之间`,
    days: { ex: '除息日', record: '股权登记日', pay: '派息日' },
    amount: (amount) => `每股 ${amount}（税前）`,
    unknownAmount: '金额未知',
    expected: (amount, shares) => `预计：${shares} 股共 ${amount}（税前）`,
    marks: {
      pay_left_out: '派息日不可能正确，已略去',
      record_left_out: '登记日不可能正确，已略去',
      amount_left_out: '金额不可能正确，已略去',
      amount_large: '金额相对价格异常大',
      amount_unchecked: '金额未能与价格核对',
      ex_closed: '除息日不是该市场的交易日',
    },
    source: (name) => `来源：${name}`,
  },
  ko: {
    calendar: (unknown) => `실적과 배당${unknown === '' ? '' : ` (날짜를 모르는 코드: ${unknown})`}`,
    backwards: (from, to) => `from: ${from}은(는) ${to}보다 뒤입니다`,
    tooLong: (days) => `to: 첫날부터 최대 ${days}일입니다`,
    codes: (count, most) => `stock_codes: 코드 ${count}개, 1~${most}개를 적으세요`,
    noAccount: '이 id의 계좌가 없습니다',
    market: { cn: '중국 본토', hk: '홍콩', us: '미국', jp: '일본', kr: '한국', tw: '대만' },
    states: {
      no_source: (market) => `설정된 출처 가운데 ${market}의 이런 종목 날짜를 알리는 곳이 없습니다`,
      failed: () => '출처 오류로 지금은 날짜를 알 수 없습니다',
      not_asked: () => '아직 조회하지 않았습니다. 잠시 후 다시 요청하세요',
    },
    kind: { earnings: '실적', ex_dividend: '배당락', dividend_payment: '배당 지급' },
    certainty: { estimate: '출처의 예상', scheduled: '예정됨', published: '발표됨' },
    period: (end) => `${end}까지의 기간`,
    window: (from, to) => `${from}~${to} 사이`,
    days: { ex: '배당락일', record: '기준일', pay: '지급일' },
    amount: (amount) => `주당 ${amount} (세전)`,
    unknownAmount: '금액 미상',
    expected: (amount, shares) => `예상: ${shares}주에 ${amount} (세전)`,
    marks: {
      pay_left_out: '지급일이 맞을 수 없어 제외함',
      record_left_out: '기준일이 맞을 수 없어 제외함',
      amount_left_out: '금액이 맞을 수 없어 제외함',
      amount_large: '가격에 비해 금액이 이례적으로 큼',
      amount_unchecked: '금액을 가격과 비교하지 못함',
      ex_closed: '배당락일이 거래일이 아님',
    },
    source: (name) => `출처: ${name}`,
  },
}

type EventText = {
  id: string
  kind: EventKind
  stock_code: string
  stock_name: string | null
  date: string
  date_to: string
  certainty: Earnings['certainty']
  period: string | null
  ex_date: string | null
  record_date: string | null
  pay_date: string | null
  amount_per_share: number | null
  currency: string | null
  marks: DividendMark[]
  held_quantity: number | null
  expected_amount: number | null
  source: string
  notice: string | null
}

export function icsEvent(event: EventText, language: ReportLanguage): IcsEvent {
  const words = CALENDAR_TEXTS[language]
  const { kind, certainty, date, date_to: to, period, currency, amount_per_share: amount } = event
  const name = event.stock_name === null ? event.stock_code : `${event.stock_name} (${event.stock_code})`
  const isEstimate = certainty === 'estimate'
  const sure = kind === 'earnings' ? ` (${words.certainty[certainty]})` : ''
  const named = [
    [words.days.ex, event.ex_date],
    [words.days.record, event.record_date],
    [words.days.pay, event.pay_date],
  ].flatMap(([label, on]) => (on === null ? [] : [`${label}: ${on}`]))
  const lines = [
    ...(event.notice === null ? [] : [event.notice]),
    ...(date === to ? [] : [words.window(date, to)]),
    ...(period === null ? [] : [words.period(period)]),
    ...named,
    ...(kind === 'earnings'
      ? []
      : [amount === null ? words.unknownAmount : words.amount(`${amount} ${currency ?? ''}`)]),
    ...(event.expected_amount === null
      ? []
      : [words.expected(`${event.expected_amount} ${currency ?? ''}`, String(event.held_quantity))]),
    ...event.marks.map((mark) => words.marks[mark]),
    words.source(event.source),
  ]
  return {
    uid: `${event.id}@bellwether`,
    from: date,
    to,
    summary: `${words.kind[kind]}: ${name}${sure}`,
    description: lines.join('\n'),
    isTentative: isEstimate,
  }
}
