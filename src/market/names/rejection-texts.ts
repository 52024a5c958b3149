// Why an entry is not a listing, as a sentence that names the entry, in the caller's language.

import type { Listing } from '../../kits/market-names/index.ts'
import { type Language, nameIn } from './labels.ts'

/** What is wrong with an entry, with the values for its sentence. */
export type RejectionReason =
  | { kind: 'too_long'; most: number }
  | { kind: 'wrong_exchange'; exchange: string; belongsTo: string }
  /** `sixDigits`: the number may be a Korean code. */
  | { kind: 'no_share'; sixDigits: string | null }
  | { kind: 'four_digits'; digits: string }
  | { kind: 'character'; character: string }
  | { kind: 'letters_with_digits' }
  | { kind: 'not_found'; meant: readonly Listing[] }
  | { kind: 'ambiguous'; meant: readonly Listing[]; more: number }
  | { kind: 'other_name'; name: string; code: string; meant: readonly Listing[] }

type Texts = {
  tooLong: (most: number) => string
  wrongExchange: (exchange: string, belongsTo: string) => string
  noShare: string
  seoul: (digits: string) => string
  fourDigits: (digits: string) => string
  character: (character: string) => string
  mixed: string
  notFound: string
  mayMean: (listings: string) => string
  ambiguous: (listings: string) => string
  more: (count: number) => string
  otherName: (name: string, code: string) => string
  comma: string
  join: string
  /** Between the sentences of several entries. */
  rest: (count: number) => string
}

export const REJECTION_TEXTS: Record<Language, Texts> = {
  zh: {
    tooLong: (most) => `超过 ${most} 个字符`,
    wrongExchange: (exchange, belongsTo) => `写明了交易所 ${exchange}，但该代码属于 ${belongsTo}`,
    noShare: '不是沪深北交易所的股票、基金或指数代码：债券、回购、申购使用这类代码',
    seoul: (digits) => `；如指首尔上市的股票，请写 ${digits}.KS 或 ${digits}.KQ`,
    fourDigits: (digits) => `不是已知的四位代码，请注明交易所：香港 HK0${digits}，东京 ${digits}.T，台北 ${digits}.TW`,
    character: (character) => `含有不允许的字符 ${character}`,
    mixed: '混有字母和数字，不是任何已知的代码写法',
    notFound: '既不是股票代码，也不是已知股票的名称',
    mayMean: (listings) => `；可能是 ${listings}`,
    ambiguous: (listings) => `可能是 ${listings} 中的任何一个，请给出代码`,
    more: (count) => `另有 ${count} 个`,
    otherName: (name, code) => `在代码 ${code} 旁写了“${name}”，两者不是同一只股票`,
    comma: '、',
    join: '；',
    rest: (count) => `另有 ${count} 项`,
  },
  en: {
    tooLong: (most) => `is longer than ${most} characters`,
    wrongExchange: (exchange, belongsTo) => `names the exchange ${exchange}, but that number belongs to ${belongsTo}`,
    noShare:
      'is no number of a stock, fund or index of Shanghai, Shenzhen or Beijing: bonds, repurchases and subscriptions have such',
    seoul: (digits) => `; for a stock of Seoul give ${digits}.KS or ${digits}.KQ`,
    fourDigits: (digits) =>
      `is no known four-digit code; name the exchange: HK0${digits} for Hong Kong, ${digits}.T for Tokyo, ${digits}.TW for Taipei`,
    character: (character) => `contains ${character}, which is not allowed`,
    mixed: 'mixes letters and digits and is no known form of a code',
    notFound: 'is neither a stock code nor the name of a known stock',
    mayMean: (listings) => `; it may mean ${listings}`,
    ambiguous: (listings) => `may be any of ${listings}; give the code`,
    more: (count) => `${count} more`,
    otherName: (name, code) => `names ${JSON.stringify(name)} beside the code ${code}, which is not its own`,
    comma: ', ',
    join: '; ',
    rest: (count) => `and ${count} more`,
  },
  ko: {
    tooLong: (most) => `${most}자를 넘습니다`,
    wrongExchange: (exchange, belongsTo) => `거래소 ${exchange}를 적었지만 그 번호는 ${belongsTo}의 것입니다`,
    noShare: '상하이·선전·베이징의 주식, 펀드, 지수 번호가 아닙니다. 채권, 환매, 청약이 이런 번호를 씁니다',
    seoul: (digits) => `. 서울 상장 주식이면 ${digits}.KS 또는 ${digits}.KQ로 적으세요`,
    fourDigits: (digits) =>
      `알려진 네 자리 코드가 아닙니다. 거래소를 적으세요: 홍콩 HK0${digits}, 도쿄 ${digits}.T, 타이베이 ${digits}.TW`,
    character: (character) => `허용되지 않는 문자 ${character}이(가) 있습니다`,
    mixed: '문자와 숫자가 섞여 있으며 알려진 코드 형식이 아닙니다',
    notFound: '종목 코드도 알려진 종목의 이름도 아닙니다',
    mayMean: (listings) => `. 후보: ${listings}`,
    ambiguous: (listings) => `${listings} 중 하나일 수 있습니다. 코드를 입력하세요`,
    more: (count) => `외 ${count}개`,
    otherName: (name, code) => `코드 ${code} 옆에 "${name}"(이)라고 적혀 있지만 그 종목의 이름이 아닙니다`,
    comma: ', ',
    join: '; ',
    rest: (count) => `외 ${count}건`,
  },
}

