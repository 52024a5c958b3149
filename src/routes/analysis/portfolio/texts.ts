// Why nothing was booked, in the caller's language. `error` of the answer is the same in all languages.

import type { Context } from 'hono'
import type { ReportLanguage } from '../../../analysis/schemas.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { AppError } from '../../../http/errors.ts'
import { formatAmount } from '../../../lib/decimal.ts'
import { BookError, type BookFault, MAX_ACCOUNTS, MAX_EVENTS, MAX_SPLITS } from '../../../portfolio/book.ts'
import { Oversell } from '../../../portfolio/ledger.ts'

type Texts = {
  noAccount: string
  inactive: string
  noEvent: string
  accounts: string
  events: string
  splits: (symbol: string) => string
  uid: (uid: string) => string
  busy: string
  oversell: (sale: { symbol: string; date: string; quantity: string; held: string }) => string
  future: (field: string, date: string, latest: string) => string
  closed: (date: string, market: string) => string
  period: string
  currency: (text: string) => string
  needs: (field: string, kind: string) => string
  index: (symbol: string) => string
  sameCurrency: string
  rates: (most: number) => string
  noRate: string
  noPosition: (symbol: string) => string
  severalAccounts: (symbol: string, ids: string) => string
}

export const BOOKING_TEXTS: Record<ReportLanguage, Texts> = {
  en: {
    noAccount: 'No account of yours has this id',
    inactive: 'The account is hidden: nothing can be booked in it',
    noEvent: 'Nothing of this kind that you booked has this id',
    accounts: `You have ${MAX_ACCOUNTS} accounts already, hidden ones included`,
    events: `An account holds at most ${MAX_EVENTS} entries`,
    splits: (symbol) => `${symbol} has ${MAX_SPLITS} splits in this account already`,
    uid: (uid) => `A trade with the number ${uid} is booked in this account already`,
    busy: 'Others write into your book all the time: send this again in a moment',
    oversell: ({ symbol, date, quantity, held }) =>
      `${symbol}: ${quantity} would be sold on ${date}, but only ${held} are held then`,
    future: (field, date, latest) => `${field}: ${date} is after ${latest}, the newest day that can be booked`,
    closed: (date, market) => `trade_date: ${date} is no trading day of the market ${market}`,
    period: 'date_from is after date_to',
    currency: (text) => `currency: ${text} is no code of a currency (ISO 4217)`,
    needs: (field, kind) => `${field}: an entry of the kind ${kind} needs it`,
    index: (symbol) => `symbol: ${symbol} is an index, which nobody holds`,
    sameCurrency: 'A currency has no rate against itself',
    rates: (most) => `You have ${most} rates already`,
    noRate: 'You gave no such rate',
    noPosition: (symbol) => `None of your accounts holds ${symbol}`,
    severalAccounts: (symbol, ids) => `Several accounts hold ${symbol}: name one of ${ids} as account_id`,
  },
  zh: {
    noAccount: '您没有此 id 的账户',
    inactive: '该账户已隐藏，不能记账',
    noEvent: '您没有此 id 的该类记录',
    accounts: `账户已达上限 ${MAX_ACCOUNTS} 个（含已隐藏的）`,
    events: `一个账户最多 ${MAX_EVENTS} 条记录`,
    splits: (symbol) => `${symbol} 在该账户中已有 ${MAX_SPLITS} 次拆合股`,
    uid: (uid) => `编号为 ${uid} 的成交已在该账户中`,
    busy: '您的账本正被频繁写入，请稍后再发',
    oversell: ({ symbol, date, quantity, held }) => `${symbol}：${date} 将卖出 ${quantity}，当时仅持有 ${held}`,
    future: (field, date, latest) => `${field}：${date} 晚于可记账的最后一天 ${latest}`,
    closed: (date, market) => `trade_date：${date} 不是市场 ${market} 的交易日`,
    period: 'date_from 晚于 date_to',
    currency: (text) => `currency：${text} 不是货币代码（ISO 4217）`,
    needs: (field, kind) => `${field}：${kind} 类记录必须提供`,
    index: (symbol) => `symbol：${symbol} 是指数，不能持有`,
    sameCurrency: '同一货币没有汇率',
    rates: (most) => `汇率已达上限 ${most} 条`,
    noRate: '您没有提供过该汇率',
    noPosition: (symbol) => `您的账户均未持有 ${symbol}`,
    severalAccounts: (symbol, ids) => `多个账户持有 ${symbol}，请用 account_id 指定其一：${ids}`,
  },
  ko: {
    noAccount: '이 id의 계좌가 없습니다',
    inactive: '숨긴 계좌에는 기록할 수 없습니다',
    noEvent: '이 id의 해당 기록이 없습니다',
    accounts: `계좌가 이미 ${MAX_ACCOUNTS}개 있습니다(숨긴 계좌 포함)`,
    events: `계좌 하나에는 최대 ${MAX_EVENTS}건을 기록할 수 있습니다`,
    splits: (symbol) => `${symbol}에는 이 계좌에 이미 분할이 ${MAX_SPLITS}번 있습니다`,
    uid: (uid) => `번호 ${uid}의 거래가 이미 이 계좌에 있습니다`,
    busy: '장부에 쓰기가 계속되고 있습니다. 잠시 후 다시 보내세요',
    oversell: ({ symbol, date, quantity, held }) =>
      `${symbol}: ${date}에 ${quantity}을(를) 매도하게 되지만 그때 보유량은 ${held}뿐입니다`,
    future: (field, date, latest) => `${field}: ${date}은(는) 기록할 수 있는 마지막 날 ${latest}보다 뒤입니다`,
    closed: (date, market) => `trade_date: ${date}은(는) ${market} 시장의 거래일이 아닙니다`,
    period: 'date_from이 date_to보다 뒤입니다',
    currency: (text) => `currency: ${text}은(는) 통화 코드(ISO 4217)가 아닙니다`,
    needs: (field, kind) => `${field}: ${kind} 기록에 필요합니다`,
    index: (symbol) => `symbol: ${symbol}은(는) 지수이므로 보유할 수 없습니다`,
    sameCurrency: '같은 통화에는 환율이 없습니다',
    rates: (most) => `환율이 이미 ${most}건 있습니다`,
    noRate: '등록한 환율이 없습니다',
    noPosition: (symbol) => `${symbol}을(를) 보유한 계좌가 없습니다`,
    severalAccounts: (symbol, ids) => `여러 계좌가 ${symbol}을(를) 보유합니다. account_id로 하나를 지정하세요: ${ids}`,
  },
}

