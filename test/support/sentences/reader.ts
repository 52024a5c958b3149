// Reads a number as it was written by the grammar of test/fixtures/sentences: the second computation beside the one that wrote it.

export type Read = {
  /** As written, with the sign that stands before it. */
  readonly value: number
  /** Half a unit of the last written digit. */
  readonly half: number
  /** What the currency beside it may be; empty where none is written. */
  readonly currencies: readonly string[]
  readonly isPercent: boolean
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹'

const CURRENCIES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/HK\$|HKD|港元|港币|홍콩달러|Hong Kong dollars/, ['HKD']],
  [/US\$|USD|美元|달러|US dollars|dollars|\$/, ['USD']],
  [/CNY|RMB|人民币|위안|yuan/, ['CNY']],
  [/KRW|₩|韩元|원|won/, ['KRW']],
  [/JPY|日元|엔|yen/, ['JPY']],
  [/[¥]/, ['CNY', 'JPY']],
  [/元|角/, ['CNY']],
]

const CHINESE = '零一二三四五六七八九'
const SIZES: Record<string, number> = { 十: 10, 百: 100, 千: 1000 }

function chineseWhole(text: string): number {
  const [high, low] = text.includes('万') ? text.split('万') : ['', text]
  const below = (part: string) => {
    let [sum, digit] = [0, 0]
    for (const sign of part) {
      const size = SIZES[sign]
      if (size === undefined) digit = sign === '两' ? 2 : CHINESE.indexOf(sign)
      else {
        sum += (digit === 0 ? 1 : digit) * size
        digit = 0
      }
    }
    return sum + digit
  }
  return below(high ?? '') * 10_000 + below(low ?? '')
}

type Plain = { readonly value: number; readonly half: number }

function chinese(text: string): Plain {
  const [whole = '', fraction = ''] = text.split('点')
  const digits = [...fraction].map((sign) => CHINESE.indexOf(sign)).join('')
  return { value: Number(`${chineseWhole(whole)}.${digits || '0'}`), half: 0.5 * 10 ** -digits.length }
}

const ENGLISH =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const ENGLISH_TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')

function english(text: string): Plain | null {
  const [first = '', second] = text.split('-')
  const tens = ENGLISH_TENS.indexOf(first)
  if (tens >= 0) return { value: (tens + 2) * 10 + (second === undefined ? 0 : ENGLISH.indexOf(second)), half: 0.5 }
  const value = ENGLISH.indexOf(first)
  return value < 0 ? null : { value, half: 0.5 }
}

const KOREAN = '영일이삼사오육칠팔구'

function korean(text: string): Plain {
  const [tens, ones] = text.includes('십') ? text.split('십') : ['', text]
  const ten = text.includes('십') ? (tens ? KOREAN.indexOf(tens) : 1) : 0
  return { value: ten * 10 + (ones ? KOREAN.indexOf(ones) : 0), half: 0.5 }
}

const SCALES: readonly (readonly [RegExp, number])[] = [
  [/^(万亿|조|trillion|tn)/, 1e12],
  [/^(billion|bn|B)/, 1e9],
  [/^(亿|억)/, 1e8],
  [/^(million|mn|m)/, 1e6],
  [/^(万|만)/, 1e4],
  [/^(thousand|k)/, 1e3],
]

function ascii(text: string): Plain | null {
  const man = text.match(/^(\d+)만 ?([\d,]+)/)
  if (man) return { value: Number(man[1]) * 10_000 + Number(man[2]?.replaceAll(',', '')), half: 0.5 }
  const match = text.match(/^([\d,]+)(?:\.(\d+))?\s*(.*)$/)
  if (!match) return null
  const fraction = match[2] ?? ''
  const head = Number(`${match[1]?.replaceAll(',', '')}.${fraction || '0'}`)
  const rest = match[3] ?? ''
  const power = rest.match(/^(?:[eE]\+?|[×x] ?10\^)(\d+)/)
  const scale = power ? 10 ** Number(power[1]) : (SCALES.find(([pattern]) => pattern.test(rest))?.[1] ?? 1)
  return { value: head * scale, half: 0.5 * 10 ** -fraction.length * scale }
}

