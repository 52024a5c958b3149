import { expect, test } from 'vitest'
import { type Listing, packagedNames, spellerFrom } from '../../../src/kits/market-names/index.ts'
import { type ListedName, refreshNames } from '../../../src/market/names/refresh.ts'
import { nameSources } from '../../../src/market/names/sources.ts'
import { memoryGate } from '../../../src/market/providers/gate.ts'
import { json, upstream } from './upstream.ts'

const packaged = (await packagedNames()).all().filter(({ key }) => /^\d{6}$/.test(key))
const stocks = packaged.filter(({ kind }) => kind === 'stock')
const asListed = (): ListedName[] => stocks.map(({ key, zh }) => ({ code: key, name: zh }))
const NOW = Date.parse('2026-11-21T01:00:00Z')

function store(known: Listing[] = packaged) {
  const saved: { changed: Listing[]; source: string; at: string }[] = []
  return {
    saved,
    known: async () => known,
    save: async (changed: readonly Listing[], told: { source: string; at: string }) => {
      saved.push({ changed: [...changed], ...told })
    },
  }
}

const from = (name: string, listed: () => ListedName[]) => ({ name, list: async () => listed() })
const edited = (changes: Record<string, string | null>): ListedName[] =>
  asListed().flatMap(({ code, name }) => {
    const change = changes[code]
    return change === null ? [] : [{ code, name: change ?? name }]
  })

test('renamed, new and ended stocks are stored, with the former name as an alias and pinyin as other names have it', async () => {
  const kept = store([...packaged, { ...(stocks[0] as Listing), key: '600001', zh: '邯郸钢铁', active: false }])
  const listed = edited({
    '000007': '全新好',
    '600519': 'XD贵州茅',
    '000858': '五 粮 液',
    '000002': '万  科Ａ',
    '000005': null,
  })
  listed.push(
    { code: '688999', name: 'N长江科创' },
    { code: '920001', name: '龘龘股份' },
    { code: '600001', name: '邯郸钢铁' },
  )
  const answer = await refreshNames(kept, [from('eastmoney', () => listed)], () => NOW)
  expect(answer).toEqual({ ok: true, source: 'eastmoney', added: 2, renamed: 1, ended: 1, resumed: 1 })
  const [write] = kept.saved
  expect([write?.source, write?.at]).toEqual(['eastmoney', '2026-11-21T01:00:00.000000Z'])
  const stored = (key: string) => write?.changed.find((listing) => listing.key === key)
  expect(stored('000007')).toMatchObject({ zh: '全新好', pinyin: 'quan xin hao', aliases: ['*ST全新'], active: true })
  expect(stored('688999')).toMatchObject({ zh: '长江科创', pinyin: 'chang jiang ke chuang', popularity: 20 })
  expect(stored('920001')).toMatchObject({ zh: '龘龘股份', pinyin: '' })
  expect(stored('000005')).toMatchObject({ zh: 'ST星源', active: false })
  expect(stored('600001')).toMatchObject({ active: true })
  expect(write?.changed.map(({ key }) => key).sort()).toEqual(['000005', '000007', '600001', '688999', '920001'])
})

test('a list that cannot be true is refused as a whole and the next source is asked', async () => {
  const shifted = asListed().map(({ code }, i) => ({ code, name: stocks[(i + 1) % stocks.length]?.zh ?? '' }))
  const kept = store()
  const answer = await refreshNames(
    kept,
    [
      { name: 'broken', list: () => Promise.reject(new Error('broken: http_status (HTTP 403)')) },
      from('short', () => asListed().slice(0, 3_000)),
      from('shifted', () => shifted),
      from('gap', () => asListed().slice(0, 4_400)),
      from('rubbish', () => [...asListed(), ...Array.from({ length: 60 }, () => ({ code: 'x', name: '<b>' }))]),
      from('whole', asListed),
    ],
    () => NOW,
  )
  expect(answer).toEqual({ ok: true, source: 'whole', added: 0, renamed: 0, ended: 0, resumed: 0 })
  expect(kept.saved).toEqual([{ changed: [], source: 'whole', at: '2026-11-21T01:00:00.000000Z' }])
  const none = await refreshNames(kept, [from('short', () => [])], () => NOW)
  expect(none).toEqual({ ok: false, reasons: ['short: only 0 stocks'] })
  expect(kept.saved).toHaveLength(1)
})

test('lists come from the configured sources that have one, in their order', async () => {
  const { fetch, asked } = upstream({
    'page=1&': json([{ code: '600519', name: '贵州茅台' }]),
    'pn=1&': json({ data: { total: 1, diff: [{ f12: '600519', f14: '贵州茅台' }] } }),
  })
  const clock = () => NOW
  const sources = nameSources(
    { providers: ['tencent', 'sina', 'toString', 'eastmoney'], fetch },
    { clock, gate: memoryGate(clock) },
  )
  expect(sources.map(({ name }) => name)).toEqual(['sina', 'eastmoney'])
  for (const { list } of sources) expect(await list()).toEqual([{ code: '600519', name: '贵州茅台' }])
  expect(asked.map((url) => new URL(url).host)).toEqual(['quotes.sina.cn', 'push2.eastmoney.com'])
})

test('a name is spelled as its characters are in known names', () => {
  const spell = spellerFrom(packaged)
  expect([spell('厦门新股'), spell('沪深300'), spell('ST长江'), spell('AB'), spell('龘')]).toEqual([
    'xia men xin gu',
    'hu shen 300',
    'st chang jiang',
    '',
    '',
  ])
})
