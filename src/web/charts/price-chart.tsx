import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { compact, price, signed } from '../format.ts'
import { say, type Text } from '../texts.ts'
import type { DailyBar } from '../wire.ts'
import { type Layout, type Level, layOut } from './layout.ts'

type Props = { bars: DailyBar[]; levels: Level[]; label: string; redRises: boolean }

export function PriceChart({ bars, levels, label, redRises }: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const width = useWidth(frame)
  const layout = useMemo(() => layOut(bars, levels, width), [bars, levels, width])
  const [cursor, setCursor] = useState<number | null>(null)
  const last = bars.length - 1
  const shown = Math.min(cursor ?? last, last)
  const point = (event: PointerEvent) => {
    const box = frame.current?.getBoundingClientRect()
    if (!box) return
    const index = Math.floor((event.clientX - box.left - layout.left) / layout.step)
    setCursor(Math.max(0, Math.min(last, index)))
  }
  return (
    <figure class={redRises ? 'price-chart red-rises' : 'price-chart'}>
      <Readout bars={bars} index={shown} layout={layout} />
      <div ref={frame} class="plot" onPointerMove={point} onPointerDown={point} onPointerLeave={() => setCursor(null)}>
        <svg viewBox={`0 0 ${layout.width} ${layout.height}`} height={layout.height} role="img" aria-label={label}>
          <Axes layout={layout} />
          <Volumes bars={bars} layout={layout} />
          {layout.dense ? <CloseLine bars={bars} layout={layout} /> : <Candles bars={bars} layout={layout} />}
          <Averages layout={layout} />
          <Levels layout={layout} />
          {cursor !== null && <Cursor bars={bars} index={shown} layout={layout} />}
        </svg>
      </div>
      <Scrubber bars={bars} index={shown} onMove={setCursor} />
    </figure>
  )
}

type ScrubberProps = { bars: DailyBar[]; index: number; onMove: (index: number | null) => void }

/** The pointer's way to a session's values, for the keyboard, for a finger and for a screen reader. */
function Scrubber({ bars, index, onMove }: ScrubberProps) {
  return (
    <label class="scrub">
      <span class="visually-hidden">{say('Session')}</span>
      <input
        type="range"
        min={0}
        max={bars.length - 1}
        value={index}
        aria-valuetext={describe(bars, index)}
        onInput={(event) => onMove(event.currentTarget.valueAsNumber)}
        onBlur={() => onMove(null)}
      />
    </label>
  )
}

/** The width that the page gives; drawn at that size, letters stay the size of letters on a phone. */
function useWidth(frame: { current: HTMLDivElement | null }): number {
  const [width, setWidth] = useState(640)
  useEffect(() => {
    const box = frame.current
    if (!box) return
    const observer = new ResizeObserver(() => setWidth(Math.max(240, Math.floor(box.clientWidth))))
    observer.observe(box)
    return () => observer.disconnect()
  }, [frame])
  return width
}

function changeOf(bars: DailyBar[], index: number): string {
  const before = bars[index - 1]?.close
  const now = bars[index]?.close
  return before && now !== undefined ? `${signed((now / before - 1) * 100)} %` : ''
}

function describe(bars: DailyBar[], index: number): string {
  const bar = bars[index]
  if (!bar) return ''
  return say('{date}: close {close} {change}, open {open}, high {high}, low {low}', {
    date: bar.date,
    close: price(bar.close),
    change: changeOf(bars, index),
    open: price(bar.open),
    high: price(bar.high),
    low: price(bar.low),
  })
}

function Readout({ bars, index, layout }: { bars: DailyBar[]; index: number; layout: Layout }) {
  const bar = bars[index]
  if (!bar) return null
  const values: [Text, string][] = [
    ['Open', price(bar.open)],
    ['High', price(bar.high)],
    ['Low', price(bar.low)],
    ['Close', `${price(bar.close)} ${changeOf(bars, index)}`.trim()],
  ]
  if (bar.volume) values.push(['Volume', compact(bar.volume)])
  return (
    <figcaption class="readout">
      <strong>{bar.date}</strong>
      {values.map(([name, value]) => (
        <span key={name}>
          <span class="name">{say(name)}</span> {value}
        </span>
      ))}
      {layout.averages.map(({ length, values: series }) => (
        <span key={length}>
          <span class={`swatch ma${length}`} aria-hidden="true" />
          <span class="name">MA{length}</span> {series[index] == null ? '–' : price(series[index])}
        </span>
      ))}
    </figcaption>
  )
}

// What is drawn in a price chart, each mark from the layout alone.

/** Half of the widest date label, so that the first one is not cut at the edge. */
const HALF_LABEL = 32

