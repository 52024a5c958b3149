// Why a request of the analysis service is refused, in the caller's language. The values that clients compare (`error`,
// `detail.reason`, types of a 422) are the same in all languages.

import type { Context } from 'hono'
import type { ReportLanguage } from '../../analysis/schemas.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { callerLanguage } from '../../http/caller-language.ts'
import { AppError } from '../../http/errors.ts'
import { type FullQuota, quotaReached } from '../../http/too-many.ts'
import type { Language } from '../../market/names/labels.ts'
import { rejectionsText, rejectionText } from '../../market/names/rejection-texts.ts'
import type { Rejected } from '../../market/resolve.ts'
import type { SheetFault } from '../../market/sheet.ts'
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
  fullGroup: (name: string, most: number) => string
  blankStock: string
  tooManyRows: (count: number, most: number) => string
  noRows: string
  rowAt: (row: number, column: string) => string
  blankRow: string
  emptyList: string
  noFile: string
  largeFile: (megabytes: number) => string
  noJson: string
  noForm: string
  noText: string
  sheet: Record<SheetFault, (file: string) => string> & { old: string }
  noPicture: string
  otherPicture: string
  noVision: string
  unreadPicture: string
}

export const REFUSAL_TEXTS: Record<ReportLanguage, RefusalTexts> = {
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
    fullGroup: (name, most) => `自选列表“${name}”最多 ${most} 只股票`,
    blankStock: 'stock_code 为空白',
    tooManyRows: (count, most) => `列表有 ${count} 行，一次最多导入 ${most} 行，请分开导入`,
    noRows: '列表是空的：没有内容，或只有表头',
    rowAt: (row, column) => `第 ${row} 行 ${column} 列：`,
    blankRow: '没有代码也没有名称',
    emptyList: '这个自选列表没有股票',
    noFile: '请在表单中提供 file，或以 JSON 提供 text',
    largeFile: (megabytes) => `一次导入最多 ${megabytes} MB`,
    noJson: '请求体既不是表单也不是 JSON',
    noForm: '无法读取表单',
    noText: '文件既不是 XLSX 工作簿，也不是 UTF-8、UTF-16 或 GBK 编码的文本',
    sheet: {
      old: '这是旧式的 XLS 或加密的工作簿：请另存为 XLSX 或 CSV 再导入',
      not_workbook: () => '这个压缩文件不是 XLSX 工作簿',
      encrypted: () => '工作簿已加密：请去掉密码再导入',
      too_large: (file) =>
        file === '' ? '工作簿的部件或单元格过多：请只保留要导入的列表' : `工作簿解压后超过 20 MB（${file}）`,
      damaged: (file) => `无法读取工作簿${file === '' ? '' : `（${file}）`}：文件已损坏`,
    },
    noPicture: '请提供 JPEG、PNG、WebP 或 GIF 图片',
    otherPicture: '图片内容与声明的类型不符',
    noVision: '未设置能识别图片的模型：请在设置中选择一个',
    unreadPicture: '模型没有从图片中读出股票列表，请换一张更清晰的图片或改用文本导入',
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
    fullGroup: (name, most) => `the watchlist “${name}” holds at most ${most} stocks`,
    blankStock: 'stock_code is blank',
    tooManyRows: (count, most) => `The list has ${count} rows, and an import takes ${most} at most: split it`,
    noRows: 'The list is empty: there is nothing in it, or a header alone',
    rowAt: (row, column) => `Row ${row}, column ${column}: `,
    blankRow: 'neither a code nor a name',
    emptyList: 'This watchlist has no stock',
    noFile: 'Give a file in a form, or JSON with text',
    largeFile: (megabytes) => `An import takes at most ${megabytes} MB`,
    noJson: 'The body is neither a form nor JSON',
    noForm: 'The form cannot be read',
    noText: 'The file is neither an XLSX workbook nor text in UTF-8, UTF-16 or GBK',
    sheet: {
      old: 'This is an XLS of the old form, or an encrypted workbook: save it as XLSX or CSV first',
      not_workbook: () => 'The archive is no XLSX workbook',
      encrypted: () => 'The workbook is encrypted: take its password away first',
      too_large: (file) =>
        file === ''
          ? 'The workbook has too many parts or cells: keep the list alone'
          : `The workbook has more than 20 MB when it is unpacked (${file})`,
      damaged: (file) => `The workbook cannot be read${file === '' ? '' : ` (${file})`}: it is damaged`,
    },
    noPicture: 'A JPEG, PNG, WebP or GIF picture is wanted',
    otherPicture: 'The picture is of another type than it says',
    noVision: 'No model that sees pictures is set up: choose one in the settings',
    unreadPicture: 'The model read no list of stocks from the picture: take a clearer one, or import text',
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
    fullGroup: (name, most) => `관심 목록 “${name}”에는 최대 ${most}개 종목을 담을 수 있습니다`,
    blankStock: 'stock_code가 비어 있습니다',
    tooManyRows: (count, most) => `목록이 ${count}행입니다. 한 번에 최대 ${most}행이니 나누어 가져오세요`,
    noRows: '목록이 비어 있습니다. 내용이 없거나 머리글뿐입니다',
    rowAt: (row, column) => `${row}행 ${column} 열: `,
    blankRow: '코드도 이름도 없습니다',
    emptyList: '이 관심 목록에는 종목이 없습니다',
    noFile: '폼의 file 또는 text가 있는 JSON을 보내세요',
    largeFile: (megabytes) => `한 번에 최대 ${megabytes} MB까지 가져올 수 있습니다`,
    noJson: '본문이 폼도 JSON도 아닙니다',
    noForm: '폼을 읽을 수 없습니다',
    noText: '파일이 XLSX 통합 문서도, UTF-8, UTF-16, GBK 텍스트도 아닙니다',
    sheet: {
      old: '구형 XLS이거나 암호화된 통합 문서입니다. XLSX나 CSV로 저장한 뒤 가져오세요',
      not_workbook: () => '이 압축 파일은 XLSX 통합 문서가 아닙니다',
      encrypted: () => '통합 문서가 암호화되어 있습니다. 암호를 없앤 뒤 가져오세요',
      too_large: (file) =>
        file === ''
          ? '통합 문서의 구성 요소나 셀이 너무 많습니다. 가져올 목록만 남기세요'
          : `통합 문서의 압축을 풀면 20 MB를 넘습니다 (${file})`,
      damaged: (file) => `통합 문서를 읽을 수 없습니다${file === '' ? '' : ` (${file})`}: 파일이 손상되었습니다`,
    },
    noPicture: 'JPEG, PNG, WebP 또는 GIF 그림이 필요합니다',
    otherPicture: '그림이 표시된 형식과 다릅니다',
    noVision: '그림을 보는 모델이 설정되어 있지 않습니다. 설정에서 선택하세요',
    unreadPicture: '모델이 그림에서 종목 목록을 읽지 못했습니다. 더 선명한 그림이나 텍스트를 쓰세요',
  },
}

