// Every figure that a model writes is looked up in the data that it was given. One that names its subject wrongly is put
// right; one that nobody gave it takes its sentence with it.

import { fixed } from '../texts/format.ts'
import { sentencesIn } from './sentences.ts'

/** A figure that was given to the model. */
export type KnownFigure = { value: number; isPercent: boolean }

/** A figure that texts name, such as `MA20 12.30`. */
export type NamedFigure = { names: readonly string[]; value: number; decimals: number; isPercent: boolean }

export type KnownFigures = {
  figures: readonly KnownFigure[]
  named: readonly NamedFigure[]
  /** Days that the data tell of, `YYYY-MM-DD`. */
  dates: ReadonlySet<string>
  /** Words with digits that are no figures: codes and names. */
  words: readonly string[]
}

export type FigureCounts = { checked: number; matched: number; corrected: number; struck: number }

export const NO_FIGURES: FigureCounts = { checked: 0, matched: 0, corrected: 0, struck: 0 }

export function addCounts(a: FigureCounts, b: FigureCounts): FigureCounts {
  return {
    checked: a.checked + b.checked,
    matched: a.matched + b.matched,
    corrected: a.corrected + b.corrected,
    struck: a.struck + b.struck,
  }
}

/** The text with wrong figures put right or struck, and how many of each there were. */
export function checkFigures(text: string, known: KnownFigures): { text: string; counts: FigureCounts } {
  let counts = NO_FIGURES
  const kept = sentencesIn(text).map((sentence) => {
    const checked = checkSentence(sentence, known)
    counts = addCounts(counts, checked.counts)
    return checked.text
  })
  return { text: kept.join('').trim(), counts }
}

const NUMBER = /(?<![\w.])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w*\d)/g

function checkSentence(sentence: string, known: KnownFigures): { text: string; counts: FigureCounts } {
  const { text, corrected } = correctNamed(sentence, known)
  const quoted = [...mask(text, known).matchAll(NUMBER)]
  const wrong = quoted.filter((match) => !isKnown(figureAt(text, match.index, match[0]), known)).length
  const checked = quoted.length
  if (wrong > 0) return { text: '', counts: { checked, matched: checked - wrong, corrected: 0, struck: wrong } }
  return { text, counts: { checked, matched: checked - corrected, corrected, struck: 0 } }
}

type Quoted = {
  value: number
  /** Half of the last digit that was written, in the figure's own scale. */
  tolerance: number
  isPercent: boolean
  /** What the words before it say of its sign; 0 for nothing. */
  direction: -1 | 0 | 1
}

const SCALES: [RegExp, number][] = [
  [/^\s?(万亿|兆)/, 1e12],
  [/^\s?(조)/, 1e12],
  [/^\s?(亿|億|억)/, 1e8],
  [/^\s?(万|萬|만)/, 1e4],
  [/^\s?(trillion)\b|^T\b/i, 1e12],
  [/^\s?(billion|bn)\b|^B\b/i, 1e9],
  [/^\s?(million|mn)\b|^M\b/i, 1e6],
  [/^\s?(thousand)\b|^K\b/i, 1e3],
]
const PERCENT = /^\s?(%|％|percent|个百分点|퍼센트)/i
const ABOUT = /(约|大约|接近|近|about|around|roughly|nearly|some|약)\s*$/i
const ABOUT_SHARE = 0.01
const RISING =
  /(上涨|涨幅?|上升|增长|同比增|高于|rose|rise|rises|up|gain(?:ed|s)?|grew|growth of|상승|증가)\s*(?:了|约|by|of|about)?\s*$/i
const FALLING =
  /(下跌|跌幅?|下降|下滑|减少|低于|fell|fall|falls|down|lost|declined|shrank|하락|감소)\s*(?:了|约|by|of|about)?\s*$/i

function figureAt(text: string, index: number, digits: string): Quoted {
  const before = text.slice(Math.max(0, index - 16), index)
  const after = text.slice(index + digits.length)
  const plain = digits.replaceAll(',', '').replace('−', '-')
  const scale = SCALES.find(([pattern]) => pattern.test(after))?.[1] ?? 1
  const decimals = plain.split('.')[1]?.length ?? 0
  const value = Number(plain) * scale
  const written = 0.5 * 10 ** -decimals * scale * (1 + 1e-9)
  const tolerance = ABOUT.test(before) ? Math.max(written, Math.abs(value) * ABOUT_SHARE) : written
  const direction = /^[-+]/.test(plain) ? 0 : RISING.test(before) ? 1 : FALLING.test(before) ? -1 : 0
  return { value, tolerance, isPercent: PERCENT.test(after), direction }
}

