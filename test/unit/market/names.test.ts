import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fold } from '../../../src/market/names/fold.ts'
import { instrumentOf } from '../../../src/market/names/labels.ts'
import { initialsOf, joinedPinyin, type Listing } from '../../../src/market/names/listing.ts'
import { NameIndex } from '../../../src/market/names/name-index.ts'
import { nameTable, sortedTerms } from '../../../src/market/names/name-table.ts'
import { packagedNames, packagedTable, packedTerms, unpacked } from '../../../src/market/names/packaged.ts'
import { suggest } from '../../../src/market/names/search.ts'
import { similarity } from '../../../src/market/names/similarity.ts'

const names = await packagedNames()
const all = names.all()
const keys = (listings: readonly Listing[]) => listings.map(({ key }) => key)

function listing(key: string, zh: string, more: Partial<Listing> = {}): Listing {
  const blank = { en: '', pinyin: '', aliases: [], leading: null, kind: 'stock', active: true, popularity: 50 } as const
  return { key, zh, ...blank, ...more }
}

test('what the map and the search find is what a walk over every listing finds', () => {
  const some = fc.constantFrom(...all.filter((_, i) => i % 7 === 0))
  fc.assert(
    fc.property(some, ({ zh, en, pinyin }) => {
      const walk = (isIt: (other: Listing) => boolean) => keys(all.filter(isIt))
      const led = (found: string[]) => found.filter((key) => !found.includes(names.byKey(key)?.leading ?? ''))
      const bears = (other: Listing) => [other.zh, other.en, ...other.aliases].some((name) => fold(name) === fold(zh))
      // The index also knows a name without its marks (`万科A`, `*ST`), so it may find more.
      expect(keys(names.named(zh))).toEqual(expect.arrayContaining(led(walk(bears))))
      if (en !== '') expect(keys(names.named(en.toUpperCase())).length).toBeGreaterThan(0)
      if (pinyin === '') return
      const sounds = walk((other) => joinedPinyin(other) === joinedPinyin({ pinyin }))
      expect(keys(names.spelled(pinyin))).toEqual(expect.arrayContaining(led(sounds)))
    }),
    { numRuns: 150 },
  )
})

test('the nearest name is the one that a comparison with every name finds', () => {
  const chinese = all.filter(({ zh }) => /^[\u4e00-\u9fff]{3,6}$/.test(zh))
  fc.assert(
    fc.property(fc.nat(), fc.nat(5), fc.constantFrom('龘', '中', '华', ''), (pick, at, character) => {
      const name = chinese[pick % chinese.length]?.zh ?? ''
      const typed = name.slice(0, at % name.length) + character + name.slice((at % name.length) + 1)
      const scored = chinese.map(({ zh }) => ({ zh, likeness: similarity(typed, zh) }))
      const most = Math.max(...scored.map(({ likeness }) => likeness))
      const found = names.closest(typed).map(({ zh, aliases }) => {
        return Math.max(...[zh, ...aliases].map((text) => similarity(fold(typed), fold(text))))
      })
      if (typed.length < 3 || most < 0.7) expect(found.filter((likeness) => likeness < 0.7)).toEqual([])
      else if (most >= 0.8) expect(Math.max(...found)).toBeGreaterThanOrEqual(most)
    }),
    { numRuns: 60 },
  )
})

test('similarity is one for equals, symmetric, and counts what stands in the same order', () => {
  expect(similarity('贵州茅台', '贵州茅苔')).toBe(0.75)
  expect(similarity('招商银', '招商银行')).toBeCloseTo(6 / 7)
  expect([similarity('', ''), similarity('甲', ''), similarity('甲乙', '乙甲')]).toEqual([1, 0, 0.5])
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
      expect(similarity(a, b)).toBe(similarity(b, a))
      expect(similarity(a, a)).toBe(1)
    }),
  )
})

test('pinyin is that of company names, and initials follow from it', () => {
  const rows: [string, string, string][] = [
    ['600519', 'guizhoumaotai', 'gzmt'],
    ['600549', 'xiamenwuye', 'xmwy'],
    ['000950', 'chongyaokonggu', 'cykg'],
    ['601106', 'zhongguoyizhong', 'zgyz'],
    ['603233', 'dashenlin', 'dsl'],
    ['SH000300', 'hushen300', 'hs300'],
    ['000007', 'stquanxin', 'stqx'],
    ['000002', 'wankea', 'wka'],
    ['AAPL', 'pingguo', 'pg'],
  ]
  for (const [key, full, initials] of rows) {
    const found = names.byKey(key)
    expect([key, found && joinedPinyin(found), found && initialsOf(found)]).toEqual([key, full, initials])
  }
})

