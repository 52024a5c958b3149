// The list that the web client loads once and searches by itself. Its rows are tuples of fixed order, part of the wire contract.

import { stockNameStore } from '../../db/stock-names.ts'
import { detailEnvelope } from '../../http/errors.ts'
import { router, serve } from '../../http/router.ts'
import { currentNames, initialsOf, joinedPinyin, type Listing, type NameIndex } from '../../kits/market-names/index.ts'
import type { Instrument } from '../../market/instruments.ts'
import { canonicalCode, instrumentOf } from '../../market/names/labels.ts'

const app = router(detailEnvelope)

/** Code with exchange, code as shown, Chinese name, pinyin, initials, aliases, market, kind, still traded, popularity. */
type Entry = [
  canonicalCode: string,
  shownCode: string,
  zh: string,
  pinyin: string,
  initials: string,
  aliases: string[],
  market: 'CN' | 'HK' | 'US' | 'JP' | 'KR' | 'TW' | 'INDEX' | 'ETF' | 'BSE',
  kind: Instrument['kind'],
  active: boolean,
  popularity: number,
]

// A file to the browser, not a call of the API: the document does not tell of it.
const file = { method: 'get', path: '/stocks.index.json' } as const
serve(app, { ...file, scope: 'analysis', limit: 'reads', bodyLimit: 'standard' }, async (c) => {
  const names = await currentNames(stockNameStore(c.env.DB))
  const headers = { etag: `W/"${names.version}"`, 'cache-control': 'private, no-cache' }
  if (holds(c.req.header('if-none-match'), headers.etag)) return c.body(null, 304, headers)
  return c.body(textOf(names), 200, { ...headers, 'content-type': 'application/json; charset=utf-8' })
})

/** Proxies drop or add the mark of a weak tag when they compress. */
function holds(header: string | undefined, etag: string): boolean {
  const plain = (tag: string) => tag.trim().replace(/^W\//, '')
  return (header ?? '').split(',').some((tag) => plain(tag) === plain(etag) || tag.trim() === '*')
}

let made: { version: string; text: string } | null = null

function textOf(names: NameIndex): string {
  if (made?.version !== names.version) {
    made = { version: names.version, text: JSON.stringify(names.all().map(entryOf)) }
  }
  return made.text
}

function entryOf(listing: Listing): Entry {
  const { zh, en, aliases, kind, active, popularity } = listing
  const instrument = instrumentOf(listing)
  const others = en === '' || en === zh ? aliases : [en, ...aliases]
  return [
    canonicalCode(instrument),
    shownCode(instrument),
    zh,
    joinedPinyin(listing),
    initialsOf(listing),
    [...others],
    marketOf(instrument),
    kind,
    active,
    popularity,
  ]
}

/** What the client may submit as it stands. */
function shownCode({ key, market, kind, code }: Instrument): string {
  return market === 'hk' && kind !== 'index' ? code : key
}

function marketOf({ market, exchange, kind }: Instrument): Entry[6] {
  if (kind === 'index') return 'INDEX'
  if (market === 'cn' && kind === 'etf') return 'ETF'
  if (exchange === 'BJ') return 'BSE'
  return market.toUpperCase() as Entry[6]
}

export { app as stockIndex }
