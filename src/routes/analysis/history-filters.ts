import { z } from '@hono/zod-openapi'
import { stockNameStore } from '../../db/stock-names.ts'
import { valueError } from '../../http/validation.ts'
import { currentNames } from '../../kits/market-names/index.ts'
import { isoMicros } from '../../lib/clock.ts'
import { resolveInput } from '../../market/resolve.ts'

export const periodQuery = {
  start_date: z.string().optional().describe('YYYY-MM-DD, the first day, in China Standard Time'),
  end_date: z.string().optional().describe('YYYY-MM-DD, the last day, in China Standard Time'),
}

const DAY_MS = 24 * 3600 * 1000

/** The days of a query as instants: from the first one's start until the last one's end. */
export function period(query: { start_date?: string | undefined; end_date?: string | undefined }) {
  const from = dayStart(query.start_date, 'start_date')
  const last = dayStart(query.end_date, 'end_date')
  return {
    from: from === null ? null : isoMicros(from),
    until: last === null ? null : isoMicros(last + DAY_MS),
  }
}

/** Clients name days as China counts them, whatever zone they are in. */
const ZONE = '+08:00'

function dayStart(date: string | undefined, name: string): number | null {
  if (date === undefined || date === '') return null
  const at = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(`${date}T00:00:00${ZONE}`) : Number.NaN
  if (Number.isNaN(at)) throw valueError(['query', name], 'a date like 2026-08-14 is wanted', date)
  return at
}

/** Any spelling of a listing finds its records; what is no listing is looked for as it stands. */
export async function keyOf(env: Env, stockCode: string | undefined): Promise<string | null> {
  const text = stockCode?.trim() ?? ''
  if (text === '') return null
  const resolution = resolveInput(text, await currentNames(stockNameStore(env.DB)))
  return resolution?.ok ? resolution.instrument.key : text.toUpperCase()
}
