// Figures in their written forms, each with its unit, its currency and its tolerance.

import { type Finding, FULL_MARKS, type KnownFacts } from './known.ts'
import type { Mention } from './name-table.ts'
import { ENGLISH_WORD, eastAsianNumeral, englishNumeral, type Numeral } from './numerals.ts'
import { isNegated } from './states.ts'

export type FigureUnit = 'plain' | 'percent' | 'points' | 'times' | 'shares' | 'score' | 'sessions'

export type Figure = {
  readonly kind: 'figure'
  readonly at: number
  readonly end: number
  readonly value: number
  readonly half: number
  readonly unit: FigureUnit
  /** Its currency; empty when none is written. */
  readonly currencies: readonly string[]
  readonly isSigned: boolean
  readonly mode: 'exact' | 'about' | 'nearly' | 'over' | 'under'
  /** The other side of `2.1:1`. */
  readonly other: number | null
}

const SCALES: Record<string, number> = {
  ...{ 千亿: 1e11, 百亿: 1e10, 十亿: 1e9, 千万: 1e7, 百万: 1e6, 十万: 1e5 },
  ...{ 천억: 1e11, 백억: 1e10, 십억: 1e9, 천만: 1e7, 백만: 1e6, 십만: 1e5 },
  ...{ 万亿: 1e12, 兆: 1e12, 亿: 1e8, 億: 1e8, 万: 1e4, 萬: 1e4, 조: 1e12, 억: 1e8, 만: 1e4 },
  ...{ trillion: 1e12, billion: 1e9, million: 1e6, thousand: 1e3, tn: 1e12, bn: 1e9, mn: 1e6, b: 1e9, m: 1e6, k: 1e3 },
}

const BEFORE: readonly (readonly [RegExp, readonly string[]])[] = [
  [/HK\$\s?$|HKD\s?$/i, ['HKD']],
  [/(?:NT\$|TWD)\s?$/i, ['TWD']],
  [/US\$\s?$|USD\s?$/i, ['USD']],
  [/(?:RMB|CNY)\s?$/i, ['CNY']],
  [/(?:KRW|₩)\s?$/i, ['KRW']],
  [/JPY\s?$/i, ['JPY']],
  [/¥\s?$/, ['CNY', 'JPY']],
  [/\$\s?$/, ['USD']],
  [/€\s?$/, ['EUR']],
]
const AFTER: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^\s?(?:港元|港币|HKD|HK dollars|Hong Kong dollars|홍콩달러)/i, ['HKD']],
  [/^\s?(?:新?台[币幣]元?|TWD|NT dollars?|(?:New )?Taiwan dollars?|대만 ?달러)/i, ['TWD']],
  [/^\s?(?:美元|USD|US dollars|dollars|달러)/i, ['USD']],
  [/^\s?(?:日元|日圆|JPY|yen|엔)/i, ['JPY']],
  [/^\s?(?:韩元|韩圆|KRW|won|원)/i, ['KRW']],
  [/^\s?(?:元人民币|人民币|元|yuan|RMB|CNY|renminbi|위안)/i, ['CNY']],
]
/** A hundredth of a currency unit. */
const COINS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^\s?fen\b/i, ['CNY']],
  [/^\s?cents?\b/i, ['USD', 'HKD']],
]
const UNITS: readonly (readonly [RegExp, FigureUnit])[] = [
  [/^\s?(?:个?百分点|percentage points?|%\s?포인트|%p)/i, 'points'],
  [/^\s?(?:%|percent|per cent|퍼센트|프로)/i, 'percent'],
  [/^\s?(?:倍|times|x\b|배)/i, 'times'],
  [/^\s?(?:股|shares|주(?!일|간))/i, 'shares'],
  [/^\s?(?:分|점)/, 'score'],
]

const DIGITS = String.raw`(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\s?[eE][+-]?\d+|\s?[×x]\s?10\s?\^\s?\d+)?`
const SCALE_WORD = String.raw`(?:\s?(?:[十百千][万亿]|[십백천][만억]|万亿|兆|亿|億|万|萬|조|억|만|trillion|billion|million|thousand|tn|bn|mn)(?![a-z])|(?:[BMK])(?![A-Za-z]))`
const MONEY_SIGN = String.raw`(?:HK\$|US\$|[$¥₩€]|HKD|USD|RMB|CNY|KRW|JPY)\s?`
const ARABIC = `(?:(?:[-+±]|minus\\s|负|마이너스\\s?)\\s?)?(?:${MONEY_SIGN})?(?:[-+]\\s?)?${DIGITS}`
const ZH =
  '负?(?:[零〇一二两三四五六七八九十百千]+[万亿])*[零〇一二两三四五六七八九十百千]+(?:点[零〇一二三四五六七八九]+)?'
