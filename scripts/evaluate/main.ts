// Replays the method over all available bars and prints its results.
//
//   npm run evaluate [-- --bars <folder>] [--state <folder>] [--out <file.json>]
//   npm run evaluate -- --walks 10000 --seed 1      random walks: how often an edge is claimed where there is none
//   npm run evaluate -- --ledger <folder>           whether the ledgers of advice in a state folder are whole
//   npm run evaluate -- --planted 100 --seed 1      series with a planted edge: how often it is found

import { writeFileSync } from 'node:fs'
import type { SeriesResult } from '../../src/analysis/evidence/observations.ts'
import { EvidenceBook, rowsOf } from '../../src/analysis/evidence/rows.ts'
import { METHOD_VERSION } from '../../src/analysis/evidence/vocabulary.ts'
import { verifyLedgers } from './ledger.ts'
import { HELP, type Options, parseOptions } from './options.ts'
import { filesIn, keptIn, samples } from './sources.ts'
import { printTrials, tableOf } from './table.ts'
import { PLANTED, trialsOf } from './trials.ts'

export async function main(args: readonly string[]): Promise<void> {
  const options = parseOptions(args)
  if (options === null) {
    console.log(HELP)
    return
  }
  if (options.ledger !== null) {
    if (!(await verifyLedgers(options.ledger))) process.exitCode = 1
    return
  }
  const isTrial = options.walks > 0 || options.planted > 0
  const result = isTrial ? tried(options) : await evaluated(options)
  if (options.out !== null) {
    writeFileSync(options.out, `${JSON.stringify(result, null, 2)}\n`)
    console.log(`written to ${options.out}`)
  }
}

function tried({ walks, planted, seed, length }: Options): object {
  const common = { bars: length, seed }
  const found = {
    walks: walks > 0 ? trialsOf({ ...common, panels: walks, width: 1, drift: 0 }) : null,
    planted: planted > 0 ? trialsOf({ ...common, panels: planted, ...PLANTED }) : null,
  }
  if (found.walks !== null) printTrials('random walks', found.walks)
  if (found.planted !== null) printTrials('planted edge', found.planted)
  return { method_version: METHOD_VERSION, seed, length, ...found }
}

async function evaluated(options: Options): Promise<object> {
  const book = new EvidenceBook(options.seed)
  const left: { name: string; reason: string }[] = []
  const started = performance.now()
  for await (const found of sourcesOf(options)) {
    if (found.ok) book.add(found.series)
    else left.push({ name: found.name, reason: found.reason })
  }
  const rows = rowsOf(book)
  const { totals, range } = book
  console.log(tableOf(rows))
  console.log(
    `method ${METHOD_VERSION}; ${totals.series} series, ${totals.bars} bars, ${totals.days} days judged, ${range.from} to ${range.to}, ${((performance.now() - started) / 1000).toFixed(1)} s`,
  )
  console.log(
    `orders without a fill: ${totals.unfilled}; plans that the next open made void: ${totals.void}; positions not sold before the end: ${totals.unfinished}`,
  )
  for (const { name, reason } of left) console.log(`left out: ${name}: ${reason}`)
  return { method_version: METHOD_VERSION, seed: options.seed, range, totals, left_out: left, rows }
}

/** The samples where no other source is named. */
async function* sourcesOf({ bars, state }: Options): AsyncGenerator<SeriesResult> {
  if (bars === null && state === null) yield* samples()
  if (bars !== null) yield* filesIn(bars)
  if (state !== null) yield* keptIn(state)
}
