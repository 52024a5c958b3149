// The last sessions of a region's indices as one picture: an SVG without scripts, styles or links, so that it is as
// harmless as text wherever it is shown.

import type { IndexFact } from './facts.ts'

const WIDTH = 640
const HEIGHT = 260
const FRAME = { left: 44, right: 12, top: 34, bottom: 46 }
const SESSIONS = 30
const MAX_LINES = 4
const COLOURS = ['#2563eb', '#d97706', '#059669', '#7c3aed']

type Line = { name: string; values: number[]; colour: string }

/** Null when no index has enough sessions to draw. */
export function indexChart(indices: readonly IndexFact[], title: string): string | null {
  const lines = indices
    .filter(({ key, closes }) => key !== 'VIX' && closes.length >= 2)
    .slice(0, MAX_LINES)
    .map(({ name, closes }, i): Line => {
      const shown = closes.slice(-SESSIONS)
      const base = shown[0] ?? 1
      return { name, values: shown.map((close) => (close / base) * 100), colour: COLOURS[i] ?? '#111827' }
    })
  if (lines.length === 0) return null
  const all = lines.flatMap(({ values }) => values)
  const [low, high] = padded(Math.min(...all), Math.max(...all))
  const body = [
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text({ x: WIDTH / 2, y: 20, anchor: 'middle', size: 14 }, title),
    ...grid(low, high),
    ...lines.map((line) => polyline(line, low, high)),
    ...lines.map(({ name, colour }, i) => legend(name, colour, i)),
  ]
  const size = `viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">${body.join('')}</svg>`
}

function padded(low: number, high: number): [number, number] {
  const margin = Math.max(0.5, (high - low) * 0.08)
  return [low - margin, high + margin]
}

const y = (value: number, low: number, high: number): number =>
  FRAME.top + ((high - value) / (high - low)) * (HEIGHT - FRAME.top - FRAME.bottom)

function grid(low: number, high: number): string[] {
  return [0, 1, 2, 3, 4].flatMap((step) => {
    const value = low + ((high - low) * step) / 4
    const at = y(value, low, high).toFixed(1)
    return [
      `<line x1="${FRAME.left}" x2="${WIDTH - FRAME.right}" y1="${at}" y2="${at}" stroke="#e5e7eb"/>`,
      text({ x: FRAME.left - 6, y: Number(at) + 4, anchor: 'end', size: 11 }, value.toFixed(1)),
    ]
  })
}

function polyline({ values, colour }: Line, low: number, high: number): string {
  const step = (WIDTH - FRAME.left - FRAME.right) / Math.max(1, values.length - 1)
  const points = values.map((value, i) => `${(FRAME.left + i * step).toFixed(1)},${y(value, low, high).toFixed(1)}`)
  return `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points.join(' ')}"/>`
}

function legend(name: string, colour: string, place: number): string {
  const x = FRAME.left + place * 146
  const at = HEIGHT - 18
  return `<rect x="${x}" y="${at - 9}" width="12" height="4" fill="${colour}"/>${text({ x: x + 18, y: at, anchor: 'start', size: 12 }, name)}`
}

type TextPosition = { x: number; y: number; anchor: 'start' | 'middle' | 'end'; size: number }

function text({ x, y: at, anchor, size }: TextPosition, words: string): string {
  const font = `font-family="sans-serif" font-size="${size}" text-anchor="${anchor}" fill="#374151"`
  return `<text x="${x}" y="${at}" ${font}>${escapeXml(words)}</text>`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escapeXml = (words: string): string =>
  words.replace(/[\p{Cc}\ufffe\uffff]/gu, ' ').replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '')

/** The SVG as an address for an image in Markdown. */
export function svgAddress(svg: string): string {
  const bytes = new TextEncoder().encode(svg)
  return `data:image/svg+xml;base64,${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}`
}