const KO = String.raw`(?:마이너스\s?)?[영일이삼사오육칠팔구십백천]+(?:점[영일이삼사오육칠팔구]+)?`
const ZH_UNIT = '元|倍|成|个?百分点|股|%|港[元币]|美元|日元|韩元|[万亿]'
const KO_UNIT =
  '위안|달러|홍콩달러|엔(?!터)|원|퍼센트|%|할|배|입니다|~|만주|만\\s?주|정도|안팎|가량|수준|으로|이상|이하|미만|초과'
const PATTERN = new RegExp(
  [
    `(?<zpct>负?百分之(?:负)?(?<zp>${ZH}))`,
    `(?<zyuan>(?<zy>${ZH})元(?<zj>[一二三四五六七八九])角(?:(?<zf>[一二三四五六七八九])分)?)`,
    `(?<tenths>(?<zt>[一二两三四五六七八九]|\\d)成(?!交|立|为|功|长|本|分)(?<zh>半)?)`,
    `(?<halves>(?<kt>[일이삼사오육칠팔구])할)`,
    '(?<zfrac>(?<zfd>[二三四五])分之(?<zfn>[一二三四]))',
    `(?<kfrac>(?<kfd>\\d|[이삼사오])분의 ?(?<kfn>\\d|[일이삼사]))`,
    `(?<efrac>\\b(?:(?<ew>a|one|two|three|four) (?<ed>quarter|third|fifth|half)s?\\b(?! of the)|(?<ehalf>(?<=(?:is|ratio of|by|about|some|gained) )half\\b)|two thirds))`,
    `(?<arabic>(?<![\\d.A-Za-z])${ARABIC}|(?<=\\n|^|[^A-Za-z\\d.])${DIGITS})(?<ascale>(?:${SCALE_WORD})?)`,
    `(?<chinese>${ZH}(?=(?:${ZH_UNIT})|$|[\\s。，,！!？;；~:、)]|至|到|上下|左右|前后))(?<cscale>(?:${SCALE_WORD})?)`,
    `(?<korean>(?<=^|[\\s:~(])(?!사이)${KO}(?=(?:\\s?(?:${KO_UNIT}))|$|[.,!]))(?<kscale>(?:만|억|조)?)`,
    `(?<english>\\b(?:minus )?${ENGLISH_WORD}(?:[- ](?:and )?${ENGLISH_WORD})*(?: point(?: ${ENGLISH_WORD})+)?\\b)`,
  ].join('|'),
  'gi',
)

const EN_PARTS: Record<string, number> = { quarter: 4, third: 3, fifth: 5, half: 2 }
const EN_COUNTS: Record<string, number> = { a: 1, one: 1, two: 2, three: 3, four: 4 }

type Groups = Record<string, string | undefined>
type Read = Numeral & { readonly unit?: FigureUnit; readonly isMoney?: boolean }

function readParts(g: Groups): Read | null {
  const percent = (value: number, half: number): Read => ({ value, half, unit: 'percent' })
  if (g.zpct) {
    const read = eastAsianNumeral(g.zp ?? '')
    return read && percent(/负/.test(g.zpct) ? -Math.abs(read.value) : read.value, read.half)
  }
  if (g.zyuan) {
    const value = (eastAsianNumeral(g.zy ?? '')?.value ?? 0) + (eastAsianNumeral(g.zj ?? '')?.value ?? 0) / 10
    const cent = eastAsianNumeral(g.zf ?? '')?.value
    return { value: value + (cent ?? 0) / 100, half: cent === undefined ? 0.05 : 0.005, isMoney: true }
  }
  if (g.tenths) {
    const tenth = /\d/.test(g.zt ?? '') ? Number(g.zt) : (eastAsianNumeral(g.zt ?? '')?.value ?? 0)
    return percent(10 * tenth + (g.zh ? 5 : 0), g.zh ? 2.5 : 5)
  }
  if (g.halves) return percent(10 * (eastAsianNumeral(g.kt ?? '')?.value ?? 0), 5)
  const [over, under] = [g.zfn ?? g.kfn, g.zfd ?? g.kfd]
  if (over && under) return percent((100 * smallOf(over)) / smallOf(under), 2)
  if (g.efrac) {
    if (g.ehalf) return percent(50, 2)
    const part = EN_PARTS[g.ed ?? 'third'] ?? 3
    return percent((100 * (EN_COUNTS[(g.ew ?? 'two').toLowerCase()] ?? 2)) / part, 2)
  }
  return null
}

