// Draws the series on the canvas: the only file that uses the charting library.

import {
  CandlestickSeries,
  createChart,
  HistogramSeries,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  LineSeries,
  LineStyle,
  PriceScaleMode,
  type SeriesType,
} from 'lightweight-charts'
import { compact } from '../format.ts'
import { locale } from '../texts.ts'
import type { DailyBar } from '../wire.ts'
import {
  type ChartSeries,
  inPercent,
  type Level,
  type Line,
  levelsInReach,
  type Pane,
  PERCENT_FORMAT,
  PLAIN_FORMAT,
  priceFormat,
} from './series.ts'

type Options = {
  drawn: ChartSeries
  levels: readonly Level[]
  panes: readonly Pane[]
  isLog: boolean
  beside: Line | null
  redRises: boolean
  onPoint: (index: number | null) => void
}

export type Canvas = {
  /** Shows the crosshair at this bar, or hides it. */
  point: (index: number | null) => void
  /** The current chart, for printing. */
  picture: () => HTMLCanvasElement
  remove: () => void
}

export function drawChart(box: HTMLElement, asked: Options): Canvas {
  const { beside } = asked
  const options: Options = beside === null ? asked : { ...asked, ...inPercent({ ...asked, beside }) }
  const paint = paintsOf(box)
  const chart = createChart(box, lookOf(paint))
  const candles = addCandles(chart, options, paint)
  const { bars } = options.drawn
  for (const line of options.drawn.averages) {
    addLine(chart, line, bars, { pane: 0, color: paint(line.name.toLowerCase()), format: formatOf(options) })
  }
  if (options.beside !== null) {
    addLine(chart, options.beside, bars, { pane: 0, color: paint('text'), format: formatOf(options) })
  }
  for (const [at, pane] of options.panes.entries())
    addPane(chart, pane, { ...options, own: asked.drawn.bars, paint, at: at + 1 })
  for (const [at, pane] of chart.panes().entries()) pane.setStretchFactor(at === 0 ? 4 : 1)
  // Only for the prices: an indicator can be negative.
  chart.priceScale('right', 0).applyOptions({ mode: scaleOf(options) })
  showAll(chart, bars.length, options)
  chart.timeScale().subscribeSizeChange(() => showAll(chart, bars.length, options))
  chart.subscribeCrosshairMove(({ logical, sourceEvent }) => {
    // The crosshair set by the slider does not come from a pointer.
    if (sourceEvent === undefined && logical !== undefined) return
    options.onPoint(logical === undefined ? null : Math.max(0, Math.min(bars.length - 1, Math.round(logical))))
  })
  const ground = paint('ground')
  return {
    point: (index) => point(chart, candles, bars, index),
    picture: () => pictureOf(chart, ground),
    remove: () => chart.remove(),
  }
}

/** With the background of the page, which the library does not draw. */
function pictureOf(chart: IChartApi, ground: string): HTMLCanvasElement {
  const picture = chart.takeScreenshot()
  const context = picture.getContext('2d')
  if (context !== null) {
    context.globalCompositeOperation = 'destination-over'
    context.fillStyle = ground
    context.fillRect(0, 0, picture.width, picture.height)
  }
  return picture
}

const scaleOf = ({ isLog, beside }: Options): PriceScaleMode =>
  isLog && beside === null ? PriceScaleMode.Logarithmic : PriceScaleMode.Normal

/** Space for the names of the levels, which would cover the newest candles; `.scrub.with-names` has the same width. */
const NAMES_PX = 88

/** Every bar, for the current width. */
function showAll(chart: IChartApi, count: number, { drawn, levels }: Options): void {
  const width = chart.timeScale().width()
  const hasNames = levelsInReach(drawn.bars, levels).length > 0 && width > 2 * NAMES_PX
  const room = hasNames ? (count * NAMES_PX) / (width - NAMES_PX) : 0
  chart.timeScale().setVisibleLogicalRange({ from: -0.5, to: count - 0.5 + room })
}

type Paint = (name: string) => string

/** The colors of the page, by the names in its style sheet. */
function paintsOf(box: HTMLElement): Paint {
  const style = getComputedStyle(box)
  return (name) => style.getPropertyValue(`--${name}`).trim()
}

function lookOf(paint: Paint) {
  const line = { color: paint('line') }
  return {
    autoSize: true,
    // It would add a style element to the page; its text is below the chart.
    layout: {
      attributionLogo: false,
      background: { color: 'transparent' },
      textColor: paint('muted'),
      fontFamily: getComputedStyle(document.body).fontFamily,
      panes: { separatorColor: paint('line'), separatorHoverColor: paint('accent-soft') },
    },
    grid: { vertLines: line, horzLines: line },
    rightPriceScale: { borderColor: paint('line') },
    timeScale: { borderColor: paint('line'), fixLeftEdge: true },
    localization: { locale, dateFormat: 'yyyy-MM-dd' },
    // The page scrolls over the chart; two fingers and dragging the scales still work.
    handleScroll: { mouseWheel: false, vertTouchDrag: false },
    handleScale: { mouseWheel: false },
  }
}

