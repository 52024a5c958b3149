// The sources of name lists: of all mainland stocks, and the public lists of the other markets, each read from its own
// format into the same rows.

import type { ListingKind } from '../../kits/market-names/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Fetch, requestText } from '../../lib/http-client.ts'
import type { RawVariables } from '../../lib/variables.ts'
import { parseCode } from '../instruments.ts'
import { withoutCompanyForm } from '../pasted.ts'
import { faulty } from '../providers/checks.ts'
import { fundList, hongKongList, mainlandList } from '../providers/eastmoney-boards.ts'
import { type GateKeeper, paceOf } from '../providers/gate.ts'
import type { SourceOptions } from '../providers/index.ts'
import { eastMoneyUrls, nameListUrls, sinaUrls } from '../providers/registry.ts'
import { sinaMainlandList } from '../providers/sina.ts'
import type { NameSource } from './refresh.ts'

const SINA_PAUSE_MS = 300

/** In the configured order; sources without a list are skipped. */
export function nameSources(options: SourceOptions, { clock, gate }: { clock: Clock; gate: GateKeeper }): NameSource[] {
  const { variables = {} } = options
  const shared = { clock, ...(options.fetch === undefined ? {} : { fetch: options.fetch }) }
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, SINA_PAUSE_MS))
  const lists: Record<string, NameSource['list']> = {
    eastmoney: () => mainlandList({ ...shared, ...eastMoneyUrls(variables), pace: paceOf(gate) }, {}),
    sina: () => sinaMainlandList({ ...shared, ...sinaUrls(variables), pause }),
  }
  return options.providers.flatMap((name) => {
    const list = Object.hasOwn(lists, name) ? lists[name] : undefined
    return list === undefined ? [] : [{ name, list }]
  })
}

export type MarketList = {
  /** Its name in the log and the document. */
  name: string
  source: string
  /** A list with fewer rows has lost a page. */
  least: number
  load: () => Promise<Listed[]>
}

type Sources = { providers: readonly string[]; variables: RawVariables; clock: Clock; gate: GateKeeper; fetch?: Fetch }

/** Company names rarely change, and these hosts are slow. */
const TIMEOUT_MS = 30_000

/** Those of EastMoney only if it is among the configured providers. */
export function marketLists(sources: Sources): MarketList[] {
  return [...ofExchanges(sources), ...(sources.providers.includes('eastmoney') ? ofEastMoney(sources) : [])]
}

function ofExchanges({ variables, fetch }: Sources): MarketList[] {
  const { nasdaq, mops, kind } = nameListUrls(variables)
  const text = (service: string, url: string, encoding = 'utf-8') =>
    requestText(url, { service, encoding, timeoutMs: TIMEOUT_MS, ...(fetch === undefined ? {} : { fetch }) })
  const traded = async () =>
    known('nasdaqtrader', nasdaqTraded(await text('nasdaqtrader', `${nasdaq}/dynamic/SymDir/nasdaqtraded.txt`)))
  const seoul = async (market: string, exchange: 'KS' | 'KQ') => {
    const query = `method=download&searchType=13&marketType=${market}`
    return known(
      'kind',
      kindCompanies(await text('kind', `${kind}/corpgeneral/corpList.do?${query}`, 'euc-kr'), exchange),
    )
  }
  const taipei = async (file: string, exchange: 'TW' | 'TWO') =>
    known('mops', mopsCompanies(await text('mops', `${mops}/opendata/${file}.csv`), exchange))
  return [
    { name: 'us', source: 'nasdaqtrader', least: 5_000, load: traded },
    { name: 'kr', source: 'kind', least: 600, load: () => seoul('stockMkt', 'KS') },
    { name: 'kr-kosdaq', source: 'kind', least: 1_200, load: () => seoul('kosdaqMkt', 'KQ') },
    { name: 'tw', source: 'mops', least: 700, load: () => taipei('t187ap03_L', 'TW') },
    { name: 'tw-otc', source: 'mops', least: 600, load: () => taipei('t187ap03_O', 'TWO') },
  ]
}

function ofEastMoney({ variables, clock, gate, fetch }: Sources): MarketList[] {
  const pace = paceOf(gate)
  const options = { clock, ...eastMoneyUrls(variables), pace, ...(fetch === undefined ? {} : { fetch }) }
  const hongKong = async () => eastMoneyListed(await hongKongList(options, {}), 'hk')
  const funds = async () => eastMoneyListed(await fundList(options, {}), 'cn')
  return [
    { name: 'hk', source: 'eastmoney', least: 2_000, load: hongKong },
    { name: 'cn-funds', source: 'eastmoney', least: 800, load: funds },
  ]
}

function known(service: string, rows: Listed[] | null): Listed[] {
  if (rows === null) throw faulty(service, 'malformed', 'not the known form of a list')
  return rows
}

// The lists of exchanges and vendors in their own formats, each converted to the same rows. Anything except shares and
// funds (a warrant, a preferred share, a test issue) is left out; an unknown format is an error, not an empty list.

export type Listed = {
  key: string
  /** As in the list, in the script of its market. */
  name: string
  en: string
  kind: ListingKind
  aliases: string[]
}