const smallOf = (text: string) => (/\d/.test(text) ? Number(text) : (eastAsianNumeral(text)?.value ?? 1))

/** A hyphen after a figure connects it with the next one. */
const AFTER_FIGURE = /(?:[\d%元币원엔]|위안|달러|RMB|CNY|HKD|USD|KRW|JPY|yuan|won|yen)\s?$/i

function readNumber(g: Groups, isDash: boolean): Read | null {
  if (g.arabic) {
    const isNegative = !isDash && /-|minus|负|마이너스/i.test(g.arabic.replace(/[eE]-/, ''))
    const bare = g.arabic.replace(/^.*?(?=\d)/s, '').replaceAll(',', '')
    const [mantissa = '', exponent] = bare.split(/\s?[eE]|\s?[×x]\s?10\s?\^\s?/)
    const scale = 10 ** Number(exponent ?? 0) * (SCALES[(g.ascale ?? '').trim().toLowerCase()] ?? 1)
    const decimals = mantissa.split('.')[1]?.length ?? 0
    return { value: (isNegative ? -1 : 1) * Number(mantissa) * scale, half: (0.5 / 10 ** decimals) * scale }
  }
  const east = g.chinese ?? g.korean
  if (east) {
    const read = eastAsianNumeral(east)
    const scale = SCALES[(g.cscale || g.kscale || '').trim()] ?? 1
    return read && { value: read.value * scale, half: read.half * scale }
  }
  if (!g.english) return null
  const read = englishNumeral(g.english.replace(/^minus /i, ''))
  return read && { ...read, value: /^minus/i.test(g.english) ? -read.value : read.value }
}

/** Figures of the text outside the positions that are already used. */
export function figuresIn(text: string, isTaken: (at: number, end: number) => boolean): Figure[] {
  const hidden = hideTaken(text, isTaken)
  const found = [...hidden.matchAll(PATTERN)].flatMap((match) => {
    const groups: Groups = match.groups ?? {}
    const parts = readParts(groups)
    const read = parts ?? readNumber(groups, AFTER_FIGURE.test(hidden.slice(0, match.index)))
    return read === null
      ? []
      : [
          asGrowth(
            figureAt(hidden, { at: match.index, whole: match[0] }, read),
            text.slice(Math.max(0, match.index - 30), match.index),
          ),
        ]
  })
  return joined(found, hidden)
}

function hideTaken(text: string, isTaken: (at: number, end: number) => boolean): string {
  return [...Array(text.length).keys()].map((at) => (isTaken(at, at + 1) ? '\u0001' : text[at])).join('')
}

function figureAt(text: string, { at, whole }: { at: number; whole: string }, read: Read): Figure {
  const before = text.slice(Math.max(0, at - 24), at)
  const sign = /^(?:[-+±]\s?|minus\s|负|마이너스\s?)?/i.exec(whole)?.[0] ?? ''
  const inside = /(?:HK\$|US\$|[$¥₩€]|HKD|USD|RMB|CNY|KRW|JPY)/i.exec(whole)?.[0] ?? ''
  let end = at + whole.length
  const after = text.slice(end, end + 30)
  const coin = COINS.find(([pattern]) => pattern.test(after))
  const money = coin ?? AFTER.find(([pattern]) => pattern.test(after))
  const size = coin === undefined ? 1 : 0.01
  const unit = money ? undefined : UNITS.find(([pattern]) => pattern.test(after))
  end += money?.[0].exec(after)?.[0].length ?? unit?.[0].exec(after)?.[0].length ?? 0
  const front = BEFORE.find(([pattern]) => pattern.test(inside === '' ? before : inside))
  const currencies = read.isMoney ? ['CNY'] : (front?.[1] ?? money?.[1] ?? [])
  return {
    kind: 'figure',
    ...{ at, end, value: read.value * size, half: read.half * size, currencies, other: null },
    unit: read.unit ?? unit?.[1] ?? 'plain',
    isSigned: sign !== '' || /[-+]\s?\d/.test(whole),
    mode: modeOf(before.replace(/(?:HK\$|US\$|[$¥₩€]|HKD|USD|RMB|CNY|KRW|JPY)\s?$/i, ''), text.slice(end, end + 14)),
  }
}

