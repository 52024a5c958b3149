// Errors in a broker's file, in the caller's language: row and column first.

import type { Context } from 'hono'
import type { ReportLanguage } from '../../../analysis/schemas.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import type { CsvFault, RowFault } from '../../../portfolio/csv-trades.ts'
import type { Field } from '../../../portfolio/layouts.ts'

type ImportTexts = {
  place: (row: number, column: string) => string
  faults: { [K in CsvFault['fault']]: (fault: Extract<CsvFault, { fault: K }> & Record<string, string>) => string }
  broker: (name: string, known: string) => string
  columns: (missing: readonly Field[], found: readonly string[]) => string
  columnTwice: (name: string) => string
  wordOfBoth: (word: string) => string
  openQuote: (row: number) => string
  rows: (count: number, most: number) => string
  noText: string
  noRows: string
  large: (megabytes: number) => string
  noFile: string
  noForm: string
  mapping: (why: string) => string
}

const FIELD_NAMES: Record<ReportLanguage, Record<Field, string>> = {
  en: {
    ...{ date: 'date', time: 'time', symbol: 'code', side: 'buy or sell', quantity: 'quantity', price: 'price' },
    ...{ currency: 'currency', uid: 'trade number', amount: 'amount', fee: 'fee', tax: 'tax' },
  },
  zh: {
    ...{ date: '日期', time: '时间', symbol: '代码', side: '买卖方向', quantity: '数量', price: '价格' },
    ...{ currency: '币种', uid: '成交编号', amount: '发生金额', fee: '费用', tax: '税' },
  },
  ko: {
    ...{ date: '날짜', time: '시각', symbol: '코드', side: '매수/매도', quantity: '수량', price: '가격' },
    ...{ currency: '통화', uid: '체결 번호', amount: '금액', fee: '수수료', tax: '세금' },
  },
}

const listOf = (language: ReportLanguage, fields: readonly Field[]): string =>
  fields.map((field) => FIELD_NAMES[language][field]).join(language === 'en' ? ', ' : '、')
const MOST_NAMES = 40
const quoted = (found: readonly string[]): string => {
  const shown = found.slice(0, MOST_NAMES).map((name) => JSON.stringify(short(name)))
  return `${shown.join(', ')}${found.length > MOST_NAMES ? ', …' : ''}`
}

const MOST_LETTERS = 60
/** The text in a file may have any length. */
export const short = (text: string): string => (text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text)

