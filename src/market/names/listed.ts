// The lists of exchanges and vendors in their own formats, each made into the same rows. What is no share or fund (a warrant, a
// preferred share, a test issue) is left out; a format that is not the known one is an error, not an empty list.

import type { ListingKind } from '../../kits/market-names/index.ts'
import { parseCode } from '../instruments.ts'
import { withoutCompanyForm } from '../pasted.ts'

export type Listed = {
  key: string
  /** As the list has it, in the script of its market. */
  name: string
  en: string
  kind: ListingKind
  aliases: string[]
}

const LONGEST_NAME = 60

/** The row of a code; null where the code or the name is none that this service could use. */
function listed(code: string, name: string, more: Partial<Listed> = {}): Listed | null {
  const parsed = parseCode(code)
  const clean = name.normalize('NFKC').replace(/\s+/g, ' ').trim()
  const isUsable = clean !== '' && clean.length <= LONGEST_NAME && !/[\p{C}<>"`]/u.test(clean)
  if (!parsed.ok || parsed.instrument.kind === 'index' || !isUsable) return null
  const { kind } = parsed.instrument
  return { key: parsed.instrument.key, name: clean, en: '', kind, aliases: [], ...more }
}

const present = <T>(rows: (T | null)[]): T[] => rows.filter((row) => row !== null)

/** The rows of a table as objects of the columns that are wanted; null where it lacks one. */
function columns(header: readonly string[], wanted: readonly string[]): number[] | null {
  const places = wanted.map((name) => header.findIndex((cell) => cell.trim() === name))
  return places.includes(-1) ? null : places
}

// --- New York: `nasdaqtraded.txt`, fields between bars, and a last line that tells when it was made

const OTHER_SECURITY =
  /\b(?:warrants?|(?<!common )units?|rights?|preferred|preference|notes? due|debentures?|when[- ]issued)\b/i
const SHARE_WORDS =
  /\s*-?\s*(?:class [a-z] )?(?:(?:common|ordinary|capital|subordinate voting|voting) (?:stock|shares?|units?)|american depositary|global depositary|adr\b|ads\b|shares of beneficial interest).*$/i

export function nasdaqTraded(text: string): Listed[] | null {
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

export function mopsCompanies(csv: string, exchange: 'TW' | 'TWO'): Listed[] | null {
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

export function kindCompanies(html: string, exchange: 'KS' | 'KQ'): Listed[] | null {
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

/** EastMoney writes Hong Kong's codes with five digits and the mainland's with six. */
export function eastMoneyListed(rows: readonly { code: string; name: string }[], market: 'hk' | 'cn'): Listed[] {
  const form = market === 'hk' ? /^\d{5}$/ : /^\d{6}$/
  return present(
    rows.map(({ code, name }) =>
      form.test(code) ? listed(market === 'hk' ? `HK${code}` : code, name.replace(/\s+/g, '')) : null,
    ),
  )
}
