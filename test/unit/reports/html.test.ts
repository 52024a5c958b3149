import fc from 'fast-check'
import { expect, test } from 'vitest'
import { renderChart, renderHtml, reportChart } from '../../../src/analysis/report/render/html.ts'
import {
  escapeHtml,
  escapeMarkdown,
  list,
  markdownToHtml,
  table,
} from '../../../src/analysis/report/render/markdown-text.ts'
import { anyBars, barsOf, wave } from '../analysis/series.ts'
import { makeReport } from './make-report.ts'

const CHART = {
  levels: [
    { label: 'Stop loss', price: 95, kind: 'stop' as const },
    { label: 'Take profit', price: 140, kind: 'target' as const },
  ],
  title: 'Apple · AAPL',
  decimals: 2,
  risesRed: false,
  note: null,
}

const textOf = (html: string) =>
  html
    .replace(/<[^>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')

test('the chart draws a candle and a volume for each of the last 120 bars, the averages that exist, and every level', () => {
  const svg = renderChart({ ...CHART, bars: barsOf(wave(150, 0.2)) }) ?? ''
  expect(svg.match(/opacity="0.45"/g)).toHaveLength(120)
  expect(svg.match(/<polyline/g)).toHaveLength(3)
  expect(svg).toContain('Stop loss 95.00')
  expect(svg).toContain('Take profit 140.00')
  expect(svg).not.toMatch(/NaN|Infinity|undefined|<script|href/)
  const young = renderChart({ ...CHART, bars: barsOf(wave(12, 0.2)) }) ?? ''
  expect(young.match(/<polyline/g)).toHaveLength(1)
  expect(renderChart({ ...CHART, bars: [] })).toBeNull()
  const rise = renderChart({ ...CHART, levels: [], bars: barsOf([1, 2]), risesRed: true }) ?? ''
  expect(rise).toContain('fill="#c53030"')
})

test('for any series the chart is whole: every number finite, every line inside the picture', () => {
  fc.assert(
    fc.property(anyBars, fc.double({ min: 0.01, max: 1e6, noNaN: true }), (bars, price) => {
      const svg = renderChart({ ...CHART, bars, levels: [{ label: 'x', price, kind: 'entry' }] }) ?? ''
      expect(svg).not.toMatch(/NaN|Infinity/)
      for (const [, y] of svg.matchAll(/<path d="M[\d.]+ ([\d.-]+)/g)) {
        expect(Number(y)).toBeGreaterThanOrEqual(0)
        expect(Number(y)).toBeLessThanOrEqual(540)
      }
    }),
    { numRuns: 40 },
  )
})

test('Markdown of ours becomes HTML with the same words, and hostile text stays text', () => {
  const hostile = fc.oneof(
    fc.string(),
    fc.constantFrom('<img src=x onerror=alert(1)>', '**', '|', '\\', '&lt;b&gt;', '# x', '</title><script>'),
  )
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1, maxLength: 4 }), (texts) => {
      const words = texts.map(escapeMarkdown).map((text) => (text === '' ? 'x' : text))
      const html = markdownToHtml([`# ${words[0]}`, list(words), table(['a', 'b'], [words.slice(0, 2)])].join('\n\n'))
      expect(html.replace(/<\/?(h1|ul|li|table|thead|tbody|tr|th|td|strong|p|br|hr|blockquote)>/g, '')).not.toMatch(
        /<[a-z/!]/i,
      )
    }),
  )
  const html = markdownToHtml(
    '## Head\n\n- **bold** and \\*plain\\*\n- a \\| b\n\n| a | b |\n| --- | --- |\n| 1 | x \\| y |\n\n---\n\n> note',
  )
  expect(html).toContain('<strong>bold</strong> and *plain*')
  expect(html).toContain('<td>x | y</td>')
  expect(html).toContain('<blockquote>note</blockquote>')
  expect(escapeHtml(`<"&'>`)).toBe('&lt;&quot;&amp;&#39;&gt;')
})

test('a report page holds its notices, its levels and its chart, loads nothing, and a name full of markup stays a name', async () => {
  const { report } = await makeReport({ language: 'en', name: '<script>alert(1)</script>"Evil' })
  const html = renderHtml(report)
  expect(html).toContain('<svg')
  expect(textOf(html)).toContain(String(report.strategy?.stop_loss))
  expect(textOf(html)).toContain(String(report.details?.empty_news_disclosure))
  expect(html).not.toMatch(/<script|src=|href=|javascript:|onerror=/)
  expect(reportChart({ ...report, details: null })).toBeNull()
})

test('in a chart levels close to each other are not written over one another, and the first date is whole', () => {
  const bars = Array.from({ length: 60 }, (_, i) => {
    const date = new Date(Date.UTC(2026, 0, 1 + i)).toISOString().slice(0, 10)
    return { date, open: 10, high: 12, low: 9, close: 11, volume: 1_000, amount: null }
  })
  const levels = [10.01, 10, 10.02, 9.99].map((price) => ({ label: 'level', price, kind: 'entry' as const }))
  const chart = renderChart({ bars, levels, title: 't', decimals: 2, risesRed: true, note: null }) ?? ''
  const heights = [...chart.matchAll(/y="([\d.]+)"[^>]*>level /g)].map(([, y]) => Number(y))
  expect(heights).toHaveLength(4)
  for (const [i, height] of heights.slice(1).entries()) expect(height - (heights[i] ?? 0)).toBeGreaterThanOrEqual(14)
  expect(chart).toMatch(/<text x="12" y="\d+" text-anchor="start"[^>]*>2026-01-01</)
})
