// The sources of the bars of an evaluation: the packaged samples, a folder of files, the bars that a service has stored.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { eligible, type SeriesResult } from '../../src/analysis/evidence/observations.ts'
import type { Bar } from '../../src/market/bars.ts'
import { BarList } from '../../src/market/providers/answer-cache.ts'
import { listSamples, loadSampleBars } from '../../src/market/providers/sample.ts'

export async function* samples(): AsyncGenerator<SeriesResult> {
  for (const sample of listSamples()) {
    yield eligible(await loadSampleBars(sample), { name: sample.key, isSample: true, now: Date.now() })
  }
}

/** Files are called after their listings: `600519.csv`, `AAPL.json`. */
export function* filesIn(folder: string): Generator<SeriesResult> {
  for (const file of readdirSync(folder).sort()) {
    const kind = extname(file).toLowerCase()
    if (kind !== '.csv' && kind !== '.json') continue
    const name = basename(file, extname(file))
    const text = readFileSync(join(folder, file), 'utf8')
    yield read(name, () => (kind === '.csv' ? barsOfCsv(text) : barsOfJson(text)))
  }
}

/** The stored bars of a state folder; its service may be running. */
export function* keptIn(folder: string): Generator<SeriesResult> {
  const databases = join(folder, 'v3', 'd1', 'miniflare-D1DatabaseObject')
  if (!existsSync(databases)) throw new Error(`${folder} is no state folder: it has no ${databases}`)
  const files = readdirSync(databases).filter((file) => file.endsWith('.sqlite') && file !== 'metadata.sqlite')
  for (const file of files.sort()) {
    const db = new DatabaseSync(join(databases, file), { readOnly: true })
    const rows = db.prepare("SELECT key, body FROM market_answers WHERE need = 'daily_data' ORDER BY key").all()
    db.close()
    for (const row of rows) yield read(String(row.key), () => barsOfJson(String(row.body)))
  }
}

function read(name: string, bars: () => Bar[]): SeriesResult {
  try {
    return eligible(bars(), { name, isSample: false, now: Date.now() })
  } catch (error) {
    return { ok: false, name, reason: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) }
  }
}

const Wrapped = z.object({ bars: BarList })

function barsOfJson(text: string): Bar[] {
  const value: unknown = JSON.parse(text)
  return Array.isArray(value) ? BarList.parse(value) : Wrapped.parse(value).bars
}

const COLUMNS = ['date', 'open', 'high', 'low', 'close', 'volume'] as const

/** With a head that names the columns, in any order; `amount` may be missing. */
function barsOfCsv(text: string): Bar[] {
  const [head = '', ...lines] = text.trim().split(/\r?\n/)
  const names = head.split(',').map((name) => name.trim().toLowerCase())
  const missing = COLUMNS.find((name) => !names.includes(name))
  if (missing !== undefined) throw new Error(`the head names no column ${missing}`)
  const bars = lines.map((line) => {
    const cells = line.split(',')
    const cell = (name: string) => cells[names.indexOf(name)]?.trim() ?? ''
    const figure = (name: string) => (cell(name) === '' ? Number.NaN : Number(cell(name)))
    const amount = names.includes('amount') && cell('amount') !== '' ? figure('amount') : null
    return { ...Object.fromEntries(COLUMNS.map((name) => [name, figure(name)])), date: cell('date'), amount }
  })
  return BarList.parse(bars)
}
