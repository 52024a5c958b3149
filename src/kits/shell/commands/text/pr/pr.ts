// `pr`: text in pages, each with a header, in one column or several.

import { type Zone, zoneOf } from '../../../../../lib/clock.ts'
import { shellMessage } from '../../../interpreter-command.ts'
import { momentIn, strftime } from '../../strftime.ts'
import { charsOf, linesOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { Line } from './line.ts'
import { FRAME, type PrSettings, prSettings } from './settings.ts'

const TAB_STOP = 8

interface Source {
  name: string
  time: Date
  lines: string[]
}

export async function pr(call: TextCall): Promise<void> {
  const settings = prSettings(call.args)
  const sources: Source[] = []
  for (const name of settings.operands.length > 0 ? settings.operands : ['-']) {
    const source = await sourceOf(call, name, settings)
    if (source) sources.push(source)
  }
  if (settings.isMerge) {
    if (sources.length > 0) print(call, settings, sources)
    return
  }
  for (const source of sources) {
    print(call, settings, [source])
    await call.pause()
  }
}

async function sourceOf(call: TextCall, name: string, { isQuiet }: PrSettings): Promise<Source | null> {
  try {
    const isStdin = name === '-'
    const bytes = await call.read(name)
    const time = isStdin ? new Date() : (await call.context.fs.stat(call.path(name))).mtime
    return { name: isStdin ? '' : name, time, lines: linesOf(bytes) }
  } catch (error) {
    const reason = shellMessage(error)
    if (isQuiet) call.exitCode = 1
    else call.complain(`${name}: ${reason === 'Is a directory' ? `read error: ${reason}` : reason}`)
    return null
  }
}

/** The rows of a page; each has a text for each column with its overall number, null after the end. */
type Cell = { text: string; index: number }
type Row = (Cell | null)[]

function print(call: TextCall, settings: PrSettings, sources: readonly Source[]): void {
  const { pages, isDouble, hasHeader, hasFormFeeds } = settings
  const perPage = isDouble ? Math.max(1, Math.floor(settings.body / 2)) : settings.body
  const layout = new Layout(settings, settings.isMerge ? sources.length : settings.columns)
  const zone = zoneOf(call.context.exportedEnv?.TZ ?? '')
  let page = 0
  for (const rows of settings.isMerge ? merged(sources, perPage) : paged(sources[0]?.lines ?? [], perPage, settings)) {
    page++
    const lines = rows.map((row) => layout.line(row))
    if (page < pages.first || page > pages.last) continue
    if (hasHeader) call.write(header(settings, { source: settings.isMerge ? null : (sources[0] ?? null), page, zone }))
    call.write(lines.map((line) => `${line}\n${isDouble ? '\n' : ''}`).join(''))
    const missing = settings.body - lines.length * (isDouble ? 2 : 1) + FRAME / 2
    if (hasHeader) call.write(hasFormFeeds ? '\f' : '\n'.repeat(Math.max(0, missing)))
  }
}

type Heading = { source: Source | null; page: number; zone: Zone }

function header({ header: given, dateFormat, width, margin }: PrSettings, { source, page, zone }: Heading): string {
  const date = strftime(dateFormat, momentIn(zone, (source?.time ?? new Date()).getTime()))
  const name = given ?? source?.name ?? ''
  const number = `Page ${page}`
  const room = Math.max(0, width - charsOf(date).length - charsOf(name).length - number.length)
  const left = Math.floor(room / 2)
  const line = date + ' '.repeat(Math.max(1, left)) + name + ' '.repeat(Math.max(1, room - left)) + number
  const indent = ' '.repeat(margin)
  return `${indent}\n\n${indent}${line}\n\n\n`
}

function* merged(sources: readonly Source[], perPage: number): Generator<Row[]> {
  const most = Math.max(...sources.map(({ lines }) => lines.length))
  for (let at = 0; at < most; at += perPage) {
    const count = Math.min(perPage, most - at)
    yield Array.from({ length: count }, (_, i) => sources.map(({ lines }) => cell(lines[at + i], at + i)))
  }
}

function* paged(lines: readonly string[], perPage: number, { columns, isAcross }: PrSettings): Generator<Row[]> {
  for (let at = 0; at < lines.length; at += perPage * columns) {
    const part = lines.slice(at, at + perPage * columns).map((text, i) => ({ text, index: at + i }))
    yield isAcross ? across(part, columns) : down(part, columns)
  }
}

const cell = (text: string | undefined, index: number): Cell | null => (text === undefined ? null : { text, index })

function across(lines: readonly Cell[], columns: number): Row[] {
  const rows: Row[] = []
  for (let at = 0; at < lines.length; at += columns) rows.push(lines.slice(at, at + columns))
  return rows
}

/** Columns of nearly equal length; the first ones are one line longer. */
function down(lines: readonly Cell[], columns: number): Row[] {
  const [each, more] = [Math.floor(lines.length / columns), lines.length % columns]
  const starts = Array.from({ length: columns }, (_, i) => i * each + Math.min(i, more))
  const lengths = starts.map((_, i) => each + (i < more ? 1 : 0))
  return Array.from({ length: lengths[0] ?? 0 }, (_, row) =>
    starts.map((start, i) => (row < (lengths[i] ?? 0) ? (lines[start + row] ?? null) : null)),
  )
}

class Layout {
  readonly #settings: PrSettings
  readonly #width: number
  readonly #columns: number
  readonly #numberWidth: number

  constructor(settings: PrSettings, columns: number) {
    this.#settings = settings
    this.#columns = columns
    const { numbering, width, separator, isMerge } = settings
    const digits = numbering?.digits ?? 0
    this.#numberWidth =
      numbering === null ? 0 : numbering.separator === '\t' ? digits + TAB_STOP - (digits % TAB_STOP) : digits + 1
    const room = isMerge ? width - this.#numberWidth : width
    this.#width = Math.floor((room - (columns - 1) * separator.length) / columns)
  }

  line(row: Row): string {
    const { margin, separator, aligns, cuts, numbering, isMerge } = this.#settings
    const line = new Line(margin, aligns)
    const offset = margin + (isMerge ? this.#numberWidth : 0)
    const numberOf = (index: number) => index + (numbering?.first ?? 1)
    const first = row.find((one) => one !== null)
    if (numbering && isMerge && first) line.number(numberOf(first.index), numbering)
    const room = this.#width - (isMerge ? 0 : this.#numberWidth)
    for (const [i, one] of row.entries()) {
      // A column that has ended keeps its place only for files side by side.
      if (one === null && !isMerge) continue
      if (aligns) line.moveTo(offset + i * (this.#width + separator.length), i > 0 ? separator : '')
      else if (i > 0) line.separate(separator)
      if (numbering && !isMerge && one) line.number(numberOf(one.index), numbering)
      line.text(one?.text ?? '', cuts ? room : Number.POSITIVE_INFINITY, this.#columns > 1)
      if (one === null) line.separate('')
    }
    return line.shown
  }
}
