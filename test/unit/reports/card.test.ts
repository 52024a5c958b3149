import { env } from 'cloudflare:workers'
import { brotliDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { CARD_HEIGHT, CARD_WIDTH, renderCard } from '../../../src/analysis/report/render/card.ts'
import { packagedNames } from '../../../src/kits/market-names/index.ts'
import { makeReport } from './make-report.ts'

test('a card says the advice, the score and the levels in the language of its report, and nothing stands outside of it', async () => {
  for (const language of ['zh', 'en', 'ko'] as const) {
    const { report } = await makeReport({ language })
    for (const theme of ['light', 'dark'] as const) {
      const card = renderCard(report, theme)
      expect(card).toContain(`>${report.summary.sentiment_score}<`)
      expect(card).toContain(report.summary.action_label ?? report.summary.operation_advice)
      const places = [...card.matchAll(/<text x="([\d.]+)" y="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)])
      expect(places.every(([x = 0, y = 0]) => x > 0 && x < CARD_WIDTH && y > 0 && y < CARD_HEIGHT - 40)).toBe(true)
      // No two lines of text lie on one another: in one column they are at least a line apart.
      const lines = places.filter(([x]) => x === 88).map(([, y = 0]) => y)
      expect(lines.every((y, i) => i === 0 || y - (lines[i - 1] ?? 0) >= 30)).toBe(true)
      expect(card.match(/fill="#161b26"/) !== null).toBe(theme === 'dark')
    }
  }
})

test('a name is text on a card, whatever stands in it', async () => {
  const { report } = await makeReport({ language: 'en', name: '<script>&"\u0001\u202e\ud800 evil' })
  const card = renderCard(report, 'light')
  expect(card).toContain('&lt;script&gt;&amp;&quot; evil')
  expect(card).not.toContain('<script')
  expect(card).not.toMatch(/[\p{Cf}\p{Cs}]|(?!\n)\p{Cc}/u)
  const long = await makeReport({ language: 'zh', name: '很长的名称'.repeat(40) })
  expect(renderCard(long.report, 'light')).toContain('…')
})

test('no word of Korean or of letters is cut at the end of a line, nor by the end of a card', async () => {
  for (const language of ['en', 'ko'] as const) {
    const { report } = await makeReport({ language })
    const summary = report.summary.analysis_summary.repeat(4)
    const card = renderCard({ ...report, summary: { ...report.summary, analysis_summary: summary } }, 'light')
    const lines = [...card.matchAll(/<text x="88" y="\d+" font-size="30"[^>]*>([^<]*)<\/text>/g)].slice(1)
    const words = new Set(summary.split(/\s+/))
    const shown = lines.flatMap(([, text = '']) => plainXml(text).replace(/…$/, '').trim().split(/\s+/))
    expect(shown.length).toBeGreaterThan(20)
    // A mark may stand between two words without a blank.
    const whole = [...words].flatMap((word) => [word, ...word.split(/(?<=[;:,)])/)])
    expect(shown.filter((word) => !whole.includes(word))).toEqual([])
  }
})

const plainXml = (text: string): string => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

test('the card of a review has the light, the score and the indices of its markets, and what is wrong at its foot', async () => {
  const { report } = await makeReport({ language: 'ko' })
  const checks = '코스피: ⚠ 데이터 정합성 주의.'
  const meta = {
    ...report.meta,
    report_type: 'market_review' as const,
    stock_code: 'MARKET',
    data_checks: checks,
    data_notice: null,
  }
  const summary = { ...report.summary, analysis_summary: `${checks} 시장은 조용했다.`, sentiment_score: 58 }
  const index = (name: string, change_pct: number | null) => ({ name, current: 2531.456, change_pct, amount: null })
  const light = { score: 58, label: '균형', temperature_label: '혼조' }
  const market = {
    market_scope: '한국 증시',
    color_scheme: 'red_up',
    indices: [index('코스피', 1.25), index('코스닥', -0.5)],
  }
  const card = (payload: unknown) => renderCard({ ...report, meta, summary }, 'light', payload)
  const one = card({ ...market, market_light: light })
  for (const text of [
    '>균형<',
    '>혼조<',
    '>58<',
    '>코스피<',
    '>2531.46<',
    '>+1.25%<',
    '>-0.50%<',
    '>시장은 조용했다.<',
  ]) {
    expect(one).toContain(text)
  }
  expect(one).toMatch(/fill="#c22f2f"[^>]*>\+1\.25%/)
  expect(one.split(checks)).toHaveLength(2)
  // Without a light there is neither word nor score, and the indices move up.
  const dark = card({ ...market, market_light: null })
  expect(dark).not.toContain('>58<')
  expect(dark).toContain('y="310"')
  const both = card({
    markets: { cn: { ...market, market_scope: 'A', market_light: light }, hk: { ...market, market_light: light } },
  })
  expect(both).toContain('>A: 균형 58<')
  expect(both.match(/>코스피</g)).toHaveLength(2)
  // What cannot be read is left out.
  for (const broken of [null, 'x', { indices: [{ name: 3 }, null], market_light: 'green' }, { markets: 7 }]) {
    expect(card(broken)).toContain('>시장은 조용했다.<')
  }
})

/** The characters of a font, from its table of segments. */
function charactersOf(font: DataView): Set<number> {
  const tagAt = (at: number) => String.fromCharCode(...[0, 1, 2, 3].map((i) => font.getUint8(at + i)))
  const tables = Array.from({ length: font.getUint16(4) }, (_, i) => 12 + i * 16)
  const cmap = font.getUint32((tables.find((at) => tagAt(at) === 'cmap') ?? 0) + 8)
  const places = Array.from({ length: font.getUint16(cmap + 2) }, (_, i) => cmap + font.getUint32(cmap + 8 + i * 8))
  const table = places.find((at) => font.getUint16(at) === 4) ?? 0
  const twice = font.getUint16(table + 6)
  const found = new Set<number>()
  for (let i = 0; i < twice; i += 2) {
    const [last, first] = [font.getUint16(table + 14 + i), font.getUint16(table + 16 + twice + i)]
    for (let point = first; point <= last; point++) found.add(point)
  }
  return found
}

test('the font has every character of the packaged names', async () => {
  const file = await env.ASSETS.fetch('http://bellwether.test/fonts/noto-sans-cjk-sc.otf.br')
  const font = brotliDecompressSync(new Uint8Array(await file.arrayBuffer()))
  const known = charactersOf(new DataView(font.buffer, font.byteOffset, font.byteLength))
  expect(known.size).toBeGreaterThan(14_000)
  const missing = new Set<string>()
  for (const { zh, en } of (await packagedNames()).all()) {
    for (const character of zh + en) if (!known.has(character.codePointAt(0) ?? 0)) missing.add(character)
  }
  expect([...missing].join('')).toBe('')
})