export const textsOf = (c: Context<AppEnv>): Texts => BOOKING_TEXTS[callerLanguage(c)]

/** 400 `validation_error`. */
export const invalidEntry = (c: Context<AppEnv>, say: (texts: Texts) => string): AppError =>
  new AppError('validation_error', say(textsOf(c)))

const FAULTS: Record<BookFault['fault'], (texts: Texts, why: BookFault) => [AppError['code'], string, string?]> = {
  no_account: (texts) => ['not_found', texts.noAccount],
  no_event: (texts) => ['not_found', texts.noEvent],
  inactive_account: (texts) => ['validation_error', texts.inactive],
  too_many_accounts: (texts) => ['validation_error', texts.accounts],
  too_many_events: (texts) => ['validation_error', texts.events],
  too_many_splits: (texts, why) => ['validation_error', texts.splits('symbol' in why ? why.symbol : '')],
  repeated_uid: (texts, why) => ['conflict', texts.uid('uid' in why ? why.uid : '')],
  busy: (texts) => ['conflict', texts.busy, 'portfolio_busy'],
}

/** Runs the booking; if it is refused, throws the documented error. */
export async function booked<T>(c: Context<AppEnv>, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const texts = textsOf(c)
    if (error instanceof Oversell) {
      const { symbol, date, quantity } = error.trade
      const sale = { symbol, date, quantity: formatAmount(quantity), held: formatAmount(error.held) }
      throw new AppError('conflict', texts.oversell(sale), { word: 'portfolio_oversell', cause: error })
    }
    if (!(error instanceof BookError)) throw error
    const [code, message, word] = FAULTS[error.why.fault](texts, error.why)
    throw new AppError(code, message, { cause: error, ...(word === undefined ? {} : { word }) })
  }
}
