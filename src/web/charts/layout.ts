// The positions of all parts of a price chart, without drawing.

import { locale } from '../texts.ts'
import type { DailyBar } from '../wire.ts'

export type Level = { label: string; price: number; kind: 'buy' | 'stop' | 'target' }
type Average = { length: number; values: (number | null)[] }
type PlacedLevel = Level & { y: number; labelY: number }

export type Layout = {
  width: number
  height: number
  left: number
  right: number
  plotBottom: number
  step: number
  /** Too narrow for candles: the closes are drawn as one line. */
  dense: boolean
  x: Scale
  y: Scale
  volumeY: Scale
  volumeBottom: number
  priceTicks: number[]
  dateTicks: { index: number; label: string }[]
  averages: Average[]
  levels: PlacedLevel[]
}

const AVERAGES = [5, 20, 60]
const RIGHT_GUTTER = 58
const TOP = 10
const DATE_STRIP = 22
const VOLUME_STRIP = 44
const LABEL_HEIGHT = 15
/** A level further from the bars than this share of their span would squash them flat: it is listed, not drawn. */
const LEVEL_REACH = 0.6
const CANDLE_STEP = 3.5

export function layOut(bars: DailyBar[], levels: Level[], width: number): Layout {
  const height = width < 520 ? 300 : 380
  const left = 4
  const right = Math.max(width - RIGHT_GUTTER, left + 40)
  const volumeBottom = height - DATE_STRIP
  const plotBottom = volumeBottom - VOLUME_STRIP
  const closes = bars.map(({ close }) => close)
  const averages = AVERAGES.map((length) => ({ length, values: movingAverage(closes, length) }))
  const [min, max, drawn] = priceRange(bars, averages, levels)
  const y = linear([min, max], [plotBottom - 6, TOP])
  const step = (right - left) / Math.max(bars.length, 1)
  const highestVolume = Math.max(1, ...bars.map(({ volume }) => volume ?? 0))
  return {
    width,
    height,
    left,
    right,
    plotBottom,
    step,
    dense: step < CANDLE_STEP,
    x: (index) => left + (index + 0.5) * step,
    y,
    volumeY: linear([0, highestVolume], [volumeBottom, plotBottom + 8]),
    volumeBottom,
    priceTicks: ticks(min, max, height / 64),
    dateTicks: monthTicks(bars, Math.max(2, Math.floor((right - left) / 72))),
    averages,
    levels: placeLevels(drawn, y, plotBottom),
  }
}

function priceRange(bars: DailyBar[], averages: Average[], levels: Level[]): [number, number, Level[]] {
  const known = averages.flatMap(({ values }) => values.filter((value) => value !== null))
  const low = Math.min(...bars.map((bar) => bar.low), ...known)
  const high = Math.max(...bars.map((bar) => bar.high), ...known)
  const reach = (high - low || high) * LEVEL_REACH
  const drawn = levels.filter(({ price }) => price >= low - reach && price <= high + reach)
  const min = Math.min(low, ...drawn.map(({ price }) => price))
  const max = Math.max(high, ...drawn.map(({ price }) => price))
  const margin = (max - min || max || 1) * 0.03
  return [min - margin, max + margin, drawn]
}

function placeLevels(levels: Level[], y: Scale, bottom: number): PlacedLevel[] {
  const wanted = levels.map(({ price }) => y(price))
  const labels = spread(wanted, LABEL_HEIGHT, [TOP + LABEL_HEIGHT / 2, bottom - LABEL_HEIGHT / 2])
  return levels.map((level, index) => ({ ...level, y: wanted[index] ?? 0, labelY: labels[index] ?? 0 }))
}

const MONTH = new Intl.DateTimeFormat(locale, { month: 'short', timeZone: 'UTC' })

/** The first session of every month, or of every second, third, … when there is no room; a January shows the year. */
function monthTicks(bars: DailyBar[], room: number): { index: number; label: string }[] {
  const starts = bars.flatMap((bar, index) => {
    const before = bars[index - 1]?.date.slice(0, 7)
    return before !== undefined && before !== bar.date.slice(0, 7) ? [{ index, date: bar.date }] : []
  })
  const every = Math.ceil(starts.length / room)
  return starts
    .filter((_, place) => place % every === 0)
    .map(({ index, date }, place, kept) => {
      const newYear = place === 0 || kept[place - 1]?.date.slice(0, 4) !== date.slice(0, 4)
      return { index, label: newYear ? `${month(date)} ${date.slice(0, 4)}` : month(date) }
    })
}

const month = (date: string): string => MONTH.format(new Date(`${date.slice(0, 10)}T00:00:00Z`))

type Scale = (value: number) => number

function linear([d0, d1]: [number, number], [r0, r1]: [number, number]): Scale {
  const slope = d1 === d0 ? 0 : (r1 - r0) / (d1 - d0)
  return (value) => r0 + (value - d0) * slope
}

/** Round values inside the range, about as many as asked for: steps of 1, 2 or 5 times a power of ten. */
function ticks(min: number, max: number, count: number): number[] {
  if (!(max > min)) return [min]
  const rough = (max - min) / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10)
  const first = Math.ceil(min / step)
  const last = Math.floor(max / step)
  // Multiplied, not added up, so that no rounding error grows along the axis.
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}

/** The mean of the last `length` values at each place; `null` until there are so many. */
function movingAverage(values: number[], length: number): (number | null)[] {
  let sum = 0
  return values.map((value, index) => {
    sum += value - (index >= length ? (values[index - length] ?? 0) : 0)
    return index >= length - 1 ? sum / length : null
  })
}

/** Places for labels of one line height that stay in order and never cover each other, as near as may be to where they belong. */
function spread(wanted: number[], height: number, [top, bottom]: [number, number]): number[] {
  const order = wanted.map((_, index) => index).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0))
  const placed = [...wanted]
  let floor = top
  for (const index of order) {
    placed[index] = Math.max(placed[index] ?? 0, floor)
    floor = (placed[index] ?? 0) + height
  }
  let ceiling = bottom
  for (const index of order.toReversed()) {
    placed[index] = Math.min(placed[index] ?? 0, ceiling)
    ceiling = (placed[index] ?? 0) - height
  }
  return placed
}