const LONGEST_NAME = 60

/** The row of a code; null when this service could not use the code or the name. */
function listed(code: string, name: string, more: Partial<Listed> = {}): Listed | null {
  const parsed = parseCode(code)
  const clean = name.normalize('NFKC').replace(/\s+/g, ' ').trim()
  const isUsable = clean !== '' && clean.length <= LONGEST_NAME && !/[\p{C}<>"`]/u.test(clean)
  if (!parsed.ok || parsed.instrument.kind === 'index' || !isUsable) return null
  const { kind } = parsed.instrument
  return { key: parsed.instrument.key, name: clean, en: '', kind, aliases: [], ...more }
}

const present = <T>(rows: (T | null)[]): T[] => rows.filter((row) => row !== null)

/** The indexes of the wanted columns in a table; null when one is missing. */
function columns(header: readonly string[], wanted: readonly string[]): number[] | null {
  const places = wanted.map((name) => header.findIndex((cell) => cell.trim() === name))
  return places.includes(-1) ? null : places
}

// --- New York: `nasdaqtraded.txt`, fields between bars, and a last line that tells when it was made

const OTHER_SECURITY =
  /\b(?:warrants?|(?<!common )units?|rights?|preferred|preference|notes? due|debentures?|when[- ]issued)\b/i
const SHARE_WORDS =
  /\s*-?\s*(?:class [a-z] )?(?:(?:common|ordinary|capital|subordinate voting|voting) (?:stock|shares?|units?)|american depositary|global depositary|adr\b|ads\b|shares of beneficial interest).*$/i

function nasdaqTraded(text: string): Listed[] | null {
  const [first = '', ...lines] = text.split(/\r?\n/)
  const places = columns(first.split('|'), ['Symbol', 'Security Name', 'ETF', 'Test Issue'])
  if (places === null) return null
  const rows = lines.filter((line) => line !== '' && !line.startsWith('File Creation Time'))
  return present(
    rows.map((line) => {
      const cells = line.split('|')
      const [symbol = '', name = '', etf, test] = places.map((place) => cells[place])
      if (test !== 'N' || !/^[A-Z]{1,5}(?:\.[A-Z])?$/.test(symbol) || OTHER_SECURITY.test(name)) return null
      if (etf === 'Y') return listed(symbol, name, { en: name, kind: 'etf' })
      const company = name.replace(SHARE_WORDS, '').trim() || name
      const bare = withoutCompanyForm(company) ?? company
      return listed(symbol, bare, { en: bare, aliases: bare === company ? [] : [company] })
    }),
  )
}

// --- Taipei: the basic data of companies, CSV in quotation marks

function mopsCompanies(csv: string, exchange: 'TW' | 'TWO'): Listed[] | null {
  const [first = '', ...lines] = csv.replace(/^\uFEFF/, '').split(/\r?\n/)
  const places = columns(csvCells(first), ['公司代號', '公司簡稱'])
  if (places === null) return null
  const [english] = columns(csvCells(first), ['英文簡稱']) ?? []
  return present(
    lines
      .filter((line) => line !== '')
      .map((line) => {
        const cells = csvCells(line)
        const [code = '', name = ''] = places.map((place) => cells[place]?.trim())
        const en = english === undefined ? '' : (cells[english] ?? '').trim()
        return listed(`${code}.${exchange}`, name, { en: en.length <= LONGEST_NAME ? en : '' })
      }),
  )
}

function csvCells(line: string): string[] {
  const cells = line.match(/"(?:[^"]|"")*"|[^,]+|(?<=,)(?=,|$)/g) ?? []
  return cells.map((cell) => cell.replace(/^"|"$/g, '').replaceAll('""', '"'))
}

// --- Seoul: the table that the exchange's disclosure site hands out as a spreadsheet

function kindCompanies(html: string, exchange: 'KS' | 'KQ'): Listed[] | null {
  const rows = [...html.matchAll(/<tr[^>]*>(.*?)<\/tr>/gis)].map(([, row = '']) => {
    return [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gis)].map(([, cell = '']) => textOf(cell))
  })
  const places = columns(rows[0] ?? [], ['회사명', '종목코드'])
  if (places === null) return null
  return present(
    rows.slice(1).map((cells) => {
      const [name = '', code = ''] = places.map((place) => cells[place])
      return listed(`${code}.${exchange}`, name)
    }),
  )
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', '#39': "'" }

const textOf = (cell: string): string =>
  cell
    .replace(/<[^>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|nbsp|#39);/g, (_, name: string) => ENTITIES[name] ?? ' ')
    .trim()

// --- Hong Kong and the mainland's funds: EastMoney's list

/** EastMoney writes Hong Kong codes with five digits and mainland codes with six. */
function eastMoneyListed(rows: readonly { code: string; name: string }[], market: 'hk' | 'cn'): Listed[] {
  const form = market === 'hk' ? /^\d{5}$/ : /^\d{6}$/
  return present(
    rows.map(({ code, name }) =>
      form.test(code) ? listed(market === 'hk' ? `HK${code}` : code, name.replace(/\s+/g, '')) : null,
    ),
  )
}
