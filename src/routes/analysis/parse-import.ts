// An import of stocks: reads a text or a file (CSV, XLSX), and returns how each row was read. Nothing is stored.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../../config.ts'
import { stockNameStore } from '../../db/stock-names.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { readBytes } from '../../http/body.ts'
import { callerLanguage } from '../../http/caller-language.ts'
import { type AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { currentNames } from '../../kits/market-names/index.ts'
import {
  type ImportRow,
  MOST_ROWS,
  type ReadRow,
  readRows,
  rowsOf,
  rowsOfSheet,
  textOfFile,
} from '../../market/import-list.ts'
import type { Language } from '../../market/names/labels.ts'
import type { Reading } from '../../market/readings.ts'
import { firstSheet, isOldOffice, isZip } from '../../market/sheet.ts'
import { readingOf, StockReading } from './readings.ts'
import { refusalError } from './refusals.ts'

const MAX_BYTES = 2_097_152

const ImportItem = StockReading.extend({
  code: z
    .string()
    .nullable()
    .describe('The code to take over: the likeliest where `confidence` is low, null where nobody knows'),
  name: z.string().nullable(),
  confidence: z.enum(['high', 'medium', 'low']),
  row: z.int().describe('Where it stands in the file, from 1 and with the header'),
  group: z.string().nullable().describe('What stands in a column of groups'),
  note: z.string().nullable().describe('What stands in a column of notes'),
}).openapi('StockImportItem')

export const StockImport = z
  .object({
    codes: z.array(z.string()).describe('The codes of all rows that are clear'),
    items: z.array(ImportItem).describe('One for each row, the same listing once'),
  })
  .openapi('StockImport')

const app = router(analysisEnvelope)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/v1/stocks/parse-import',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Stocks',
    summary: 'How the rows of a text, a CSV or a workbook (XLSX) would be read as stocks; a form, or JSON with `text`',
    rawBody: {
      contentType: 'multipart/form-data',
      schema: z.object({ file: z.string().describe('The file: a workbook, or text in UTF-8, UTF-16 or GBK') }),
    },
    example: { body: { file: 'the bytes of stocks.csv' } },
    replies: {
      200: { description: 'The rows in their order', schema: StockImport },
      400: { description: 'No text or file, one that is empty, too large or cannot be read, or too many rows' },
    },
  },
  async (c) => {
    const rows = await rowsIn(c)
    if (typeof rows === 'number') {
      throw refusalError(c, ({ tooManyRows }) => tooManyRows(rows, MOST_ROWS), { word: 'parse_failed' })
    }
    if (rows.length === 0) throw refusalError(c, ({ noRows }) => noRows, { word: 'parse_failed' })
    const names = await currentNames(stockNameStore(c.env.DB))
    const language = callerLanguage(c)
    const items = readRows(rows, names).map((read) => itemOf(read, language))
    const codes = items.flatMap(({ code, confidence }) => (code === null || confidence === 'low' ? [] : [code]))
    return c.json({ codes, items })
  },
)

const nothing = (c: Context<AppEnv>): AppError => refusalError(c, ({ noFile }) => noFile, { word: 'bad_request' })

async function rowsIn(c: Context<AppEnv>): Promise<ImportRow[] | number> {
  const contentType = c.req.header('content-type') ?? ''
  const bytes = await readBytes(c.req.raw, config(c.env).maxBodyBytes)
  if (bytes.byteLength > MAX_BYTES) throw refusalError(c, ({ largeFile }) => largeFile(2), { word: 'file_too_large' })
  if (!/^multipart\/form-data\b/i.test(contentType)) return rowsOf(textOfJson(c, bytes))
  const file = await fileOfForm(c, bytes)
  if (typeof file === 'string') return rowsOf(file)
  const content = new Uint8Array(await file.arrayBuffer())
  return isZip(content) || isOldOffice(content) ? rowsOfWorkbook(c, content) : rowsOf(plainTextOf(c, content))
}

function plainTextOf(c: Context<AppEnv>, content: Uint8Array): string {
  const text = textOfFile(content)
  if (text === null) throw refusalError(c, ({ noText }) => noText, { word: 'parse_failed' })
  return text
}

async function rowsOfWorkbook(c: Context<AppEnv>, content: Uint8Array): Promise<ImportRow[] | number> {
  if (isOldOffice(content)) throw refusalError(c, ({ sheet }) => sheet.old, { word: 'parse_failed' })
  const sheet = await firstSheet(content, MOST_ROWS + 2)
  if (sheet.ok) return rowsOfSheet(sheet)
  throw refusalError(c, (say) => say.sheet[sheet.reason](sheet.file ?? ''), { word: 'parse_failed' })
}

const JsonImport = z.object({ text: z.string() })

function textOfJson(c: Context<AppEnv>, bytes: Uint8Array): string {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw refusalError(c, ({ noJson }) => noJson, { word: 'invalid_json' })
  }
  const parsed = JsonImport.safeParse(value)
  if (!parsed.success) throw nothing(c)
  return parsed.data.text
}

/** The field `file` of a form, a file or a text. */
export async function fileOfForm(c: Context<AppEnv>, bytes: Uint8Array): Promise<File | string> {
  const contentType = c.req.header('content-type') ?? ''
  const form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData().catch((cause) => {
    throw refusalError(c, ({ noForm }) => noForm, { word: 'read_failed', cause })
  })
  const file = form.get('file')
  if (file === null) throw nothing(c)
  return file
}

export function itemOf({ reading, row, group, note }: ReadRow, language: Language): z.infer<typeof ImportItem> {
  const wire = readingOf(reading, language)
  const [first] = wire.candidates
  const taken = reading.resolved === null ? first : wire
  return {
    ...wire,
    code: taken?.stock_code ?? null,
    name: taken?.stock_name ?? null,
    confidence: confidenceOf(reading),
    row,
    group,
    note,
  }
}

/** High for a code in the list, medium for a name or for a code that is not in the list. */
function confidenceOf({ kind, resolved }: Reading): 'high' | 'medium' | 'low' {
  if (resolved === null) return 'low'
  return kind === 'code' && resolved.listing !== null ? 'high' : 'medium'
}

export { app as parseImport }