test('suggestions rank codes and whole names before prefixes, and those before parts', () => {
  const first = (query: string) => {
    const [best] = suggest(names, query, 10)
    return best && [best.listing.key, best.match]
  }
  expect(first('600519')).toEqual(['600519', 'code'])
  expect(first('60051')).toEqual(['600519', 'code_prefix'])
  expect(first('700')).toEqual(['HK00700', 'code'])
  expect(first('茅台')).toEqual(['600519', 'name'])
  expect(first('貴州')).toEqual(['600519', 'name_prefix'])
  expect(first('gzm')).toEqual(['600519', 'initials'])
  expect(first('guizhou mao')).toEqual(['600519', 'pinyin'])
  expect(first('mouta')).toEqual(['600519', 'name_prefix'])
  expect(first('berkshire')).toEqual(['BRK.B', 'name_prefix'])
  expect(suggest(names, '州茅', 10).map(({ listing: { key }, match }) => [key, match])).toEqual([
    ['600519', 'name_part'],
  ])
  expect(suggest(names, 'hathaway', 5).map(({ listing: { key } }) => key)).toEqual(['BRK.B', 'BRK.A'])
  expect(suggest(names, '中国平安', 10).map(({ listing: { key } }) => key)).toEqual(['601318', 'HK02318'])
  expect(suggest(names, 'z', 25)).toHaveLength(25)
  for (const nothing of ['', '   ', '\u0000', '龘龘', 'x'.repeat(61), "' OR 1=1"])
    expect(suggest(names, nothing, 5)).toEqual([])
})

test('a changed listing replaces its packaged line everywhere, and one no longer traded is known by its key alone', async () => {
  const { table } = await packagedTable()
  const changed = [
    listing('000007', '崭新股份', { aliases: ['*ST全新'], pinyin: 'zhan xin gu fen', popularity: 90 }),
    listing('688999', '全新好听'),
    listing('000005', 'ST星源', { active: false }),
  ]
  const layered = new NameIndex('x', table, nameTable(changed))
  expect(keys(layered.named('崭新股份'))).toEqual(['000007'])
  expect(keys(layered.named('*st全新')), 'the former name is an alias').toEqual(['000007'])
  expect(keys(layered.spelled('stquanxin')), 'the packaged pinyin is gone').toEqual([])
  expect(keys(layered.spelled('zxgf'))).toContain('000007')
  expect(keys(layered.closest('崭新股粉'))).toEqual(['000007'])
  expect(layered.byKey('000007')?.zh).toBe('崭新股份')
  expect(keys(layered.named('ST星源'))).toEqual([])
  expect(layered.byKey('000005')).toMatchObject({ zh: 'ST星源', active: false })
  expect(suggest(layered, '全新好', 3).map(({ listing: { key } }) => key)).toEqual(['688999'])
  expect(suggest(layered, '000005', 3)).toEqual([])
  expect(layered.all()).toHaveLength(all.length + 1)
})

test('the packed form gives back the terms that were packed', () => {
  const some = [
    listing('600519', '贵州茅台', { pinyin: 'gui zhou mao tai', aliases: ['茅台'] }),
    listing('AAPL', '苹果'),
  ]
  const terms = sortedTerms(some)
  const table = unpacked('600519\t贵州茅台\t\tgui zhou mao tai\t茅台\nAAPL\t苹果', packedTerms(terms))
  expect([table.texts, table.kinds, table.owners]).toEqual([terms.texts, terms.kinds, terms.owners])
  expect(table.listing(0)).toMatchObject({ key: '600519', aliases: ['茅台'], popularity: 100 })
  expect([...table.texts]).toEqual([...table.texts].sort((a, b) => (a < b ? -1 : 1)))
})

test('a fund that its code does not tell is known as one from the list, and one that its code tells stays one', () => {
  const kindOf = (key: string) => {
    const listing = names.byKey(key)
    return listing && instrumentOf(listing).kind
  }
  const kinds = ['SPY', 'QQQ', 'AAPL', '600519', '510300', 'SPX'].map(kindOf)
  expect(kinds).toEqual(['etf', 'etf', 'stock', 'stock', 'etf', 'index'])
  const listing = names.byKey('510300')
  expect(listing && instrumentOf({ ...listing, kind: 'stock' }).kind).toBe('etf')
})