function isKnown(quoted: Quoted, { figures }: KnownFigures): boolean {
  const { value, tolerance, isPercent, direction } = quoted
  return figures.some((figure) => {
    if (isPercent && !figure.isPercent) return false
    // Without a sign of its own a figure is told by size; a word for its direction must then fit.
    const isNear = Math.abs(figure.value - value) <= tolerance || Math.abs(Math.abs(figure.value) - value) <= tolerance
    return isNear && (direction === 0 || figure.value === 0 || Math.sign(figure.value) === direction || !isPercent)
  })
}

const LINK = '(?:\\s|为|是|在|于|至|报|约|价|位|：|:|=|is|at|of|stands|은|는|이|가|,|，|\\(|（){0,6}'

/** Figures under a name that is another figure's are replaced by the right one. */
function correctNamed(sentence: string, { named }: KnownFigures): { text: string; corrected: number } {
  let corrected = 0
  let text = sentence
  for (const figure of named) {
    for (const name of figure.names) {
      const pattern = new RegExp(`(${escaped(name)})(${LINK})([-+−]?\\d[\\d,]*(?:\\.\\d+)?)(?!\\.?\\d|[日天周-])`, 'gi')
      text = text.replace(pattern, (whole, label: string, link: string, digits: string, offset: number) => {
        const after = text.slice(offset + whole.length)
        if (
          /[A-Za-z0-9]$/.test(text.slice(Math.max(0, offset - 1), offset)) ||
          SCALES.some(([unit]) => unit.test(after))
        )
          return whole
        const quoted = figureAt(text, offset + label.length + link.length, digits)
        if (quoted.isPercent !== figure.isPercent) return whole
        if (Math.abs(quoted.value - figure.value) <= quoted.tolerance) return whole
        corrected += 1
        return `${label}${link}${fixed(figure.value, figure.decimals)}`
      })
    }
  }
  return { text, corrected }
}

const escaped = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const PERIODS = '(?:1|3|5|6|9|10|12|14|20|24|26|30|52|60|90|120|250)'
// What has digits and is no figure: names of indicators, of periods, of list items.
const NAMES = [
  new RegExp(`(?:S?MA|EMA|RSI|ATR|BIAS|WR|CCI|OBV|VOL|DMI)\\s?\\(?${PERIODS}\\)?(?![\\d.%])`, 'gi'),
  new RegExp(
    `(?<!\\d)${PERIODS}\\s?(?:日|天|周|週|일|주)(?:均线|均線|线|線|移动平均|高点|低点|新高|新低|最高|最低|涨跌|区间|이동평균|최고|최저|선|신고가|신저가|평균)`,
    'g',
  ),
  new RegExp(
    `(?<!\\d)${PERIODS}[- ](?:day|week|session|bar)s?\\b(?=.{0,12}(?:average|high|low|range|line|MA|mean))`,
    'gi',
  ),
  /52\s?(?:周|週|주)|52-week/gi,
  /\b(?:MACD|KDJ)\s?\(\d+(?:[,/ ]+\d+)*\)/gi,
  /^\s*(?:\d{1,2}[.)、]|[（(]\d{1,2}[)）])(?:\s|$)/g,
  /\bQ[1-4]\b|\bH[12]\b|第[1-4]季度/gi,
]
const FULL_DATE = /(?<!\d)(20\d\d)[-/.年](\d{1,2})[-/.月](\d{1,2})日?(?!\d)/g
const MONTH_DAY = /(?<!\d)(\d{1,2})月(\d{1,2})日/g
const YEAR = /(?<![\d.])(20\d\d)(?=\s?(?:年|년)|Q[1-4]|\s(?:annual|results|report|fiscal))/g

/** The text with what is no figure blanked out, each in its place. */
function mask(text: string, { words, dates }: KnownFigures): string {
  const blank = (whole: string) => ' '.repeat(whole.length)
  let masked = text
  for (const word of words) masked = masked.replaceAll(word, blank)
  for (const pattern of NAMES) masked = masked.replace(pattern, blank)
  const isTold = (year: string | null, month: string, day: string) => {
    const end = `-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
    return year === null ? [...dates].some((date) => date.endsWith(end)) : dates.has(`${year}${end}`)
  }
  return masked
    .replace(FULL_DATE, (whole, year: string, month: string, day: string) =>
      isTold(year, month, day) ? blank(whole) : whole,
    )
    .replace(MONTH_DAY, (whole, month: string, day: string) => (isTold(null, month, day) ? blank(whole) : whole))
    .replace(YEAR, (whole, year: string) => ([...dates].some((date) => date.startsWith(year)) ? blank(whole) : whole))
}
