// `npm run bench`: bundle, start both sides, measure row by row, print and keep the figures.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildConsole } from '../start/console.ts'
import { Fault, messageOf } from '../start/fault.ts'
import { buildMiniflare } from '../start/miniflare-bundle.ts'
import { AIMS } from './aims.ts'
import { type Bundles, bundleAll } from './bundle.ts'
import { writeDocument } from './document.ts'
import { type Options, readOptions, requireFiles, USAGE } from './options.ts'
import { type Cores, chooseCores } from './pinned-process.ts'
import { machine, type Report, summaryOf, table, writeReport } from './report.ts'
import { type Aimed, compare, type Measurement, type Result } from './rounds.ts'
import { ROWS, STARTUP, WITHOUT_BASELINES } from './rows.ts'
import { type Stage, setStage } from './stage.ts'
import { measureStartup } from './startup.ts'

/** What a row may take before it makes do with the least rounds. */
const ROW_MS = 150_000

/** Ends with 1 when a row could not be measured; a missed target is a result like any other. */
export async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return console.log(USAGE)
  const outDir = mkdtempSync(join(tmpdir(), 'bellwether-bench-'))
  // The other processes end by themselves when this one is gone.
  process.once('exit', () => rmSync(outDir, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  try {
    const options = readOptions(args)
    requireFiles(options)
    if (options.written !== null) return writeDocument(options.written)
    const report = await run(options, outDir)
    print(report)
    const isWhole = report.failures.length === 0 && report.results.every(({ verdict }) => isMeasured(verdict))
    process.exitCode = isWhole ? 0 : 1
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}

const isMeasured = (verdict: Result['verdict']): boolean => verdict === 'met' || verdict === 'missed'

async function run({ rows, rounds, script }: Options, outDir: string): Promise<Report> {
  const cores = chooseCores()
  console.log(
    `${machine()}; ${cores === null ? 'not pinned to cores' : `server on core ${cores.server}, client on core ${cores.client}`}`,
  )
  console.log('bundling …')
  // The Worker's configuration names the console's folder.
  await buildConsole()
  // Both sides run in Miniflare as `npm start` makes it; its own takes long to tell the runtime of a large Worker.
  await buildMiniflare()
  const sides = rows.every((row) => WITHOUT_BASELINES.has(row)) ? 'worker' : 'all'
  const bundles = withScript(await bundleAll(outDir, sides), script)
  const results: Result[] = []
  const failures: { row: string; reason: string }[] = []
  const attempt = async (row: string, work: () => Promise<unknown>) => {
    console.log(`measuring ${row} …`)
    await work().catch((error: unknown) => failures.push({ row, reason: messageOf(error) }))
  }
  for (const row of rows) {
    const measure = ROWS[row]
    if (measure === undefined) continue
    // A row's servers are its own: no row pays for what another one has stored.
    await attempt(row, () =>
      onStage(bundles, join(outDir, row), cores, async (stage) => {
        for await (const result of resultsOf(aimed(row, await measure(stage)), rounds)) {
          results.push(result)
          console.log(summaryOf(result))
        }
      }),
    )
  }
  let startup: Report['startup'] = null
  if (rows.includes(STARTUP)) {
    await attempt(STARTUP, async () => {
      startup = await measureStartup(outDir)
    })
  }
  const { bytes, gzipBytes } = bundles.worker
  return { results, failures, startup, bundle: { bytes, gzipBytes }, cores }
}

function aimed(row: string, measurements: readonly Measurement[]): Aimed[] {
  const aims = AIMS[row] ?? []
  if (aims.length !== measurements.length)
    throw new Fault(`${row} measures ${measurements.length} things and is held to ${aims.length}`)
  return measurements.map((measurement, i) => ({ ...measurement, target: aims[i]?.target ?? {} }))
}

/** The row's time is shared evenly by what it measures. */
async function* resultsOf(measurements: readonly Aimed[], rounds: number): AsyncGenerator<Result> {
  const begun = performance.now()
  for (const [index, measurement] of measurements.entries()) {
    const until = begun + (ROW_MS * (index + 1)) / measurements.length
    yield await compare(measurement, { rounds, until })
  }
}

async function onStage(
  bundles: Bundles,
  stateDir: string,
  cores: Cores | null,
  work: (stage: Stage) => Promise<void>,
): Promise<void> {
  const stage = await setStage(bundles, stateDir, cores)
  try {
    await work(stage)
  } finally {
    await stage.stop()
  }
}

function withScript(bundles: Bundles, script: string | null): Bundles {
  if (script === null) return bundles
  const code = readFileSync(script)
  return { ...bundles, worker: { script, bytes: code.length, gzipBytes: gzipSync(code).length } }
}

function print(report: Report): void {
  const { results, failures, startup, bundle } = report
  if (results.length > 0) console.log(`\n${table(results)}\n`)
  if (startup !== null) {
    const { firstSeconds, againSeconds, workerCpuMs, helloCpuMs } = startup
    console.log(`npm start to ready: ${firstSeconds.toFixed(1)} s on a fresh state, ${againSeconds.toFixed(1)} s again`)
    console.log(
      `start of the Worker itself: ${workerCpuMs.toFixed(0)} ms of processor time, a bare one: ${helloCpuMs.toFixed(0)} ms`,
    )
  }
  console.log(`the Worker: ${kilobytes(bundle.bytes)}, ${kilobytes(bundle.gzipBytes)} gzip`)
  for (const { row, reason } of failures) console.error(`${row} could not be measured: ${reason}`)
  for (const { row, what, verdict, spread } of results) {
    if (verdict === 'noisy') {
      const [ours, baseline] = [spread.ours, spread.baseline].map((share) => `${Math.round(share * 100)} %`)
      console.error(
        `${row} (${what}) says nothing: rounds of one side lie ${ours} (ours) and ${baseline} (baseline) apart`,
      )
    }
    if (verdict === 'client-bound') console.error(`${row} (${what}) says nothing: the generator was the bottleneck`)
  }
  console.log(`figures: ${writeReport(report)}`)
}

const kilobytes = (bytes: number): string => `${Math.round(bytes / 1000)} kB`