function modeOf(before: string, after: string): Figure['mode'] {
  if (
    /(?:不到|不足|未及|(?:just )?under|less than|below)\s?$/i.test(before) ||
    /^\s?(?:미만|에 못 미|이하)/.test(after)
  )
    return 'under'
  if (
    /(?:超过?|逾|高达|more than|over|above)\s?$/i.test(before) ||
    /^\s?(?:有余|多(?!头)|以上|이상|초과|을 넘|를 넘|넘게)/.test(after)
  )
    return 'over'
  if (/(?:[接将]?近|nearly|almost|거의)\s?$/i.test(before) || /^\s?(?:에 육박|가까이)/.test(after)) return 'nearly'
  if (
    /(?:大?约|大概|about|around|near|close to|roughly|some|approximately|(?<![\d원안엔러元币]\s?)~|≈|약|대략)\s?$/i.test(
      before,
    )
  )
    return 'about'
  return /^\s?(?:左右|上下|前后|附近|or so|정도|안팎|가량|수준|내외|부근|근처)/.test(after) ? 'about' : 'exact'
}

/** 涨幅接近1.2倍 is 120 %; volume that grew by one time has doubled. */
function asGrowth(figure: Figure, before: string): Figure {
  if (figure.unit !== 'times' || figure.currencies.length > 0) return figure
  if (/(?:涨幅|涨了|上涨|累计涨)(?:接近|超过|约|达到?|近|为|了)*\s?$/.test(before))
    return { ...figure, unit: 'percent', value: figure.value * 100, half: figure.half * 100 }
  if (/量[^，。]{0,14}(?:放大|增加|增长)(?:了|接近|超过|约|近)*\s?$/.test(before))
    return { ...figure, value: figure.value + 1 }
  return figure
}

const isHigherPart = ({ end, unit, currencies }: Figure, text: string) =>
  unit === 'plain' && currencies.length === 0 && /[万亿만억조]/.test(text[end - 1] ?? '')

const isRatio = (a: Figure, b: Figure) =>
  a.other === null &&
  [a, b].every(({ unit, currencies }) => unit === 'plain' && currencies.length === 0) &&
  (a.value === 1 || b.value === 1)

/** `2.1:1` is one figure, and so is `7조 5,600억`. */
function joined(figures: readonly Figure[], text: string): Figure[] {
  const out: Figure[] = []
  for (const figure of figures) {
    const last = out.at(-1)
    const between = last ? text.slice(last.end, figure.at) : ''
    if (last && /^\s?(?::|比|대|to)\s?$/i.test(between) && isRatio(last, figure)) {
      out[out.length - 1] = { ...last, end: figure.end, other: figure.value }
    } else if (last && /^\s?$/.test(between) && isHigherPart(last, text) && figure.value < last.half * 2) {
      out[out.length - 1] = {
        ...figure,
        at: last.at,
        value: last.value + figure.value,
        mode: figure.mode === 'exact' ? last.mode : figure.mode,
      }
    } else out.push(figure)
  }
  return out
}

// Numbers that are not claims of their own: numbers within words, maximum points, limits, and thresholds of an
// oscillator.

export function clauseAround(text: string, { at, end }: { at: number; end: number }): string {
  const before =
    text
      .slice(0, at)
      .split(/[;；。\n，]|,(?!\s?20\d\d|\d)/)
      .at(-1) ?? ''
  return before + (text.slice(end).split(/[;；。\n，]|, /)[0] ?? '')
}

