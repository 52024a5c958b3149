// What the form says about how it reads entries, in the language of the report that is asked for: the names beside it are in it too.

export type ReadingTexts = {
  /** The heading over all entries. */
  title: string
  ticker: (code: string) => string
  question: (typed: string) => string
  /** Over letters that are sent as a ticker because no list knows them. */
  orElse: (code: string) => string
  keep: (code: string) => string
  leaveOut: string
  unknown: (typed: string) => string
  reasons: Record<string, string>
  open: (count: number) => string
}

const EN: ReadingTexts = {
  title: 'Read as',
  ticker: (code) => `${code}: a US ticker that is not in our list`,
  question: (typed) => `Which stock do you mean by “${typed}”?`,
  orElse: (code) => `“${code}” is sent as a US ticker. Or do you mean:`,
  keep: (code) => `${code}, a US ticker that is not in our list`,
  leaveOut: 'None of these: leave it out',
  unknown: (typed) => `“${typed}” is not known`,
  reasons: {
    no_share: 'that number is no stock, fund or index: bonds and repurchases have such numbers',
    wrong_exchange: 'the number belongs to another exchange',
    too_long: 'it is too long',
  },
  open: (count) => (count === 1 ? 'One entry needs your answer.' : `${count} entries need your answer.`),
}

const ZH: ReadingTexts = {
  title: '识别结果',
  ticker: (code) => `${code}：美股代码，名单中没有`,
  question: (typed) => `“${typed}”指的是哪一只？`,
  orElse: (code) => `“${code}”将作为美股代码提交。或者您指的是：`,
  keep: (code) => `${code}，美股代码，名单中没有`,
  leaveOut: '都不是：去掉这一项',
  unknown: (typed) => `未找到“${typed}”`,
  reasons: {
    no_share: '该号码不是股票、基金或指数，而属于债券、回购等品种',
    wrong_exchange: '该号码属于另一家交易所',
    too_long: '内容过长',
  },
  open: (count) => `有 ${count} 项需要您确认。`,
}

const KO: ReadingTexts = {
  title: '인식 결과',
  ticker: (code) => `${code}: 목록에 없는 미국 종목 코드`,
  question: (typed) => `“${typed}”은(는) 어떤 종목입니까?`,
  orElse: (code) => `“${code}”은(는) 미국 종목 코드로 보냅니다. 또는 다음 종목입니까?`,
  keep: (code) => `${code}, 목록에 없는 미국 종목 코드`,
  leaveOut: '해당 없음: 제외',
  unknown: (typed) => `“${typed}”을(를) 찾을 수 없습니다`,
  reasons: {
    no_share: '주식, 펀드, 지수의 번호가 아닙니다(채권이나 환매조건부 거래의 번호)',
    wrong_exchange: '다른 거래소의 번호입니다',
    too_long: '너무 깁니다',
  },
  open: (count) => `확인이 필요한 항목 ${count}개.`,
}

const BOOK: Record<string, ReadingTexts> = { en: EN, zh: ZH, ko: KO }

/** The texts of a language, the English ones where there are none. */
export const readingTexts = (language: string): ReadingTexts => BOOK[language] ?? EN
