// Where lists of names come from: of all mainland stocks, and the public lists of the other markets, each from where its market
// hands it out.

import type { Clock } from '../../lib/clock.ts'
import { type Fetch, requestText } from '../../lib/http-client.ts'
import type { RawVariables } from '../../lib/variables.ts'
import type { SourceOptions } from '../providers/build.ts'
import { faulty } from '../providers/checks.ts'
import { fundList, hongKongList, mainlandList } from '../providers/eastmoney-boards.ts'
import { type GateKeeper, paceOf } from '../providers/gate.ts'
import { eastMoneyUrls, nameListUrls, sinaUrls } from '../providers/registry.ts'
import { sinaMainlandList } from '../providers/sina.ts'
import { eastMoneyListed, kindCompanies, type Listed, mopsCompanies, nasdaqTraded } from './listed.ts'
import type { NameSource } from './refresh.ts'

const SINA_PAUSE_MS = 300

/** In the configured order; sources without a list are passed over. */
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
  /** What the log and the document call it. */
  name: string
  source: string
  /** A list with fewer has lost a page. */
  least: number
  load: () => Promise<Listed[]>
}

type Sources = { providers: readonly string[]; variables: RawVariables; clock: Clock; gate: GateKeeper; fetch?: Fetch }

/** Names of companies change seldom, and these hosts are slow. */
const TIMEOUT_MS = 30_000

/** Those of EastMoney only where it is among the configured providers. */
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