function Axes({ layout }: { layout: Layout }) {
  return (
    <g class="axes">
      {layout.priceTicks.map((value) => (
        <g key={value}>
          <line x1={layout.left} x2={layout.right} y1={layout.y(value)} y2={layout.y(value)} />
          <text x={layout.right + 6} y={layout.y(value)} dominant-baseline="middle">
            {tickText(value, layout.priceTicks)}
          </text>
        </g>
      ))}
      {layout.dateTicks.map(({ index, label }) => (
        <g key={index}>
          <line x1={layout.x(index)} x2={layout.x(index)} y1={0} y2={layout.volumeBottom} />
          <text x={Math.max(layout.x(index), HALF_LABEL)} y={layout.height - 6} text-anchor="middle">
            {label}
          </text>
        </g>
      ))}
      <text x={layout.right + 6} y={layout.volumeBottom - 4}>
        {say('Volume')}
      </text>
      <line class="base" x1={layout.left} x2={layout.right} y1={layout.volumeBottom} y2={layout.volumeBottom} />
    </g>
  )
}

/** As many decimals as the distance between two ticks needs. */
function tickText(value: number, all: number[]): string {
  const step = Math.abs((all[1] ?? value) - (all[0] ?? 0)) || 1
  const digits = Math.max(0, Math.min(4, Math.ceil(-Math.log10(step))))
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

const rises = ({ open, close }: DailyBar): boolean => close >= open

function Candles({ bars, layout }: { bars: DailyBar[]; layout: Layout }) {
  const half = Math.max(1, Math.min(5, layout.step * 0.34))
  const draw = (rising: boolean): string =>
    bars.map((bar, index) => (rises(bar) === rising ? candlePath(bar, layout.x(index), half, layout) : '')).join('')
  return (
    <>
      <path class="candle up" d={draw(true)} />
      <path class="candle down" d={draw(false)} />
    </>
  )
}

function candlePath(bar: DailyBar, x: number, half: number, { y }: Layout): string {
  const top = y(Math.max(bar.open, bar.close))
  const bottom = Math.max(y(Math.min(bar.open, bar.close)), top + 1)
  const box = `M${n(x - half)} ${n(top)}H${n(x + half)}V${n(bottom)}H${n(x - half)}Z`
  return `${box}M${n(x)} ${n(y(bar.high))}V${n(top)}M${n(x)} ${n(bottom)}V${n(y(bar.low))}`
}

const n = (value: number): string => value.toFixed(1)

function CloseLine({ bars, layout }: { bars: DailyBar[]; layout: Layout }) {
  const closes = bars.map(({ close }) => close)
  return <path class="close-line" d={linePath(closes, layout)} />
}

function Averages({ layout }: { layout: Layout }) {
  return (
    <>
      {layout.averages.map(({ length, values }) => (
        <path key={length} class={`average ma${length}`} d={linePath(values, layout)} />
      ))}
    </>
  )
}

function linePath(values: (number | null)[], layout: Layout): string {
  let pen = 'M'
  let path = ''
  values.forEach((value, index) => {
    if (value === null) return
    path += `${pen}${n(layout.x(index))} ${n(layout.y(value))}`
    pen = 'L'
  })
  return path
}

function Volumes({ bars, layout }: { bars: DailyBar[]; layout: Layout }) {
  const half = Math.max(0.5, layout.step * 0.34)
  const bar = ({ volume }: DailyBar, index: number): string => {
    if (!volume) return ''
    const x = layout.x(index)
    return `M${n(x - half)} ${n(layout.volumeBottom)}V${n(layout.volumeY(volume))}H${n(x + half)}V${n(layout.volumeBottom)}Z`
  }
  return <path class="volume" d={bars.map(bar).join('')} />
}

function Levels({ layout }: { layout: Layout }) {
  return (
    <g class="levels">
      {layout.levels.map(({ label, price: value, kind, y, labelY }) => (
        <g key={label} class={`level ${kind}`}>
          <line x1={layout.left} x2={layout.right} y1={y} y2={y} />
          <text x={layout.left + 4} y={labelY} dominant-baseline="middle">
            {label} {price(value)}
          </text>
        </g>
      ))}
    </g>
  )
}

function Cursor({ bars, index, layout }: { bars: DailyBar[]; index: number; layout: Layout }) {
  const bar = bars[index]
  if (!bar) return null
  const x = layout.x(index)
  return (
    <g class="cursor">
      <line x1={x} x2={x} y1={0} y2={layout.volumeBottom} />
      <circle cx={x} cy={layout.y(bar.close)} r={3.5} />
    </g>
  )
}
