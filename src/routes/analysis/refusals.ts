// Why a request of the analysis service is refused, in the caller's language. What a client matches (`error`, `detail.reason`, types of
// a 422) is the same in all of them.

import type { Context } from 'hono'
import type { ReportLanguage } from '../../analysis/schemas.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { callerLanguage } from '../../http/caller-language.ts'
import { AppError } from '../../http/errors.ts'
import { type FullQuota, quotaReached } from '../../http/too-many.ts'
import type { Language } from '../../market/names/labels.ts'
import { rejectionsText, rejectionText } from '../../market/names/rejection-texts.ts'
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
  watchlists: (most: number) => string
  fullWatchlist: (most: number) => string
  blankStock: string
  tooManyRows: (most: number) => string
  noFile: string
  largeFile: string
  noJson: string
  noForm: string
  noText: string
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
    watchlists: (most) => `自选列表已达上限 ${most} 个`,
    fullWatchlist: (most) => `一个自选列表最多 ${most} 只股票`,
    blankStock: 'stock_code 为空白',
    tooManyRows: (most) => `列表超过 ${most} 行，请分开导入`,
    noFile: '请在表单中提供 file，或以 JSON 提供 text',
    largeFile: '一次导入最多 2 MB',
    noJson: '请求体既不是表单也不是 JSON',
    noForm: '无法读取表单',
    noText: '文件不是 UTF-8、UTF-16 或 GBK 编码的文本：电子表格请另存为 CSV 再导入',
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
    watchlists: (most) => `You have ${most} watchlists already`,
    fullWatchlist: (most) => `A watchlist holds at most ${most} stocks`,
    blankStock: 'stock_code is blank',
    tooManyRows: (most) => `The list has more than ${most} rows: divide it`,
    noFile: 'Give a file in a form, or JSON with text',
    largeFile: 'An import takes at most 2 MB',
    noJson: 'The body is neither a form nor JSON',
    noForm: 'The form cannot be read',
    noText: 'The file is no text in UTF-8, UTF-16 or GBK: save a spreadsheet as CSV, and import that',
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
    watchlists: (most) => `관심 목록이 이미 ${most}개 있습니다`,
    fullWatchlist: (most) => `관심 목록 하나에는 최대 ${most}개 종목을 담을 수 있습니다`,
    blankStock: 'stock_code가 비어 있습니다',
    tooManyRows: (most) => `목록이 ${most}행을 넘습니다. 나누어 가져오세요`,
    noFile: '폼의 file 또는 text가 있는 JSON을 보내세요',
    largeFile: '한 번에 최대 2 MB까지 가져올 수 있습니다',
    noJson: '본문이 폼도 JSON도 아닙니다',
    noForm: '폼을 읽을 수 없습니다',
    noText: '파일이 UTF-8, UTF-16, GBK 텍스트가 아닙니다. 스프레드시트는 CSV로 저장한 뒤 가져오세요',
  },
}

type Refusal = { language?: ReportLanguage | null | undefined; word?: string; cause?: unknown }

/** 400, in the language that the request names, else in the caller's. */
export function refused(
  c: Context<AppEnv>,
  say: (texts: RefusalTexts) => string,
  { language, word, cause }: Refusal = {},
): AppError {
  const message = say(TEXTS[language ?? callerLanguage(c)])
  return new AppError('bad_request', message, {
    ...(word === undefined ? {} : { word }),
    ...(cause === undefined ? {} : { cause }),
  })
}

const ADVICE: Readonly<Record<string, string>> = {
  open_analyses: 'Wait until some of your analyses are done, or cancel some.',
  analyses_per_day: 'The count begins anew at midnight, UTC.',
}

export function tooManyAnalyses(full: FullQuota, asked = 1): AppError {
  const tooManyAtOnce = `This request asks for ${asked} analyses at once, more than the limit allows: send fewer in one request.`
  return quotaReached(full, asked > full.allowed ? tooManyAtOnce : (ADVICE[full.limit] ?? ''))
}

/**
 * The refusal of entries that mean no stock, or more than one: what was typed, why, and which stocks may be meant.
 * 400 `validation_error`. `detail` has the sentence (`message`), `reason` and `candidates` of the first entry, and all of them
 * for each entry in `invalid`. The same request with `confirm: true` takes the first candidate of each.
 */
export function unclearNames(rejected: readonly Rejected[], language: Language): AppError {
  const message = rejectionsText(rejected, language)
  const invalid = rejected.map((one) => ({
    input: one.input,
    reason: one.reason,
    message: rejectionText(one, language),
    candidates: one.candidates.map((listing) => candidateOf(listing, language)),
  }))
  const detail = { message, reason: invalid[0]?.reason, candidates: invalid[0]?.candidates ?? [], invalid }
  return new AppError('bad_request', message, { extra: { detail } })
}