// Words with a number that claim nothing: a first, one of, 52 weeks, some sessions.
export function isNoFigure(text: string, { at, end, unit, value }: Figure): boolean {
  const [before, after] = [text.slice(Math.max(0, at - 8), at), text.slice(end, end + 16)]
  if (unit === 'shares' && value === 52) return true
  if (value === 100 && (/(?:out of |满分|\/\s?)$/i.test(before) || /^\s?(?:점|分)?(?: 만점|满分)|^ 만점/.test(after)))
    return true
  if (unit === 'score' && value === 100 && /^ 만점/.test(after)) return true
  if (/^zero$/i.test(text.slice(at, end)) || /\b(?:first|last) $/i.test(before)) return true
  if (
    unit === 'plain' &&
    /^[- ]?(?:(?:up|down) days|weeks?|days?|sessions?|months?|years?|-day|-week|nm|cm|周|日|天|个?交易日|个月|거래일|주(?=\s|간)|일|개월|条|句|根|个|家|位|种|项)/i.test(
      after,
    )
  )
    return true
  if (/(?:第|20)$/.test(before) || (/^[一두한]$|^one$/i.test(text.slice(at, end)) && unit === 'plain')) return true
  return unit === 'plain' && (/MA$/i.test(before) || /^(?:선|线)/.test(after)) && value < 300
}

/** The maximum points of a part of the score after its own points: 20 of 30, 满分30分. */
export function isFullMark(text: string, { at, end, value, unit }: Figure, mentions: readonly Mention[]): boolean {
  if (unit !== 'plain' && unit !== 'score') return false
  const part = mentions.findLast((mention) => mention.at < at)?.facts[0] ?? mentions[0]?.facts[0]
  if (part === undefined || FULL_MARKS[part] !== value) return false
  const before = text.slice(Math.max(0, at - 12), at)
  return (
    /(?:out of |\bof |满分(?:为|是)?\s?|\/\s?|만점(?:은|이)? ?)$/i.test(before) ||
    /^(?:점|分)? ?만점|^分?满分/.test(text.slice(end))
  )
}

/** A 20 % limit-down: the size of the limit, which the state decides. */
export const isLimit = (text: string, { end, unit, value }: Figure, { limitPct }: KnownFacts) =>
  unit === 'percent' &&
  value === limitPct &&
  /^\s?(?:的?[涨跌]停|limit[- ](?:up|down)|[상하]한가)/i.test(text.slice(end))

export function isThreshold(text: string, figure: Figure, mentions: readonly Mention[]): boolean {
  if (figure.value !== 70 && figure.value !== 30) return false
  return (
    mentions.some(({ facts }) => facts[0]?.startsWith('rsi')) &&
    /超|过|overb|overs|above|below|과매|넘|밑돌|[高低]于|[以之][上下]/i.test(text) &&
    figure.unit === 'plain'
  )
}

export type Mark = { readonly figure: Figure; readonly finding: Finding }

const OSCILLATES = /^(?:rsi\d+|k|d|j|score)$/
const IF = /\bif\b|would|could|when|如果|若|一旦|即|如能|[으]?면 |경우/i

/** Thresholds of an oscillator: RSI12 above the neutral 50. */
export function thresholds(
  figures: readonly Figure[],
  { text, mentions, known }: { text: string; mentions: readonly Mention[]; known: KnownFacts },
): Mark[] {
  return figures.flatMap((figure): Mark[] => {
    const { at, end, value, unit, currencies } = figure
    const fact = mentions.findLast((mention) => mention.at < at)?.facts[0]
    if (fact === undefined || !OSCILLATES.test(fact) || value % 10 !== 0 || currencies.length > 0) return []
    if (unit !== 'plain' && unit !== 'score') return []
    const before = text.slice(Math.max(0, at - 26), at)
    const after = text.slice(end, end + 16)
    const isAbove =
      /(?:above|over|past|exceeds?|higher than|高于|超过|[高大]过|[升站]上)\s?(?:the )?(?:neutral |overbought |midline )?(?:(?:mark|line|level) of )?$/i.test(
        before,
      ) || /^(?:선|점|선)?[을를이]? ?(?:웃|넘|상회|위)|^(?:以上|之上|上方|보다 높)/.test(after)
    const isBelow =
      /(?:below|under|beneath|lower than|低于|跌破|不到|[低小]于)\s?(?:the )?(?:neutral |oversold |midline )?(?:(?:mark|line|level) of )?$/i.test(
        before,
      ) || /^(?:선|점)?[을를이]? ?(?:밑|하회|아래)|^(?:以下|之下|下方|보다 낮)/.test(after)
    const clause = clauseAround(text, figure)
    const held = known.values[fact]
    if (isAbove === isBelow || IF.test(clause)) return []
    if (held === null) return [{ figure, finding: false }]
    return [{ figure, finding: (isAbove ? held > value : held < value) !== isNegated(clause) }]
  })
}
