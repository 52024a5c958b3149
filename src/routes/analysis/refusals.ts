// Why a request of the analysis service is refused, in the caller's language. What a client matches (`error`, `detail.reason`, types of
// a 422) is the same in all of them.

import type { Context } from 'hono'
import type { ReportLanguage } from '../../analysis/schemas.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { callerLanguage } from '../../http/caller-language.ts'
import { AppError } from '../../http/errors.ts'
import { type FullQuota, quotaReached } from '../../http/too-many.ts'
import type { Language } from '../../market/names/labels.ts'
import type { Rejected } from '../../market/resolve.ts'
import { candidateOf } from './readings.ts'

type RefusalTexts = {
  noStock: string
  blank: string
  several: string
  tooMany: (count: number, most: number) => string
  noRecords: string
  schedules: (most: number) => string
  noWatchlist: string
  noChannels: (ids: string) => string
  channels: (most: number) => string
}

const TEXTS: Record<ReportLanguage, RefusalTexts> = {
  zh: {
    noStock: '请提供 stock_code 或 stock_codes',
    blank: '没有可用的股票代码：所有条目均为空白',
    several: '多只股票需要 async_mode: true；同步模式只接受一只',
    tooMany: (count, most) => `${count} 只股票过多：一次请求最多 ${most} 只`,
    noRecords: 'record_ids 为空',
    schedules: (most) => `定时任务已达上限 ${most} 个`,
    noWatchlist: '您没有此 id 的自选列表',
    noChannels: (ids) => `您没有此 id 的通知渠道：${ids}`,
    channels: (most) => `通知渠道已达上限 ${most} 个`,
  },
  en: {
    noStock: 'Give stock_code or stock_codes',
    blank: 'No stock code is left: every entry is blank',
    several: 'Several stocks need async_mode: true; synchronous mode takes exactly one',
    tooMany: (count, most) => `${count} stocks are too many: one request takes at most ${most}`,
    noRecords: 'record_ids is empty',
    schedules: (most) => `You have ${most} schedules already`,
    noWatchlist: 'No watchlist of yours has this id',
    noChannels: (ids) => `No channel of yours has the id ${ids}`,
    channels: (most) => `You have ${most} channels already`,
  },
  ko: {
    noStock: 'stock_code 또는 stock_codes를 지정하세요',
    blank: '남은 종목 코드가 없습니다. 모든 항목이 비어 있습니다',
    several: '여러 종목에는 async_mode: true가 필요합니다. 동기 모드는 한 종목만 받습니다',
    tooMany: (count, most) => `종목 ${count}개는 너무 많습니다. 한 요청에 최대 ${most}개입니다`,
    noRecords: 'record_ids가 비어 있습니다',
    schedules: (most) => `예약이 이미 ${most}개 있습니다`,
    noWatchlist: '이 id의 관심 목록이 없습니다',
    noChannels: (ids) => `이 id의 알림 채널이 없습니다: ${ids}`,
    channels: (most) => `알림 채널이 이미 ${most}개 있습니다`,
  },
}

type Refusal = { language?: ReportLanguage | null | undefined; word?: string }

/** 400, in the language that the request names, else in the caller's. */
export function refused(
  c: Context<AppEnv>,
  say: (texts: RefusalTexts) => string,
  { language, word }: Refusal = {},
): AppError {
  const message = say(TEXTS[language ?? callerLanguage(c)])
  return new AppError('bad_request', message, word === undefined ? {} : { word })
}

const ADVICE: Readonly<Record<string, string>> = {
  open_analyses: 'Wait until some of your analyses are done, or cancel some.',
  analyses_per_day: 'The count begins anew at midnight, UTC.',
}

export function tooManyAnalyses(full: FullQuota, asked = 1): AppError {
  const tooManyAtOnce = `This request asks for ${asked} analyses at once, more than the limit allows: send fewer in one request.`
  return quotaReached(full, asked > full.allowed ? tooManyAtOnce : (ADVICE[full.limit] ?? ''))
}

const MAX_NAMED = 20

/**
 * The refusal of entries that mean no stock, or more than one: what was typed, why, and which stocks may be meant.
 * 400 `validation_error`. `detail` has the sentence (`message`), `reason` and `candidates` of the first entry, and all of them
 * for each entry in `invalid`. The same request with `confirm: true` takes the first candidate of each.
 */
export function unclearNames(rejected: readonly Rejected[], language: Language): AppError {
  const named = rejected.slice(0, MAX_NAMED).map(({ message }) => message)
  const rest = rejected.length > MAX_NAMED ? [`and ${rejected.length - MAX_NAMED} more`] : []
  const message = [...named, ...rest].join('; ')
  const invalid = rejected.map((one) => ({
    input: one.input,
    reason: one.reason,
    message: one.message,
    candidates: one.candidates.map((listing) => candidateOf(listing, language)),
  }))
  const detail = { message, reason: invalid[0]?.reason, candidates: invalid[0]?.candidates ?? [], invalid }
  return new AppError('bad_request', message, { extra: { detail } })
}