type Refusal = { language?: ReportLanguage | null | undefined; word?: string; cause?: unknown }

/** 400, in the language that the request names, otherwise the caller's. */
export function refusalError(
  c: Context<AppEnv>,
  say: (texts: RefusalTexts) => string,
  { language, word, cause }: Refusal = {},
): AppError {
  const message = say(REFUSAL_TEXTS[language ?? callerLanguage(c)])
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
 * The refusal of entries that match no stock or more than one: the entry, the reason, and the candidates. 400
 * `validation_error`. `detail` has the sentence (`message`), `reason` and `candidates` of the first entry, and the same
 * for each entry in `invalid`; if the body has several fields, `field` names the one. The same request with `confirm:
 * true` takes the first candidate of each.
 */
export function unclearNames(rejected: readonly Rejected[], language: Language, field?: string): AppError {
  const message = rejectionsText(rejected, language)
  const invalid = rejected.map((one) => ({
    input: one.input,
    reason: one.reason,
    message: rejectionText(one, language),
    candidates: one.candidates.map((listing) => candidateOf(listing, language)),
  }))
  const named = field === undefined ? {} : { field }
  const detail = { message, reason: invalid[0]?.reason, candidates: invalid[0]?.candidates ?? [], invalid, ...named }
  return new AppError('bad_request', message, { extra: { detail } })
}

/** An invalid row of an import, and its position. */
export type BadRow = { row: number; column: string } & ({ rejected: Rejected } | { message: string })

const SHOWN_ROWS = 5

/** The refusal of a whole import: the first rows in the sentence, all of them in `detail.invalid`. */
export function badRows(bad: readonly BadRow[], language: Language): AppError {
  const say = REFUSAL_TEXTS[language]
  const invalid = bad.map((one) => {
    const isUnclear = 'rejected' in one
    return {
      row: one.row,
      column: one.column,
      input: isUnclear ? one.rejected.input : '',
      reason: isUnclear ? one.rejected.reason : 'invalid',
      message: isUnclear ? rejectionText(one.rejected, language) : one.message,
      candidates: isUnclear ? one.rejected.candidates.map((listing) => candidateOf(listing, language)) : [],
    }
  })
  const shown = invalid.slice(0, SHOWN_ROWS).map(({ row, column, message }) => `${say.rowAt(row, column)}${message}`)
  const more = invalid.length > SHOWN_ROWS ? ` (+${invalid.length - SHOWN_ROWS})` : ''
  const message = `${shown.join('; ')}${more}`
  const detail = { message, reason: invalid[0]?.reason, candidates: invalid[0]?.candidates ?? [], invalid }
  return new AppError('bad_request', message, { extra: { detail } })
}
