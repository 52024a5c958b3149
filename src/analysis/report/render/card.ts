// The card of a report as SVG, to be rendered as a picture: its advice, its score, the last closes with the levels, and
// the beginning of its summary. It needs no script and loads nothing; it uses the one font with which pictures are
// rendered.

import { z } from 'zod'
import { parseCode } from '../../../market/instruments.ts'
import type { AnalysisReport } from '../../schemas.ts'
import { textsOf } from '../../texts/book.ts'
import { fixed, signedPct } from '../../texts/format.ts'
import { checkLines, hasScore } from '../consistency.ts'
import { storedBars, storedLevels } from './html.ts'
import { escapeHtml } from './markdown-text.ts'
import { reportView } from './view.ts'

export const CARD_FONT = 'Noto Sans CJK SC'
export const CARD_WIDTH = 1080
export const CARD_HEIGHT = 1350

export type CardTheme = 'light' | 'dark'

const COLORS = {
  light: { page: '#f4f5f8', card: '#ffffff', ink: '#171b26', muted: '#5b6478', line: '#e1e4ec', accent: '#2f5bd7' },
  dark: { page: '#0d1017', card: '#161b26', ink: '#eef1f7', muted: '#9aa5bb', line: '#2a3244', accent: '#86a8ff' },
} as const
const MOVES = { light: { red: '#c22f2f', green: '#1f7a4d' }, dark: { red: '#ff7d7d', green: '#5fd39a' } } as const
type Colors = (typeof COLORS)[CardTheme] & { rise: string; fall: string; warn: string }

const LEFT = 88
const RIGHT = CARD_WIDTH - 88
const LINE = 45
const CLOSES = 90

/** `review`: the structured form of a market review. */
export function renderCard(report: AnalysisReport, theme: CardTheme, review: unknown = null): string {
  const markets = marketsOf(review)
  const colors = colorsOf(report, theme, markets)
  const body =
    report.meta.report_type === 'market_review' ? reviewBody(report, markets, colors) : stockBody(report, colors)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${CARD_WIDTH}" height="${CARD_HEIGHT}" viewBox="0 0 ${CARD_WIDTH} ${CARD_HEIGHT}" font-family="${CARD_FONT}">`,
    `<rect width="${CARD_WIDTH}" height="${CARD_HEIGHT}" fill="${colors.page}"/>`,
    `<rect x="40" y="40" width="${CARD_WIDTH - 80}" height="${CARD_HEIGHT - 80}" rx="36" fill="${colors.card}" stroke="${colors.line}" stroke-width="2"/>`,
    ...heading(report, colors),
    ...body,
    ...footer(report, colors),
    '</svg>',
  ].join('\n')
}

const stockBody = (report: AnalysisReport, colors: Colors): string[] => [
  ...verdict(report, colors),
  ...chart(report, colors),
  ...levels(report, colors),
  ...paragraph(report, 920, colors),
]

function colorsOf({ meta }: AnalysisReport, theme: CardTheme, markets: readonly ReviewedMarket[]): Colors {
  const parsed = parseCode(meta.stock_code)
  const { red, green } = MOVES[theme]
  const isRedMarket = parsed.ok && ['cn', 'tw', 'jp', 'kr'].includes(parsed.instrument.market)
  const risesRed = isRedMarket || markets.some(({ color_scheme }) => color_scheme === 'red_up')
  const moves = risesRed ? { rise: red, fall: green } : { rise: green, fall: red }
  return { ...COLORS[theme], ...moves, warn: theme === 'light' ? '#8a5a00' : '#f0b95a' }
}

type Style = { size: number; fill: string; anchor?: 'start' | 'middle' | 'end'; weight?: 'bold' }

