// `npm run bench -- --write`: the table of docs/benchmarks.md, made of what was measured.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { Fault } from '../start/fault.ts'
import { ROOT } from '../start/paths.ts'
import { AIMS, type Aim } from './aims.ts'
import { targetText } from './report.ts'
import { isMet, type Target } from './rounds.ts'
import { ROW_NAMES, STARTUP } from './rows.ts'

const DOCUMENT = join(ROOT, 'docs', 'benchmarks.md')
const [BEGIN, END] = ['<!-- figures: npm run bench -- --write -->', '<!-- end of figures -->']
const HEAD = ['row', 'what', 'target', 'figure', 'verdict', 'limit']
/** Of a row that the files say nothing about. */
export const UNKNOWN = 'not measured'

/** Why a figure says nothing of ours. */
const NO_FIGURE: Readonly<Record<string, string>> = {
  noisy: 'rounds of one side lay more than a quarter apart',
  'client-bound': 'the program that asks was the bottleneck',
}

/** A baseline of nothing makes a ratio without end, which JSON writes as null. */
const Ratio = z
  .number()
  .nullable()
  .transform((ratio) => ratio ?? Number.POSITIVE_INFINITY)
const Spread = z.object({ median: Ratio, min: Ratio, max: Ratio })
const Result = z.object({
  row: z.string(),
  what: z.string(),
  unit: z.string(),
  ours: z.number(),
  baseline: z.number(),
  ratio: Spread,
  verdict: z.string(),
})
const Startup = z.object({
  firstSeconds: z.number(),
  againSeconds: z.number(),
  workerCpuMs: z.number(),
  helloCpuMs: z.number(),
})
const Figures = z.object({
  date: z.string(),
  machine: z.string(),
  results: z.array(Result),
  startup: Startup.nullable(),
})

export type Figures = z.infer<typeof Figures>
type RowResult = Omit<z.infer<typeof Result>, 'row'>

/** Writes the table; what a later file has of a row stands in place of what an earlier one has. */
export function writeDocument(files: readonly string[]): void {
  const figures = files.map((file) => Figures.parse(JSON.parse(readFileSync(file, 'utf8'))))
  const text = readFileSync(DOCUMENT, 'utf8')
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (from < 0 || to < from) throw new Fault(`${DOCUMENT} has no place for the table: ${BEGIN} … ${END}`)
  writeFileSync(DOCUMENT, `${text.slice(0, from + BEGIN.length)}\n\n${tableOf(figures)}\n\n${text.slice(to)}`)
}

export function tableOf(files: readonly Figures[]): string {
  const rows = ROW_NAMES.flatMap((row) => {
    const told = toldOf(row, files)
    return (AIMS[row] ?? []).map((aim, i) => cells(row, aim, told[i]))
  })
  const about = files.map(({ date, machine }) => `${machine}, ${date.slice(0, 10)}`)
  return [`${[...new Set(about)].join('; ')}.`, '', line(HEAD), line(HEAD.map(() => '---')), ...rows.map(line)].join(
    '\n',
  )
}

function cells(row: string, { target, limit = '' }: Aim, told: RowResult | undefined): string[] {
  const wanted = targetText(target, told?.unit ?? '')
  if (told === undefined) return [row, '', wanted || 'none', '', UNKNOWN, limit]
  const verdict = wanted === '' ? '' : verdictOf(told, target)
  const why = [NO_FIGURE[verdict] ?? '', verdict === 'met' ? '' : limit].filter((part) => part !== '')
  return [row, told.what, wanted || 'none', figureOf(told), verdict, why.join('; ')]
}

/** By the target of today, whatever it was when this was measured. */
function verdictOf({ verdict, ours, baseline, ratio }: RowResult, target: Target): string {
  if (verdict !== 'met' && verdict !== 'missed') return verdict
  return isMet(target, { ours, baseline, ratio: ratio.median }) ? 'met' : 'missed'
}

function figureOf({ ours, baseline, unit, ratio: { median, min, max } }: RowResult): string {
  const between = min === max ? '' : ` (${short(min)} to ${short(max)})`
  // Of a bare Worker's start no sample may be left: there is no ratio then.
  if (baseline === 0) return `${short(ours)} by 0 ${unit}`
  return `${short(ours)} by ${short(baseline)} ${unit}: ${short(median)}${between}`
}

/** Of the last file that has the row as it is measured now. */
function toldOf(row: string, files: readonly Figures[]): RowResult[] {
  const wanted = AIMS[row]?.length
  for (const { results, startup } of files.toReversed()) {
    const told = row === STARTUP ? starts(startup) : results.filter((result) => result.row === row)
    if (told.length === wanted) return told
  }
  return []
}

function starts(startup: Figures['startup']): RowResult[] {
  if (startup === null) return []
  const { firstSeconds, againSeconds, workerCpuMs, helloCpuMs } = startup
  const told = (what: string, unit: string, ours: number, baseline: number): RowResult => {
    const ratio = ours / baseline
    return { what, unit, verdict: 'met', ours, baseline, ratio: { median: ratio, min: ratio, max: ratio } }
  }
  return [
    told('`npm start` until ready on an empty state folder, by the start after it', 's', firstSeconds, againSeconds),
    told('`npm start` until ready on what is there, by the first start', 's', againSeconds, firstSeconds),
    told('processor time of the start of the Worker, by that of a bare one', 'ms', workerCpuMs, helloCpuMs),
  ]
}

/** Three digits say all that such a figure can. */
function short(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '∞'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}

const line = (row: readonly string[]): string => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

/** The rows of the table in the document: the cells of each. */
export function rowsInDocument(): string[][] {
  const text = readFileSync(DOCUMENT, 'utf8')
  const table = text.slice(text.indexOf(BEGIN), text.indexOf(END))
  const lines = table.split('\n').filter((one) => one.startsWith('| '))
  return lines.slice(2).map((one) => one.slice(2, -2).split(' | '))
}