const LONGEST_SHOWN = 40

type Rejection = { input: string; why: RejectionReason }

export function rejectionText({ input, why }: Rejection, language: Language): string {
  // JSON quoting, so that a control character in the entry is visible and harmless in a log or a page.
  const quoted = JSON.stringify(input.length > LONGEST_SHOWN ? `${input.slice(0, LONGEST_SHOWN)}…` : input)
  return `${quoted} ${reasonText(why, language)}`
}

const MAX_NAMED = 20

/** The sentences of several entries as one text. */
export function rejectionsText(rejected: readonly Rejection[], language: Language): string {
  const { join, rest } = REJECTION_TEXTS[language]
  const named = rejected.slice(0, MAX_NAMED).map((one) => rejectionText(one, language))
  return [...named, ...(rejected.length > MAX_NAMED ? [rest(rejected.length - MAX_NAMED)] : [])].join(join)
}

function reasonText(why: RejectionReason, language: Language): string {
  const texts = REJECTION_TEXTS[language]
  const namesOf = (meant: readonly Listing[]) => meant.map((one) => shown(one, language))
  const mayMean = (meant: readonly Listing[]) =>
    meant.length === 0 ? '' : texts.mayMean(namesOf(meant).join(texts.comma))
  switch (why.kind) {
    case 'too_long':
      return texts.tooLong(why.most)
    case 'wrong_exchange':
      return texts.wrongExchange(why.exchange, why.belongsTo)
    case 'no_share':
      return texts.noShare + (why.sixDigits === null ? '' : texts.seoul(why.sixDigits))
    case 'four_digits':
      return texts.fourDigits(why.digits)
    case 'character':
      return texts.character(describeCharacter(why.character))
    case 'letters_with_digits':
      return texts.mixed
    case 'not_found':
      return texts.notFound + mayMean(why.meant)
    case 'ambiguous': {
      const named = [...namesOf(why.meant), ...(why.more > 0 ? [texts.more(why.more)] : [])]
      return texts.ambiguous(named.join(texts.comma))
    }
    case 'other_name':
      return texts.otherName(why.name, why.code) + mayMean(why.meant)
  }
}

/**
 * The existing analysis page takes these digits anywhere in a message for the status of a network failure, and shows
 * that instead.
 */
const LIKE_A_FAILURE = /50[23]/

function shown(listing: Listing, language: Language): string {
  const name = nameIn(listing, language)
  return LIKE_A_FAILURE.test(listing.key) ? name : `${listing.key} (${name})`
}

function describeCharacter(character: string): string {
  const codePoint = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) ? `${character} (${codePoint})` : codePoint
}
