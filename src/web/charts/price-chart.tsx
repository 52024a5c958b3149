import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { compact, price, signed } from '../format.ts'
import type { DailyBar } from '../wire.ts'
import { type Layout, type Level, layOut } from './layout.ts'
import { Averages, Axes, Candles, CloseLine, Cursor, Levels, Volumes } from './marks.tsx'

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
      <span class="visually-hidden">Session</span>
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
  return `${bar.date}: close ${price(bar.close)} ${changeOf(bars, index)}, open ${price(bar.open)}, high ${price(bar.high)}, low ${price(bar.low)}`
}

function Readout({ bars, index, layout }: { bars: DailyBar[]; index: number; layout: Layout }) {
  const bar = bars[index]
  if (!bar) return null
  const values: [string, string][] = [
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
          <span class="name">{name}</span> {value}
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