/** A rising session is hollow and a falling one filled, so that they differ by more than their color. */
function addCandles(chart: IChartApi, options: Options, paint: Paint) {
  const { drawn, levels, redRises } = options
  const [rise, fall] = redRises ? [paint('bad'), paint('good')] : [paint('good'), paint('bad')]
  const candles = chart.addSeries(CandlestickSeries, {
    upColor: paint('ground'),
    borderUpColor: rise,
    wickUpColor: rise,
    downColor: fall,
    borderDownColor: fall,
    wickDownColor: fall,
    priceLineVisible: false,
    priceFormat: formatOf(options),
  })
  candles.setData(drawn.bars.map(({ date: time, open, high, low, close }) => ({ time, open, high, low, close })))
  const colors = { buy: paint('accent'), stop: paint('bad'), target: paint('ma20') }
  const lines: IPriceLine[] = levelsInReach(drawn.bars, levels).map(({ label: title, price, kind }) =>
    candles.createPriceLine({ title, price, color: colors[kind], lineStyle: LineStyle.Dashed, lineWidth: 1 }),
  )
  // A level below or above all candles is shown too.
  candles.applyOptions({
    autoscaleInfoProvider: (original: () => { priceRange: { minValue: number; maxValue: number } | null } | null) => {
      const found = original()
      const prices = lines.map((line) => line.options().price)
      if (found?.priceRange == null) return found
      const { minValue, maxValue } = found.priceRange
      return {
        ...found,
        priceRange: { minValue: Math.min(minValue, ...prices), maxValue: Math.max(maxValue, ...prices) },
      }
    },
  })
  return candles
}

type Format = ReturnType<typeof formatOf>

/** In percent if another listing is compared. */
const formatOf = ({ drawn: { bars }, beside }: Pick<Options, 'drawn' | 'beside'>) =>
  beside === null ? priceFormat(bars) : PERCENT_FORMAT

function addLine(
  chart: IChartApi,
  { values }: Line,
  bars: readonly DailyBar[],
  { pane, color, format }: { pane: number; color: string; format: Format },
): void {
  const quiet = { lastValueVisible: false, priceLineVisible: false, crosshairMarkerVisible: false }
  const line = chart.addSeries(LineSeries, { ...quiet, color, lineWidth: 1, priceFormat: format }, pane)
  line.setData(points(values, bars))
}

/** A day without a value keeps its position. */
const points = (values: Float64Array, bars: readonly DailyBar[]) =>
  bars.map(({ date: time }, at) => {
    const value = values[at]
    return value === undefined || Number.isNaN(value) ? { time } : { time, value }
  })

const PANE_COLORS = ['ma5', 'ma20', 'ma60']

/** In the language's units: millions, or ten thousands. */
const VOLUME = { type: 'custom' as const, formatter: compact, minMove: 1 }

type PaneOptions = Options & { own: readonly DailyBar[]; paint: Paint; at: number }

/** `own`: the bars in the stock's own prices; MACD is a difference of prices. */
function addPane(chart: IChartApi, pane: Pane, { drawn, own, redRises, paint, at }: PaneOptions): void {
  const [rise, fall] = redRises ? [paint('bad'), paint('good')] : [paint('good'), paint('bad')]
  const quiet = { lastValueVisible: false, priceLineVisible: false }
  if (pane === 'volume') {
    const series = chart.addSeries(HistogramSeries, { ...quiet, priceFormat: VOLUME }, at)
    series.setData(
      drawn.bars.map(({ date: time, open, close, volume }) => ({
        time,
        value: volume ?? 0,
        color: `${close >= open ? rise : fall}80`,
      })),
    )
    return
  }
  const [first, ...rest] = drawn[pane]
  if (first === undefined) return
  const format = pane === 'macd' ? priceFormat(own) : PLAIN_FORMAT
  if (pane === 'macd') {
    const series = chart.addSeries(HistogramSeries, { ...quiet, priceFormat: format }, at)
    const { values } = first
    series.setData(
      points(values, drawn.bars).map((point) =>
        'value' in point ? { ...point, color: `${(point.value ?? 0) >= 0 ? rise : fall}99` } : point,
      ),
    )
  }
  const lines = pane === 'macd' ? rest : [first, ...rest]
  for (const [n, line] of lines.entries()) {
    addLine(chart, line, drawn.bars, { pane: at, color: paint(PANE_COLORS[n] ?? 'text'), format })
  }
}

function point(
  chart: IChartApi,
  candles: ISeriesApi<SeriesType>,
  bars: readonly DailyBar[],
  index: number | null,
): void {
  const bar = index === null ? undefined : bars[index]
  if (bar === undefined) chart.clearCrosshairPosition()
  else chart.setCrosshairPosition(bar.close, bar.date, candles)
}
