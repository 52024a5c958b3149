// The import of a broker's file: the known formats, a preview, and the booking. A file is booked as a whole or not at
// all.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../../../config.ts'
import { stockNameStore } from '../../../db/stock-names.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { readBytes } from '../../../http/body.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { currentNames } from '../../../kits/market-names/index.ts'
import { isoMicros } from '../../../lib/clock.ts'
import { formatAmount } from '../../../lib/decimal.ts'
import { textOfFile } from '../../../market/import-list.ts'
import type { Instrument } from '../../../market/instruments.ts'
import { readEntry } from '../../../market/readings.ts'
import { importTrades } from '../../../portfolio/book.ts'
import { tableOf } from '../../../portfolio/csv-table.ts'
import { type CsvTrades, type RowFault, tradesOf } from '../../../portfolio/csv-trades.ts'
import {
  type Choice,
  chosenLayout,
  FIELDS,
  folded,
  type Header,
  headerOf,
  LAYOUTS,
  type Layout,
  layoutOf,
} from '../../../portfolio/layouts.ts'
import { idOf } from './accounts.ts'
import {
  cashOf,
  dividendOf,
  PortfolioImport,
  PortfolioImportResult,
  recordOf,
  SHOWN_FAULTS,
  SHOWN_RECORDS,
  skippedShown,
} from './import-shapes.ts'
import { faultText, importTexts, short } from './import-texts.ts'
import { BASE, clash, missing, reads, refused, writes } from './shapes.ts'
import { booked } from './texts.ts'

const app = router(analysisEnvelope)
const PATH = `${BASE}/imports/csv`
const MAX_BYTES = 2_097_152
const MAX_ROWS = 10_000

const invalid = (c: Context<AppEnv>, say: (texts: ReturnType<typeof importTexts>) => string): AppError =>
  new AppError('validation_error', say(importTexts(c)))

endpoint(
  app,
  {
    ...reads,
    path: `${PATH}/brokers`,
    summary: 'Whose files can be imported',
    replies: {
      200: {
        description: 'The brokers',
        schema: z.object({
          brokers: z
            .array(
              z
                .object({
                  broker: z.string().describe('Its name in requests'),
                  aliases: z.array(z.string()).describe('Other names of it'),
                  display_name: z.string().describe('In your language'),
                })
                .openapi('PortfolioBroker'),
            )
            .describe('`generic` is the one for any other file'),
        }),
      },
    },
  },
  (c) => {
    const language = callerLanguage(c)
    const brokers = LAYOUTS.map(({ broker, aliases, names }) => {
      return { broker, aliases: [...aliases], display_name: names[language] }
    })
    return c.json({ brokers })
  },
)

const form = {
  broker: z.string().describe('A name or another name of a broker; `generic` for any other'),
  file: z.string().describe('Text in UTF-8, UTF-16 or GBK, at most 2 MB and 10,000 rows'),
  mapping: z.string().optional().describe('JSON: the columns that you choose, as in docs/portfolio.md'),
}
const multipart = 'multipart/form-data'

endpoint(
  app,
  {
    ...writes,
    method: 'post',
    limit: 'reads',
    path: `${PATH}/parse`,
    summary: 'What a file would book; nothing is stored',
    rawBody: { contentType: multipart, schema: z.object(form) },
    example: { body: { broker: 'huatai', file: 'the bytes of trades.csv' } },
    replies: { 200: { description: 'Its trades and its faults', schema: PortfolioImport }, ...refused },
  },
  async (c) => {
    const read = await fileOf(c, await formOf(c))
    return c.json(previewOf(c, read))
  },
)

endpoint(
  app,
  {
    ...writes,
    method: 'post',
    path: `${PATH}/commit`,
    summary: 'Book the trades of a file that are not booked yet, all or none of them',
    rawBody: {
      contentType: multipart,
      schema: z.object({
        ...form,
        account_id: z.string().describe('The account'),
        dry_run: z.string().optional().describe('`true`: a trial, which books nothing'),
      }),
    },
    example: { body: { account_id: '1', broker: 'huatai', dry_run: 'true', file: 'the bytes of trades.csv' } },
    replies: {
      200: { description: 'What was booked', schema: PortfolioImportResult },
      ...refused,
      ...missing,
      ...clash,
    },
  },
  async (c) => {
    const sent = await formOf(c)
    const account = idOf(textIn(sent, 'account_id'))
    const isTrial = ['true', '1', 'yes', 'on'].includes(textIn(sent, 'dry_run').toLowerCase())
    return c.json(await commit(c, await fileOf(c, sent), { account, isTrial }))
  },
)