const PARTS: readonly (readonly [RegExp, number])[] = [
  [/^(a fifth|5분의 1)$/, 20],
  [/^(a quarter|4분의 1)$/, 25],
  [/^(a third|3분의 1)$/, 100 / 3],
  [/^(half|절반)$/, 50],
  [/^(two thirds|3분의 2)$/, 200 / 3],
  [/^(three quarters|4분의 3)$/, 75],
]

/** 三成, 两成半, 사할, a third. */
function share(text: string): Plain | null {
  const part = PARTS.find(([pattern]) => pattern.test(text))
  if (part) return { value: part[1], half: 2 }
  const tenths = text.match(/^[近约]?(.)成(半)?$/)
  if (tenths) return { value: chineseWhole(tenths[1] ?? '') * 10 + (tenths[2] ? 5 : 0), half: tenths[2] ? 2.5 : 5 }
  const hal = text.match(/^(.)할$/)
  return hal ? { value: KOREAN.indexOf(hal[1] ?? '') * 10, half: 5 } : null
}

function size(text: string): Plain {
  const jiao = text.match(/^([零一二三四五六七八九十百千万]+)元(?:([一二三四五六七八九])角)?$/)
  if (jiao?.[2]) return { value: chineseWhole(jiao[1] ?? '') + CHINESE.indexOf(jiao[2]) / 10, half: 0.05 }
  const numeral = text.match(/^[零一二三四五六七八九十百千万点两]+/)?.[0]
  if (numeral !== undefined) {
    const scaled = numeral.match(/^(.*点.*?)(万)$/)
    const plain = chinese(scaled?.[1] ?? numeral)
    // 一千九百二十六万 is written to the ten thousand.
    if (!scaled && numeral.endsWith('万')) return { value: plain.value, half: 5000 }
    const rest = text.slice(numeral.length)
    const scale = scaled ? (rest.startsWith('亿') ? 1e12 : 1e4) : rest.startsWith('亿') ? 1e8 : 1
    return { value: plain.value * scale, half: plain.half * scale }
  }
  const found = ascii(text) ?? english(text.split(/ (?!-)/)[0] ?? '')
  return found ?? korean(text.match(/^[영일이삼사오육칠팔구십]+/)?.[0] ?? '')
}

export function readNumber(written: string): Read {
  const raised = written.replace(
    /[⁰¹²³⁴⁵⁶⁷⁸⁹]+/g,
    (run) => `^${[...run].map((sign) => SUPERSCRIPTS.indexOf(sign)).join('')}`,
  )
  const text = raised.normalize('NFKC').replaceAll('−', '-').trim()
  const currencies = CURRENCIES.find(([pattern]) => pattern.test(text))?.[1] ?? []
  const isPercent = /%|百分之|percent|per cent|퍼센트/.test(text)
  const isNegative = /^(-|负|minus |마이너스 )/.test(text)
  const bare = text
    .replace(/^(-|\+|负|minus |마이너스 )/, '')
    .replace(/^(HK\$|US\$|[A-Z]{3}|[¥$₩])\s*/, '')
    .replace(/^百分之/, '')
  const { value, half } = share(bare) ?? size(bare)
  return { value: isNegative ? -value : value, half, currencies, isPercent }
}

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec'
const two = (number: number | string) => String(number).padStart(2, '0')

/** `YYYY-MM-DD`, or `--MM-DD` without a year. */
export function readDate(written: string): string {
  const text = written.normalize('NFKC')
  const compact = text.match(/^(\d{4})(\d{2})(\d{2})$/)
  if (compact) return `${compact[1]}-${compact[2]}-${compact[3]}`
  const numerals = text.match(/^([〇一二三四五六七八九]{4})年(.+)月(.+)日$/)
  if (numerals) {
    const year = [...(numerals[1] ?? '')].map((sign) => '〇一二三四五六七八九'.indexOf(sign)).join('')
    return `${year}-${two(chineseWhole(numerals[2] ?? ''))}-${two(chineseWhole(numerals[3] ?? ''))}`
  }
  const name = text.match(/[A-Z][a-z]{2}/)?.[0]
  const numbers = (text.match(/\d+/g) ?? []).map(Number)
  const year = numbers.find((number) => number > 999)
  const small = numbers.filter((number) => number < 100)
  const month = name === undefined ? small[0] : MONTHS.indexOf(name) / 3 + 1
  const day = name === undefined ? small[1] : small[0]
  return `${year ?? '-'}-${two(month ?? 0)}-${two(day ?? 0)}`
}