export const IMPORT_TEXTS: Record<ReportLanguage, ImportTexts> = {
  en: {
    place: (row, column) => `row ${row}, column "${column}": `,
    faults: {
      date: ({ text }) => `"${text}" is no day`,
      code: ({ text }) => `"${text}" is no code of one listing`,
      number: ({ text }) => `"${text}" is no number with at most 8 decimal places, up to 10^12`,
      not_positive: ({ text }) => `"${text}" is not above 0`,
      negative: ({ text }) => `"${text}" is below 0`,
      no_column: () => 'this row is a trade, and the file has no such column',
      zero: ({ text }) => `"${text}" is 0, and this row is a payment of a sum`,
      currency: ({ text }) => `"${text}" is no currency`,
      early: ({ date, first }) => `${date} is before ${first}`,
      future: ({ date, latest }) => `${date} is after ${latest}, the newest day that can be booked`,
      closed: ({ date, market }) => `${date} is no trading day of the market ${market}`,
      index: ({ symbol }) => `${symbol} is an index, which nobody holds`,
      oversell: ({ symbol, date, quantity, held }) =>
        `${quantity} of ${symbol} are sold on ${date}, but only ${held} are held then`,
    },
    broker: (name, known) => `"${short(name)}" is no known broker; known are ${known}`,
    columns: (missing, found) =>
      `The file has no column for: ${listOf('en', missing)}. Its columns are ${quoted(found)}. Name them with "mapping"`,
    columnTwice: (name) => `The file has the column "${name}" more than once: rename all but one of them`,
    wordOfBoth: (word) => `"${word}" cannot mean two of buying, selling and a dividend`,
    openQuote: (row) => `row ${row}: a quotation mark is never closed`,
    rows: (count, most) => `The file has ${count} rows; at most ${most} are imported at a time`,
    noText: 'The file is no text in UTF-8, UTF-16 or GBK. Save a workbook as CSV first',
    noRows: 'The file has no rows',
    large: (megabytes) => `The file is larger than ${megabytes} MB`,
    noFile: 'Send a form with "file" and "broker"',
    noForm: 'The form cannot be read',
    mapping: (why) => `mapping: ${why}`,
  },
  zh: {
    place: (row, column) => `第 ${row} 行“${column}”列：`,
    faults: {
      date: ({ text }) => `“${text}”不是日期`,
      code: ({ text }) => `“${text}”不是某一证券的代码`,
      number: ({ text }) => `“${text}”不是最多八位小数且不超过 10^12 的数`,
      not_positive: ({ text }) => `“${text}”不大于 0`,
      negative: ({ text }) => `“${text}”小于 0`,
      no_column: () => '该行是成交，而文件没有这一列',
      zero: ({ text }) => `“${text}”为 0，该行应有金额`,
      currency: ({ text }) => `“${text}”不是货币`,
      early: ({ date, first }) => `${date} 早于 ${first}`,
      future: ({ date, latest }) => `${date} 晚于可记账的最后一天 ${latest}`,
      closed: ({ date, market }) => `${date} 不是市场 ${market} 的交易日`,
      index: ({ symbol }) => `${symbol} 是指数，不能持有`,
      oversell: ({ symbol, date, quantity, held }) => `${symbol}：${date} 将卖出 ${quantity}，当时仅持有 ${held}`,
    },
    broker: (name, known) => `未知券商“${short(name)}”；可选 ${known}`,
    columns: (missing, found) =>
      `文件缺少以下列：${listOf('zh', missing)}。文件的列为 ${quoted(found)}。可用 mapping 指定列`,
    columnTwice: (name) => `文件中“${name}”列出现多次，请只保留一个`,
    wordOfBoth: (word) => `“${word}”不能同时表示买入、卖出和分红中的两项`,
    openQuote: (row) => `第 ${row} 行：引号没有闭合`,
    rows: (count, most) => `文件有 ${count} 行，一次最多导入 ${most} 行`,
    noText: '文件不是 UTF-8、UTF-16 或 GBK 文本。工作簿请先另存为 CSV',
    noRows: '文件没有数据行',
    large: (megabytes) => `文件超过 ${megabytes} MB`,
    noFile: '请发送包含 file 和 broker 的表单',
    noForm: '无法读取表单',
    mapping: (why) => `mapping：${why}`,
  },
  ko: {
    place: (row, column) => `${row}행 "${column}" 열: `,
    faults: {
      date: ({ text }) => `"${text}"은(는) 날짜가 아닙니다`,
      code: ({ text }) => `"${text}"은(는) 한 종목의 코드가 아닙니다`,
      number: ({ text }) => `"${text}"은(는) 소수 8자리 이하, 10^12 이하의 수가 아닙니다`,
      not_positive: ({ text }) => `"${text}"은(는) 0보다 크지 않습니다`,
      negative: ({ text }) => `"${text}"은(는) 0보다 작습니다`,
      no_column: () => '이 행은 매매인데 파일에 이 열이 없습니다',
      zero: ({ text }) => `"${text}"은(는) 0입니다. 이 행에는 금액이 있어야 합니다`,
      currency: ({ text }) => `"${text}"은(는) 통화가 아닙니다`,
      early: ({ date, first }) => `${date}은(는) ${first}보다 앞입니다`,
      future: ({ date, latest }) => `${date}은(는) 기록할 수 있는 마지막 날 ${latest}보다 뒤입니다`,
      closed: ({ date, market }) => `${date}은(는) ${market} 시장의 거래일이 아닙니다`,
      index: ({ symbol }) => `${symbol}은(는) 지수이므로 보유할 수 없습니다`,
      oversell: ({ symbol, date, quantity, held }) =>
        `${symbol}: ${date}에 ${quantity}을(를) 매도하지만 그때 보유량은 ${held}뿐입니다`,
    },
    broker: (name, known) => `"${short(name)}"은(는) 알려진 증권사가 아닙니다. 가능한 값: ${known}`,
    columns: (missing, found) =>
      `파일에 다음 열이 없습니다: ${listOf('ko', missing)}. 파일의 열: ${quoted(found)}. mapping으로 지정하세요`,
    columnTwice: (name) => `"${name}" 열이 여러 번 있습니다. 하나만 남기세요`,
    wordOfBoth: (word) => `"${word}"은(는) 매수, 매도, 배당 가운데 둘을 함께 뜻할 수 없습니다`,
    openQuote: (row) => `${row}행: 따옴표가 닫히지 않았습니다`,
    rows: (count, most) => `파일이 ${count}행입니다. 한 번에 최대 ${most}행까지 가져옵니다`,
    noText: '파일이 UTF-8, UTF-16, GBK 텍스트가 아닙니다. 통합 문서는 먼저 CSV로 저장하세요',
    noRows: '파일에 행이 없습니다',
    large: (megabytes) => `파일이 ${megabytes} MB보다 큽니다`,
    noFile: 'file과 broker가 있는 폼을 보내세요',
    noForm: '폼을 읽을 수 없습니다',
    mapping: (why) => `mapping: ${why}`,
  },
}

export const importTexts = (c: Context<AppEnv>): ImportTexts => IMPORT_TEXTS[callerLanguage(c)]

/** Row, column, and the error. An earlier entry has no row. */
export function faultText({ place, faults }: ImportTexts, { row, column, ...fault }: RowFault): string {
  const say = faults[fault.fault] as (fault: CsvFault) => string
  const shown = 'text' in fault ? { ...fault, text: short(fault.text) } : fault
  return `${row === 0 ? '' : place(row, short(column))}${say(shown)}`
}