async function commit(c: Context<AppEnv>, read: FileRead, { account, isTrial }: { account: number; isTrial: boolean }) {
  const { faults, skipped } = read
  const told = await booked(c, () => {
    const isOnlyLooked = isTrial || faults.length > 0
    const at = isoMicros(Date.now())
    return importTrades(c.env.DB, c.var.principal.owner, { account, entries: read, isTrial: isOnlyLooked, at })
  })
  const oversold = faults.length === 0 ? oversellOf(read, told.oversell) : []
  const all = [...faults, ...oversold]
  if (all.length > 0 && !isTrial) throw refusal(c, all)
  return {
    account_id: account,
    record_count: countOf(read),
    inserted_count: all.length > 0 ? 0 : told.booked,
    duplicate_count: told.repeated,
    failed_count: all.length,
    skipped_count: skipped.length,
    skipped: skippedShown(skipped),
    dry_run: isTrial,
    errors: shownFaults(c, all),
  } satisfies z.infer<typeof PortfolioImportResult>
}

const countOf = ({ trades, dividends, cash }: CsvTrades) => trades.length + dividends.length + cash.length

/** The impossible sale: one of the file, or one already booked for a later day. */
function oversellOf({ header }: FileRead, oversell: Awaited<ReturnType<typeof importTrades>>['oversell']): RowFault[] {
  if (oversell === null) return []
  const { trade, held } = oversell.error
  const { symbol, date, quantity } = trade
  const figures = { symbol, date, quantity: formatAmount(quantity), held: formatAmount(held) }
  const column = header.names[header.places.quantity] ?? 'quantity'
  return [{ fault: 'oversell', row: oversell.row ?? 0, column, ...figures }]
}

function refusal(c: Context<AppEnv>, faults: readonly RowFault[]): AppError {
  const errors = shownFaults(c, faults)
  const more = faults.length > SHOWN_MESSAGES ? ` (+${faults.length - SHOWN_MESSAGES})` : ''
  const message = `${errors.slice(0, SHOWN_MESSAGES).join('; ')}${more}`
  const extra = { detail: { message, errors } }
  const isOversell = faults.some(({ fault }) => fault === 'oversell')
  return isOversell
    ? new AppError('conflict', message, { word: 'portfolio_oversell', extra })
    : new AppError('validation_error', message, { extra })
}

const SHOWN_MESSAGES = 5

const shownFaults = (c: Context<AppEnv>, faults: readonly RowFault[]): string[] =>
  faults.slice(0, SHOWN_FAULTS).map((fault) => faultText(importTexts(c), fault))

// --- The form and its file

type FileRead = CsvTrades & { layout: Layout; header: Header }

async function formOf(c: Context<AppEnv>): Promise<FormData> {
  const bytes = await readBytes(c.req.raw, config(c.env).maxBodyBytes)
  const headers = { 'content-type': c.req.header('content-type') ?? '' }
  return new Response(bytes, { headers }).formData().catch(() => {
    throw invalid(c, ({ noForm }) => noForm)
  })
}

