// Numbers as words: Chinese, Korean and English.

const CHINESE: Record<string, number> = {
  零: 0,
  〇: 0,
  一: 1,
  二: 2,
  两: 2,
  三: 3,
  四: 4,
  五: 5,
  六: 6,
  七: 7,
  八: 8,
  九: 9,
}
const KOREAN: Record<string, number> = { 영: 0, 일: 1, 이: 2, 삼: 3, 사: 4, 오: 5, 육: 6, 칠: 7, 팔: 8, 구: 9 }
const DIGITS: Record<string, number> = { ...CHINESE, ...KOREAN }
const TENS: Record<string, number> = { 十: 10, 百: 100, 千: 1000, 십: 10, 백: 100, 천: 1000 }
const MYRIADS: Record<string, number> = { 万: 1e4, 亿: 1e8, 만: 1e4, 억: 1e8, 조: 1e12 }

export type Numeral = { readonly value: number; readonly half: number }

/** A number in Chinese or Korean characters; null when they are not a number. */
export function eastAsianNumeral(text: string): Numeral | null {
  const isNegative = /^负|^마이너스/.test(text)
  const [whole = '', fraction] = text.replace(/^负|^마이너스\s?/, '').split(/[点점]/)
  const value = wholeOf(whole)
  if (value === null) return null
  const digits = [...(fraction ?? '')].map((char) => DIGITS[char])
  if (digits.some((digit) => digit === undefined)) return null
  const places = digits.reduce((sum: number, digit, i) => sum + (digit ?? 0) / 10 ** (i + 1), 0)
  return { value: (isNegative ? -1 : 1) * (value + places), half: 0.5 / 10 ** digits.length }
}

/** 八万二 is 82,000: a last digit directly after a unit of a hundred or more counts tenths of it. */
function shortTail(chars: readonly string[]): number | null {
  const [unit, digit] = [chars.at(-2) ?? '', CHINESE[chars.at(-1) ?? '']]
  const size = '百千万亿'.includes(unit) ? (TENS[unit] ?? MYRIADS[unit]) : undefined
  const head = size === undefined || digit === undefined ? null : wholeOf(chars.slice(0, -1).join(''))
  return head === null || size === undefined || digit === undefined ? null : head + (digit * size) / 10
}

function wholeOf(text: string): number | null {
  if (text === '') return null
  const chars = [...text]
  if (chars.length > 1 && chars.every((char) => DIGITS[char] !== undefined)) {
    return chars.reduce((sum, char) => sum * 10 + (DIGITS[char] ?? 0), 0)
  }
  const short = shortTail(chars)
  if (short !== null) return short
  let total = 0
  let section = 0
  let digit: number | null = null
  for (const char of chars) {
    const ten = TENS[char]
    const myriad = MYRIADS[char]
    if (ten !== undefined) section += (digit ?? 1) * ten
    else if (myriad !== undefined) {
      total += (section + (digit ?? 0) || 1) * myriad
      section = 0
    } else if (DIGITS[char] === undefined) return null
    digit = ten === undefined && myriad === undefined ? (DIGITS[char] ?? null) : null
  }
  return total + section + (digit ?? 0)
}

const ENGLISH: Record<string, number> = Object.fromEntries(
  [
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen',
    'eighteen nineteen',
  ]
    .join(' ')
    .split(' ')
    .map((word, i) => [word, i]),
)
const ENGLISH_TENS: Record<string, number> = Object.fromEntries(
  'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ').map((word, i) => [word, 20 + 10 * i]),
)

export const ENGLISH_WORD = `(?:${[...Object.keys(ENGLISH_TENS), ...Object.keys(ENGLISH).reverse(), 'hundred', 'thousand', 'million', 'billion'].join('|')})`

export function englishNumeral(text: string): Numeral | null {
  const [whole = '', fraction] = text.toLowerCase().split(/\s+point\s+/)
  let total = 0
  let section = 0
  for (const word of whole.split(/[\s-]+/)) {
    const scale = { thousand: 1e3, million: 1e6, billion: 1e9 }[word]
    if (word === 'and' || word === '') continue
    if (word === 'hundred') section = (section || 1) * 100
    else if (scale !== undefined) {
      total += (section || 1) * scale
      section = 0
    } else {
      const value = ENGLISH[word] ?? ENGLISH_TENS[word]
      if (value === undefined) return null
      section += value
    }
  }
  const digits = (fraction ?? '').split(/\s+/).filter((word) => word !== '')
  const places = digits.reduce((sum, word, i) => sum + (ENGLISH[word] ?? 0) / 10 ** (i + 1), 0)
  return { value: total + section + places, half: 0.5 / 10 ** digits.length }
}

const SMALL: Record<string, number> = { 하루: 1, 이틀: 2, 사흘: 3, 나흘: 4, 닷새: 5, 한: 1, 두: 2, 세: 3, 네: 4 }

/** A small count in digits or words of any of the languages. */
export function countOf(text: string): number | null {
  const bare = text.trim().toLowerCase()
  if (/^\d+$/.test(bare)) return Number(bare)
  return SMALL[bare] ?? eastAsianNumeral(bare)?.value ?? englishNumeral(bare)?.value ?? null
}