/** Without characters that change the text direction, are invisible, or are invalid in XML. */
const visible = (text: string): string =>
  text
    .replace(/[\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu, '')
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .trim()

/** A thicker stroke replaces a bold font, so that only one font must be loaded. */
function label(x: number, y: number, text: string, { size, fill, anchor = 'start', weight }: Style): string {
  const stroke = weight === 'bold' ? ` stroke="${fill}" stroke-width="${size / 36}"` : ''
  return `<text x="${x}" y="${y}" font-size="${size}" fill="${fill}" text-anchor="${anchor}"${stroke}>${escapeHtml(visible(text))}</text>`
}

/** Approximately the width in the font: East Asian characters are as wide as they are high. */
const widthOf = (text: string, size: number): number =>
  [...text].reduce(
    (sum, character) => sum + (/[\u1100-\u11ff\u2e80-\uffef]|[\u{20000}-\u{3ffff}]/u.test(character) ? 1 : 0.53),
    0,
  ) * size

/** A unit that is not split: Latin letters or Korean syllables, with the punctuation and the blank after it. */
const PIECES = /[\w\p{Script=Hangul}.,;!?%+\-–/:~()$€¥&'’"]+\s*|\s+|./gu

/** The text, or its beginning, in at most this many lines; words and numbers are not split. */
function wrapped(text: string, { size, width, most }: { size: number; width: number; most: number }): string[] {
  const pieces = visible(text).match(PIECES) ?? []
  const lines: string[] = ['']
  for (const piece of pieces) {
    const line = lines.at(-1) ?? ''
    const isMark = /^[，。、；：！？）】》”’]/.test(piece)
    if (line !== '' && !isMark && widthOf(`${line}${piece}`.trimEnd(), size) > width) lines.push(piece.trimStart())
    else lines[lines.length - 1] = line + piece
  }
  const shown = lines.filter((line) => line.trim() !== '')
  if (shown.length <= most) return shown
  return [...shown.slice(0, most - 1), shortened(shown[most - 1] ?? '')]
}

/** Without its last word, or its last two characters in scripts without blanks. */
function shortened(line: string): string {
  const whole = line.trimEnd()
  const withoutWord = whole.replace(/\s[\w\p{Script=Hangul}.,;%+\-–/:~()]+$/u, '')
  return `${(withoutWord === whole ? [...whole].slice(0, -2).join('') : withoutWord).trimEnd()}…`
}

/** One line in a smaller size if it would be too wide, and cut if the size would be too small. */
function fitted(text: string, { size, width }: { size: number; width: number }): { line: string; size: number } {
  const smallest = size / 2
  const fits = Math.floor((size * width) / Math.max(width, widthOf(visible(text), size)))
  if (fits >= smallest) return { line: text, size: fits }
  return { line: wrapped(text, { size: smallest, width, most: 1 })[0] ?? '', size: smallest }
}

function heading({ meta }: AnalysisReport, colors: Colors): string[] {
  const name = meta.stock_name ?? meta.stock_code
  const title = fitted(name, { size: 60, width: RIGHT - LEFT })
  const date = meta.created_at.slice(0, 10)
  const beside =
    name === meta.stock_code || meta.report_type === 'market_review' ? date : `${meta.stock_code}  ·  ${date}`
  return [
    label(LEFT, 150, title.line, { size: title.size, fill: colors.ink, weight: 'bold' }),
    label(LEFT, 204, beside, { size: 30, fill: colors.muted }),
    `<line x1="${LEFT}" x2="${RIGHT}" y1="240" y2="240" stroke="${colors.line}" stroke-width="2"/>`,
  ]
}

/** The advice, the price, and the score in its ring. */
function verdict(report: AnalysisReport, colors: Colors): string[] {
  const { meta, summary } = report
  const texts = textsOf(meta.report_language)
  const { decimals } = reportView(report)
  const isGood = summary.action === 'buy' || summary.action === 'add'
  const isBad = summary.action === 'sell' || summary.action === 'reduce' || summary.action === 'avoid'
  const tone = isGood ? colors.rise : isBad ? colors.fall : colors.accent
  const price = meta.current_price === null ? null : fixed(meta.current_price, decimals)
  const change = meta.change_pct
  const moved = change === null || change === 0 ? colors.muted : change > 0 ? colors.rise : colors.fall
  const advice = fitted(summary.action_label ?? summary.operation_advice, { size: 76, width: 620 })
  return [
    label(LEFT, 352, advice.line, { size: advice.size, fill: tone, weight: 'bold' }),
    ...(price === null ? [] : [label(LEFT, 430, price, { size: 44, fill: colors.ink })]),
    ...(price === null || change === null
      ? []
      : [label(LEFT + widthOf(price, 44) + 28, 430, signedPct(change), { size: 36, fill: moved })]),
    ...ring(hasScore(report) ? summary.sentiment_score : null, { colors, tone, none: texts.consistency.noScore }),
  ]
}

const [RING_X, RING_Y, RING] = [880, 360, 92]

function ring(score: number | null, { colors, tone, none }: { colors: Colors; tone: string; none: string }): string[] {
  const around = 2 * Math.PI * RING
  const circle = (stroke: string, dash: string) =>
    `<circle cx="${RING_X}" cy="${RING_Y}" r="${RING}" fill="none" stroke="${stroke}" stroke-width="18"${dash}/>`
  if (score === null) {
    const lines = wrapped(none, { size: 28, width: 2 * RING - 30, most: 3 })
    const top = RING_Y + 10 - ((lines.length - 1) * 34) / 2
    const style = { size: 28, fill: colors.muted, anchor: 'middle' } as const
    return [circle(colors.line, ''), ...lines.map((line, i) => label(RING_X, top + i * 34, line, style))]
  }
  const dash = ` stroke-dasharray="${((score / 100) * around).toFixed(1)} ${around.toFixed(1)}" transform="rotate(-90 ${RING_X} ${RING_Y})"`
  return [
    circle(colors.line, ''),
    circle(tone, dash),
    label(RING_X, RING_Y + 16, String(score), { size: 64, fill: colors.ink, anchor: 'middle', weight: 'bold' }),
    label(RING_X, RING_Y + 52, '/ 100', { size: 24, fill: colors.muted, anchor: 'middle' }),
  ]
}

const [CHART_TOP, CHART_BOTTOM] = [500, 740]

/** The last closes as a line, with the levels as horizontal lines. */
function chart(report: AnalysisReport, colors: Colors): string[] {
  const closes = storedBars(report)
    .slice(-CLOSES)
    .map(({ close }) => close)
  if (closes.length < 2) return []
  const all = [...closes, ...storedLevels(report).map(({ price }) => price)]
  const [low, high] = [Math.min(...all), Math.max(...all)]
  const x = (i: number) => LEFT + (i / (closes.length - 1)) * (RIGHT - LEFT)
  const y = (price: number) => CHART_BOTTOM - ((price - low) / (high - low || 1)) * (CHART_BOTTOM - CHART_TOP)
  const points = closes.map((close, i) => `${x(i).toFixed(1)},${y(close).toFixed(1)}`).join(' ')
  const across = storedLevels(report).map(({ key, price }) => {
    const stroke = key === 'stop_loss' ? colors.fall : key === 'take_profit' ? colors.rise : colors.accent
    const at = y(price).toFixed(1)
    return `<line x1="${LEFT}" x2="${RIGHT}" y1="${at}" y2="${at}" stroke="${stroke}" stroke-width="2" stroke-dasharray="4 8"/>`
  })
  return [
    ...across,
    `<polyline points="${points}" fill="none" stroke="${colors.ink}" stroke-width="4" stroke-linejoin="round" stroke-linecap="round"/>`,
  ]
}

/** The levels by name, in a row. */
function levels(report: AnalysisReport, colors: Colors): string[] {
  const shown = storedLevels(report).slice(0, 4)
  const { level: names } = textsOf(report.meta.report_language).report
  const { decimals } = reportView(report)
  const step = (RIGHT - LEFT) / 4
  return shown.flatMap(({ key, price }, i) => [
    label(LEFT + i * step, 806, names[key], { size: 26, fill: colors.muted }),
    label(LEFT + i * step, 852, fixed(price, decimals), { size: 36, fill: colors.ink }),
  ])
}

function paragraph(report: AnalysisReport, top: number, colors: Colors): string[] {
  const bottom = warningOf(report) === '' ? 1226 : 1186
  const most = Math.floor((bottom - top) / LINE) + 1
  const lines = wrapped(summaryOf(report), { size: 30, width: RIGHT - LEFT, most })
  return lines.map((line, i) => label(LEFT, top + i * LINE, line.trim(), { size: 30, fill: colors.ink }))
}

const isReview = ({ meta }: AnalysisReport): boolean => meta.report_type === 'market_review'

/** A review's summary begins with a notice about its figures, which the card shows at its bottom. */
const summaryOf = (report: AnalysisReport): string =>
  isReview(report)
    ? report.summary.analysis_summary.replace(report.meta.data_checks ?? '', '')
    : report.summary.analysis_summary

function warningOf(report: AnalysisReport): string {
  const { data_notice, data_checks } = report.meta
  const checks = isReview(report) ? [data_checks] : data_checks === null ? [] : checkLines(report)
  return [data_notice, ...checks].filter(Boolean).join(' ')
}

// --- A market review: the light of each market, its indices, and the beginning of the summary.

const Index = z.object({ name: z.string(), current: z.number(), change_pct: z.number().nullable().catch(null) })
const ReviewedMarket = z.object({
  market_scope: z.string().catch(''),
  color_scheme: z.string().nullish().catch(null),
  indices: z.array(Index.nullable().catch(null)).catch([]),
  market_light: z.object({ score: z.number(), label: z.string(), temperature_label: z.string() }).nullish().catch(null),
})
type ReviewedMarket = z.infer<typeof ReviewedMarket>

function marketsOf(review: unknown): ReviewedMarket[] {
  const several = z.object({ markets: z.record(z.string(), ReviewedMarket) }).safeParse(review)
  if (several.success) return Object.values(several.data.markets)
  const one = ReviewedMarket.safeParse(review)
  return one.success ? [one.data] : []
}

const INDEX_ROWS = 9
const INDEX_LINE = 58

function reviewBody(report: AnalysisReport, markets: readonly ReviewedMarket[], colors: Colors): string[] {
  const lit = markets.filter(({ market_light }) => market_light)
  const each = Math.max(1, Math.floor(INDEX_ROWS / Math.max(1, markets.length)))
  const rows = markets.flatMap(({ indices }) => indices.filter((index) => index !== null).slice(0, each))
  const first = lit.length === 0 ? 310 : 530
  const shown = rows.slice(0, INDEX_ROWS)
  return [
    ...(lit.length === 0 ? [] : lights(report, lit, colors)),
    ...shown.flatMap((row, i) => indexRow(row, first + i * INDEX_LINE, colors)),
    ...paragraph(report, first + shown.length * INDEX_LINE + 24, colors),
  ]
}

/** The words of each light, and the score in its ring: the mean for several markets. */
function lights(report: AnalysisReport, lit: readonly ReviewedMarket[], colors: Colors): string[] {
  const { texts, score } = { texts: textsOf(report.meta.report_language), score: report.summary.sentiment_score }
  const [only, ...others] = lit
  const around = ring(score, { colors, tone: colors.accent, none: texts.consistency.noScore })
  if (others.length === 0) {
    const { label: said = '', temperature_label: mood = '' } = only?.market_light ?? {}
    const advice = fitted(said, { size: 76, width: 620 })
    return [
      label(LEFT, 352, advice.line, { size: advice.size, fill: colors.accent, weight: 'bold' }),
      label(LEFT, 430, mood, { size: 44, fill: colors.ink }),
      ...around,
    ]
  }
  const lines = lit.slice(0, 4).map(({ market_scope: scope, market_light: light }) => {
    return fitted(`${scope}${texts.review.colon}${light?.label ?? ''} ${light?.score ?? ''}`, { size: 40, width: 640 })
  })
  return [...lines.map(({ line, size }, i) => label(LEFT, 310 + i * 56, line, { size, fill: colors.ink })), ...around]
}

function indexRow({ name, current, change_pct: change }: z.infer<typeof Index>, y: number, colors: Colors): string[] {
  const title = fitted(name, { size: 34, width: 420 })
  const moved = change === null || change === 0 ? colors.muted : change > 0 ? colors.rise : colors.fall
  return [
    label(LEFT, y, title.line, { size: title.size, fill: colors.ink }),
    label(RIGHT - 200, y, fixed(current, 2), { size: 34, fill: colors.ink, anchor: 'end' }),
    ...(change === null ? [] : [label(RIGHT, y, signedPct(change), { size: 34, fill: moved, anchor: 'end' })]),
  ]
}

/** A notice about the figures, and a disclaimer. */
function footer(report: AnalysisReport, colors: Colors): string[] {
  const { meta } = report
  const warned = wrapped(warningOf(report), { size: 22, width: RIGHT - LEFT, most: 1 })
  const { disclaimer } = textsOf(meta.report_language).report
  return [
    ...warned.map((line) => label(LEFT, 1234, line, { size: 22, fill: colors.warn })),
    label(LEFT, 1274, disclaimer, { size: 24, fill: colors.muted }),
    label(RIGHT, 1274, 'Bellwether', { size: 24, fill: colors.muted, anchor: 'end' }),
  ]
}