function textIn(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

async function fileOf(c: Context<AppEnv>, sent: FormData): Promise<FileRead> {
  const file = sent.get('file')
  const broker = textIn(sent, 'broker')
  if (file === null || broker === '') throw invalid(c, ({ noFile }) => noFile)
  const known = layoutOf(broker)
  if (known === null) throw invalid(c, (say) => say.broker(broker, LAYOUTS.map((one) => one.broker).join(', ')))
  const layout = chosenLayout(known, choiceIn(c, textIn(sent, 'mapping')))
  const bytes = typeof file === 'string' ? new TextEncoder().encode(file) : new Uint8Array(await file.arrayBuffer())
  const rows = rowsIn(c, bytes)
  const header = headerOf(rows, layout)
  if (!header.ok) {
    const { columns, columnTwice } = importTexts(c)
    const message = header.twice === null ? columns(header.missing, header.names) : columnTwice(short(header.twice))
    const detail = { message, missing: header.missing, columns: header.names }
    throw new AppError('validation_error', message, { extra: { detail } })
  }
  const listing = await listings(c)
  return { layout, header, ...(await tradesOf(rows, { header, layout, now: Date.now(), listing })) }
}

function rowsIn(c: Context<AppEnv>, bytes: Uint8Array) {
  if (bytes.byteLength > MAX_BYTES) throw invalid(c, (say) => say.large(MAX_BYTES / 1_048_576))
  const text = textOfFile(bytes)
  if (text === null) throw invalid(c, ({ noText }) => noText)
  const table = tableOf(text)
  if (!table.ok) throw invalid(c, (say) => say.openQuote(table.openQuote))
  const { rows } = table
  if (rows.length === 0) throw invalid(c, ({ noRows }) => noRows)
  if (rows.length > MAX_ROWS + 1) throw invalid(c, (say) => say.rows(rows.length, MAX_ROWS))
  return rows
}

/** Each text is resolved once, however many rows contain it. */
async function listings(c: Context<AppEnv>): Promise<(text: string) => Instrument | null> {
  const names = await currentNames(stockNameStore(c.env.DB))
  const known = new Map<string, Instrument | null>()
  return (text) => {
    let instrument = known.get(text)
    if (instrument === undefined) {
      instrument = readEntry(text, names)?.resolved?.instrument ?? null
      known.set(text, instrument)
    }
    return instrument
  }
}

const name = z.string().trim().min(1).max(100)
const names = z.union([name.transform((one) => [one]), z.array(name).min(1).max(20)])
const word = z.array(name).min(1).max(50)
const Mapping = z.strictObject({
  ...{ date: names, time: names, symbol: names, side: names, quantity: names, price: names },
  ...{ currency: names, uid: names, fee: names, tax: names, amount: names, buy: word, sell: word, dividend: word },
  date_order: z.enum(['ymd', 'mdy', 'dmy']),
  decimal: z.enum(['.', ',']),
})

function choiceIn(c: Context<AppEnv>, text: string): Choice {
  if (text === '') return {}
  const { success, data, error } = Mapping.partial().safeParse(jsonOf(text))
  if (!success) {
    const [issue] = error.issues
    throw invalid(c, (say) => say.mapping(`${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim()))
  }
  const { buy, sell, dividend, date_order: dateOrder, decimal } = data
  const lists = [buy, sell, dividend].map((list) => list?.map(folded) ?? [])
  const both = [...(sell ?? []), ...(dividend ?? [])].find(
    (one) => lists.filter((list) => list.includes(folded(one))).length > 1,
  )
  if (both !== undefined) throw invalid(c, (say) => say.mapping(say.wordOfBoth(both)))
  const columns = Object.fromEntries(
    FIELDS.flatMap((field) => (data[field] === undefined ? [] : [[field, data[field]]])),
  )
  return {
    columns,
    ...(buy === undefined ? {} : { buy }),
    ...(sell === undefined ? {} : { sell }),
    ...(dividend === undefined ? {} : { dividend }),
    ...(dateOrder === undefined ? {} : { dateOrder }),
    ...(decimal === undefined ? {} : { decimal }),
  }
}

/** Invalid JSON does not match any schema. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}

function previewOf(c: Context<AppEnv>, read: FileRead) {
  const { layout, header, trades, dividends, cash, skipped, faults } = read
  const named = (place: number | undefined) => header.names[place ?? -1] ?? null
  const { fee, tax, only: _only, ...single } = header.places
  const joined = (several: number[]) => several.map((place) => named(place)).join(', ') || null
  const mapping = Object.fromEntries(Object.entries(single).map(([field, place]) => [field, named(place)]))
  return {
    broker: layout.broker,
    record_count: countOf(read),
    dividend_count: dividends.length,
    cash_count: cash.length,
    skipped_count: skipped.length,
    error_count: faults.length,
    records: trades.slice(0, SHOWN_RECORDS).map(recordOf),
    errors: shownFaults(c, faults),
    dividends: dividends.slice(0, SHOWN_RECORDS).map(dividendOf),
    cash: cash.slice(0, SHOWN_RECORDS).map(cashOf),
    skipped: skippedShown(skipped),
    columns: header.names,
    mapping: { ...mapping, fee: joined(fee), tax: joined(tax) },
  } satisfies z.infer<typeof PortfolioImport>
}

export { app as portfolioImport }
