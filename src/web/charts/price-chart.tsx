// The chart of a report, drawn by lightweight-charts on a canvas; loaded when the first report is opened.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { compact, price, signed } from '../format.ts'
import { say } from '../texts.ts'
import { useMedia } from '../ui.tsx'
import { type Canvas, drawChart } from './canvas.ts'
import { type ChartSeries, type Level, type Line, levelsInReach, type Pane } from './series.ts'

export type ChartProps = {
  drawn: ChartSeries
  levels: readonly Level[]
  panes: readonly Pane[]
  isLog: boolean
  /** Another listing over the same days, in percent of the first value. */
  beside: Line | null
  label: string
  redRises: boolean
}

export function PriceChart(props: ChartProps) {
  const { drawn, panes, redRises } = props
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<Canvas | null>(null)
  const isDark = useMedia('(prefers-color-scheme: dark)')
  const [cursor, setCursor] = useState<number | null>(null)
  const shown = Math.min(cursor ?? Number.POSITIVE_INFINITY, drawn.bars.length - 1)
  useEffect(() => {
    if (frame.current === null) return
    const made = drawChart(frame.current, { ...props, onPoint: setCursor })
    canvas.current = made
    return () => {
      canvas.current = null
      made.remove()
    }
  }, [drawn, props.levels, panes, props.isLog, props.beside, redRises, isDark])
  usePaper(frame, props)
  const move = (index: number | null) => {
    canvas.current?.point(index)
    setCursor(index)
  }
  return (
    <figure class={redRises ? 'price-chart red-rises' : 'price-chart'}>
      <Readout {...props} index={shown} />
      <div ref={frame} class={`plot panes-${panes.length}`} role="img" aria-label={props.label} />
      <Scrubber
        drawn={drawn}
        index={shown}
        hasNames={levelsInReach(drawn.bars, props.levels).length > 0}
        onMove={move}
      />
      <p class="chart-credit">
        <a href="https://www.tradingview.com/" rel="noreferrer" target="_blank">
          {say('Chart by TradingView')}
        </a>
      </p>
    </figure>
  )
}

/**
 * The chart has the width and the theme of the screen: when printing, a picture with the paper's width and light colors
 * replaces it.
 */
function usePaper(frame: { current: HTMLElement | null }, props: ChartProps): void {
  const newest = useRef(props)
  newest.current = props
  useEffect(() => {
    let picture: HTMLElement | null = null
    const after = () => picture?.remove()
    const before = () => {
      after()
      if (frame.current !== null) picture = onPaper(frame.current, newest.current)
    }
    addEventListener('beforeprint', before)
    addEventListener('afterprint', after)
    return () => {
      removeEventListener('beforeprint', before)
      removeEventListener('afterprint', after)
      after()
    }
  }, [])
}

function onPaper(plot: HTMLElement, props: ChartProps): HTMLElement {
  const root = document.documentElement.classList
  const sheet = plot.cloneNode() as HTMLElement
  sheet.classList.add('sheet')
  root.add('paper')
  plot.after(sheet)
  const made = drawChart(sheet, { ...props, onPoint: () => {} })
  const picture = made.picture()
  made.remove()
  sheet.remove()
  root.remove('paper')
  picture.className = 'on-paper'
  plot.before(picture)
  return picture
}

type ScrubberProps = {
  drawn: ChartSeries
  index: number
  hasNames: boolean
  onMove: (index: number | null) => void
}

/** Selects a session's values without a pointer: by keyboard, by touch and with a screen reader. */
function Scrubber({ drawn, index, hasNames, onMove }: ScrubberProps) {
  return (
    <label class={hasNames ? 'scrub with-names' : 'scrub'}>
      <span class="visually-hidden">{say('Session')}</span>
      <input
        type="range"
        min={0}
        max={drawn.bars.length - 1}
        value={index}
        aria-valuetext={describe(drawn, index)}
        onInput={(event) => onMove(event.currentTarget.valueAsNumber)}
        onBlur={() => onMove(null)}
      />
    </label>
  )
}

function changeOf({ bars, closeBefore }: ChartSeries, index: number): string {
  const before = index === 0 ? closeBefore : bars[index - 1]?.close
  const now = bars[index]?.close
  return before && now !== undefined ? `${signed((now / before - 1) * 100)} %` : ''
}

function describe(drawn: ChartSeries, index: number): string {
  const bar = drawn.bars[index]
  if (!bar) return ''
  return say('{date}: close {close} {change}, open {open}, high {high}, low {low}', {
    date: bar.date,
    close: price(bar.close),
    change: changeOf(drawn, index),
    open: price(bar.open),
    high: price(bar.high),
    low: price(bar.low),
  })
}

/** The values of one session: of its bar, and of every line in the chart. */
function Readout({ drawn, panes, beside, index }: ChartProps & { index: number }) {
  const bar = drawn.bars[index]
  const lines = useMemo(() => {
    const of = (pane: 'macd' | 'rsi' | 'kdj') => (panes.includes(pane) ? drawn[pane] : [])
    return [...of('macd'), ...of('rsi'), ...of('kdj')]
  }, [drawn, panes])
  if (!bar) return null
  return (
    <figcaption class="readout">
      <strong>{bar.date}</strong>
      <Value name={say('Open')} text={price(bar.open)} />
      <Value name={say('High')} text={price(bar.high)} />
      <Value name={say('Low')} text={price(bar.low)} />
      <Value name={say('Close')} text={`${price(bar.close)} ${changeOf(drawn, index)}`.trim()} />
      {bar.volume ? <Value name={say('Volume')} text={compact(bar.volume)} /> : null}
      {drawn.averages.map((line) => (
        <Value key={line.name} name={line.name} text={at(line, index)} swatch={line.name.toLowerCase()} />
      ))}
      {beside !== null && <Value name={beside.name} text={at(beside, index)} swatch="beside" />}
      {lines.map((line) => (
        <Value key={line.name} name={line.name} text={at(line, index)} />
      ))}
    </figcaption>
  )
}

function at({ values }: Line, index: number): string {
  const value = values[index]
  return value === undefined || Number.isNaN(value) ? '–' : price(value)
}

const Value = ({ name, text, swatch }: { name: string; text: string; swatch?: string }) => (
  <span>
    {swatch !== undefined && <span class={`swatch ${swatch}`} aria-hidden="true" />}
    <span class="name">{name}</span> {text}
  </span>
)
