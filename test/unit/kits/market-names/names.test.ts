import fc from 'fast-check'
import { expect, test } from 'vitest'
import { editDistance } from '../../../../src/kits/market-names/edit-distance.ts'
import {
  candidates,
  fold,
  initialsOf,
  joinedPinyin,
  type Listing,
  packagedNames,
  suggest,
} from '../../../../src/kits/market-names/index.ts'
import { NameIndex } from '../../../../src/kits/market-names/name-index.ts'
import { nameTable, sortedTerms } from '../../../../src/kits/market-names/name-table.ts'
import { packagedTable, packedTerms, unpacked } from '../../../../src/kits/market-names/packaged.ts'
import { instrumentOf, keyOf } from '../../../../src/market/names/labels.ts'

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

/** Everything that one error makes of the text, told by where and which error. */
function withError(text: string, { at, kind, character }: { at: number; kind: number; character: string }): string {
  const place = at % text.length
  const [before, after] = [text.slice(0, place), text.slice(place)]
  if (kind === 0) return before + after.slice(1)
  if (kind === 1) return before + character + after
  if (kind === 2) return before + character + after.slice(1)
  return before + after.slice(1, 2) + after.slice(0, 1) + after.slice(2)
}

const error = fc.record({
  at: fc.nat(30),
  kind: fc.nat(3),
  character: fc.constantFrom('龘', '中', '国', 'a', 'e', 'x'),
})

test('of names with one error in them, the right listing is among the first five candidates', () => {
  const some = all.filter(({ zh, leading }) => leading === null && zh.length > 2)
  let [asked, found] = [0, 0]
  const isAmong = (text: string, key: string) => keys(candidates(names, text, { limit: 5, keyOf })).includes(key)
  fc.assert(
    fc.property(fc.constantFrom(...some), error, fc.boolean(), ({ key, zh, en }, one, inEnglish) => {
      const name = inEnglish && en.length > 5 ? en : zh
      const typed = withError(name, one)
      // Another listing's own name is no error, and less than three characters are out of reach.
      if (typed.length < 3 || names.named(typed).length > 0) return
      asked++
      if (isAmong(typed, key)) found++
    }),
    { numRuns: 400 },
  )
  expect(asked).toBeGreaterThan(200)
  expect(found / asked).toBeGreaterThanOrEqual(0.95)
})

test('candidates are found by initials, by one error and by a part, and a text that is like nothing has none', () => {
  const first = (text: string) => candidates(names, text, { limit: 5, keyOf })[0]?.key
  for (const [text, key] of [
    ['gzmt', '600519'],
    ['贵州茅苔', '600519'],
    ['guizhoumaotia', '600519'],
    ['NVIDA', 'NVDA'],
    ['Microsotf', 'MSFT'],
  ])
    expect([text, first(text ?? '')]).toEqual([text, key])
  for (const nothing of ['', 'qqqqzzzzxxxx', '龘龘龘', 'x'.repeat(61)]) expect(first(nothing)).toBeUndefined()
})

test('the distance of two texts is symmetric, and counts a swap of neighbours as one error', () => {
  const pairs: [string, string, number][] = [
    ['贵州茅台', '贵州茅苔', 1],
    ['招商银', '招商银行', 1],
    ['maotai', 'maotia', 1],
    ['ca', 'abc', 3],
    ['', 'ab', 2],
    ['same', 'same', 0],
    ['kitten', 'sitting', 3],
  ]
  for (const [a, b, errors] of pairs) expect([a, b, editDistance(a, b, 5)]).toEqual([a, b, errors])
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), fc.nat(4), (a, b, most) => {
      const whole = editDistance(a, b, 20)
      expect(editDistance(b, a, 20)).toBe(whole)
      expect(editDistance(a, b, most)).toBe(Math.min(whole, most + 1))
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
    const [best] = suggest(names, query, { limit: 10, keyOf })
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
  expect(suggest(names, '州茅', { limit: 10, keyOf }).map(({ listing: { key }, match }) => [key, match])).toEqual([
    ['600519', 'name_part'],
  ])
  expect(suggest(names, 'hathaway', { limit: 5, keyOf }).map(({ listing: { key } }) => key)).toEqual(['BRK.B', 'BRK.A'])
  expect(suggest(names, '中国平安', { limit: 10, keyOf }).map(({ listing: { key } }) => key)).toEqual([
    '601318',
    'HK02318',
  ])
  expect(suggest(names, 'z', { limit: 25, keyOf })).toHaveLength(25)
  for (const nothing of ['', '   ', '\u0000', '龘龘', 'x'.repeat(61), "' OR 1=1"])
    expect(suggest(names, nothing, { limit: 5, keyOf })).toEqual([])
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
  expect(keys(layered.withInitials('zxgf'))).toContain('000007')
  expect(keys(candidates(layered, '崭新股粉', { limit: 5, keyOf }))[0]).toBe('000007')
  expect(layered.byKey('000007')?.zh).toBe('崭新股份')
  expect(keys(layered.named('ST星源'))).toEqual([])
  expect(layered.byKey('000005')).toMatchObject({ zh: 'ST星源', active: false })
  expect(suggest(layered, '全新好', { limit: 3, keyOf }).map(({ listing: { key } }) => key)).toEqual(['688999'])
  expect(suggest(layered, '000005', { limit: 3, keyOf })).toEqual([])
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
