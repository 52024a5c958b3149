// An import of stocks: the text or the file that a person has, and how each of its rows is read. Nothing is stored.

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
import { MOST_ROWS, readRows, rowsOf, textOfFile } from '../../market/import-list.ts'
import type { Language } from '../../market/names/labels.ts'
import type { Reading } from '../../market/readings.ts'
import { readingOf, StockReading } from './readings.ts'
import { refused } from './refusals.ts'

const MAX_BYTES = 2_097_152

const ImportItem = StockReading.extend({
  code: z
    .string()
    .nullable()
    .describe('The code to take over: the likeliest where `confidence` is low, null where nobody knows'),
  name: z.string().nullable(),
  confidence: z.enum(['high', 'medium', 'low']),
}).openapi('StockImportItem')

const StockImport = z
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
    summary:
      'How the rows of a text or of a CSV file would be read as stocks; JSON with `text` is taken as well as a form',
    rawBody: {
      contentType: 'multipart/form-data',
      schema: z.object({ file: z.string().describe('The file, UTF-8, UTF-16 or GBK') }),
    },
    example: { body: { file: 'the bytes of stocks.csv' } },
    replies: {
      200: { description: 'The rows in their order', schema: StockImport },
      400: { description: 'No text or file, one that is too large or cannot be read, or too many rows' },
    },
  },
  async (c) => {
    const rows = rowsOf(await textOf(c))
    if (rows === null) throw refused(c, ({ tooManyRows }) => tooManyRows(MOST_ROWS), { word: 'parse_failed' })
    const names = await currentNames(stockNameStore(c.env.DB))
    const language = callerLanguage(c)
    const items = readRows(rows, names).map((reading) => itemOf(reading, language))
    const codes = items.flatMap(({ code, confidence }) => (code === null || confidence === 'low' ? [] : [code]))
    return c.json({ codes, items })
  },
)

const nothing = (c: Context<AppEnv>): AppError => refused(c, ({ noFile }) => noFile, { word: 'bad_request' })

async function textOf(c: Context<AppEnv>): Promise<string> {
  const contentType = c.req.header('content-type') ?? ''
  const bytes = await readBytes(c.req.raw, config(c.env).maxBodyBytes)
  if (bytes.byteLength > MAX_BYTES) throw refused(c, ({ largeFile }) => largeFile, { word: 'file_too_large' })
  return /^multipart\/form-data\b/i.test(contentType) ? textOfForm(c, bytes) : textOfJson(c, bytes)
}

const JsonImport = z.object({ text: z.string() })

function textOfJson(c: Context<AppEnv>, bytes: Uint8Array): string {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw refused(c, ({ noJson }) => noJson, { word: 'invalid_json' })
  }
  const parsed = JsonImport.safeParse(value)
  if (!parsed.success) throw nothing(c)
  return parsed.data.text
}

async function textOfForm(c: Context<AppEnv>, bytes: Uint8Array): Promise<string> {
  const contentType = c.req.header('content-type') ?? ''
  const form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData().catch((cause) => {
    throw refused(c, ({ noForm }) => noForm, { word: 'read_failed', cause })
  })
  const file = form.get('file')
  if (file === null) throw nothing(c)
  if (typeof file === 'string') return file
  const text = textOfFile(new Uint8Array(await file.arrayBuffer()))
  if (text !== null) return text
  throw refused(c, ({ noText }) => noText, { word: 'parse_failed' })
}

function itemOf(reading: Reading, language: Language): z.infer<typeof ImportItem> {
  const wire = readingOf(reading, language)
  const [first] = wire.candidates
  const taken = reading.resolved === null ? first : wire
  return {
    ...wire,
    code: taken?.stock_code ?? null,
    name: taken?.stock_name ?? null,
    confidence: confidenceOf(reading),
  }
}

/** High for a code that the list knows, medium for a name, and for a code that is not in the list. */
function confidenceOf({ kind, resolved }: Reading): 'high' | 'medium' | 'low' {
  if (resolved === null) return 'low'
  return kind === 'code' && resolved.listing !== null ? 'high' : 'medium'
}

export { app as parseImport }
