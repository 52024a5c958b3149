// `npm run load`: the whole service under the load of an ordinary busy day, on one machine. Many owners, half of their
// conversations on real runners, with sockets and streams that listen, batches, uploads, forks and rules. It prints what was
// done how fast, and fails when a call failed, memory grew, or something acknowledged is not there in the end.

import { randomBytes } from 'node:crypto'
import { startLoopbackMarket } from '../../test/support/loopback-market.ts'
import { startMortalService } from '../faults/mortal-service.ts'
import { Fault } from '../start/fault.ts'
import { findings } from './audit.ts'
import { fairness } from './fairness.ts'
import { Figures } from './figures.ts'
import { Memory } from './memory.ts'
import { FAIRNESS_USAGE, type Options, readFairness, readOptions, USAGE } from './options.ts'
import { gather, type People, startModel } from './people.ts'
import { type Run, workUntilOver } from './work.ts'

const TASKS_PATIENCE_MS = 300_000
/** The allowed memory growth of the runtime between the second and the last fifth of the time. */
const FLAT_SHARE = 0.25
/** The number of stocks from the company lists that are requested in turn. */
const CODES = 1_000

const SETTINGS = {
  AUTH_MODE: 'keys',
  MARKET_DATA: 'yahoo',
  FX_RATES: 'off',
  LLM_MODEL: 'openai/scripted',
  LLM_API_KEY: 'sk-scripted',
  MAX_RUNNING_LOOPS: '1000',
  LOG_LEVEL: 'error',
}

export async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return console.log(`${USAGE}\n${FAIRNESS_USAGE}`)
  try {
    const attacked = readFairness(args)
    const isWell = attacked === null ? await load(readOptions(args)) : await fairness(attacked)
    if (!isWell) process.exitCode = 1
  } catch (error) {
    console.error(error instanceof Fault ? error.message : error)
    process.exitCode = 1
  }
  process.exit()
}

async function load(options: Options): Promise<boolean> {
  const rootKey = randomBytes(24).toString('hex')
  const model = await startModel()
  const market = await startLoopbackMarket()
  const service = await startMortalService({
    ROOT_API_KEY: rootKey,
    YAHOO_URL: market.url,
    YAHOO_COOKIE_URL: market.url,
    LLM_BASE_URL: `${model.url}/load/v1`,
    ...SETTINGS,
  })
  const figures = new Figures()
  const memory = new Memory(service.runtime)
  const over = new AbortController()
  let people: People | null = null
  try {
    console.log(`${options.conversations} conversations of ${options.owners} owners are made …`)
    people = await gather(service.url, rootKey, options, figures)
    listen(people, options, over.signal)
    const endsAt = performance.now() + options.minutes * 60_000
    const codes = await codesOf(people)
    const done = { uploads: [], forks: [], rules: [], turns: 0 }
    const run: Run = { people, options, figures, done, codes, isOver: () => performance.now() >= endsAt }
    console.log(`${options.minutes} minutes of work …`)
    const seconds = await timed(() => workUntilOver(run))
    console.log('looking whether everything is there …')
    await Promise.all(people.owners.map(({ tasks }) => tasks.allEnded(TASKS_PATIENCE_MS)))
    memory.stop()
    return report(run, { seconds, memory, found: await findings(run) })
  } finally {
    over.abort()
    memory.stop()
    for (const { conversation } of people?.members ?? []) conversation.watcher.close()
    for (const viewer of people?.viewers ?? []) viewer.close()
    for (const machine of people?.machines ?? []) await machine.stop()
    await service.stop()
    await market.close()
    await model.close()
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

/** Every owner follows their tasks; additional streams only listen. */
function listen({ owners }: People, { streams }: Options, over: AbortSignal): void {
  for (const { tasks } of owners) void tasks.follow(over)
  for (let at = owners.length; at < streams; at++) {
    const { client } = owners[at % owners.length] as People['owners'][number]
    const url = `${client.url}/api/v1/analysis/tasks/stream`
    void drain(fetch(url, { headers: { 'x-session-api-key': client.key ?? '' }, signal: over }))
  }
}

async function drain(opened: Promise<Response>): Promise<void> {
  try {
    for await (const _ of (await opened).body ?? []);
  } catch {
    // The signal ends the stream at the end of the run.
  }
}

/** Codes of listed companies, as the page's own completion has them; this source carries none of Beijing's. */
async function codesOf({ owners }: People): Promise<string[]> {
  const { client } = owners[0] as People['owners'][number]
  const { body } = await client.ask<[code: string, ...rest: unknown[]][]>('/stocks.index.json')
  return body
    .map(([code]) => code)
    .filter((code) => !code.endsWith('.BJ'))
    .slice(0, CODES)
}

type Outcome = { seconds: number; memory: Memory; found: Record<string, string[]> }

function report({ people, figures, done }: Run, { seconds, memory, found }: Outcome): boolean {
  for (const line of figures.lines(seconds)) console.log(line)
  const { early, late, most } = memory.summary()
  const asked = people.owners.reduce((sum, { client }) => sum + client.repeated, 0)
  const ended = people.owners.reduce((sum, { tasks }) => sum + tasks.having('completed').length, 0)
  const accepted = people.owners.reduce((sum, { tasks }) => sum + tasks.accepted, 0)
  console.log(
    `turns ${done.turns}, analyses ${ended} of ${accepted}, uploads ${done.uploads.length}, forks ${done.forks.length}`,
  )
  console.log(`runtime's memory: ${early.toFixed(0)} MiB early, ${late.toFixed(0)} late, ${most.toFixed(0)} at most`)
  const wrong = {
    'calls that failed': figures.errors,
    'calls that had to be sent again': asked === 0 ? [] : [`${asked}`],
    'memory that grew': late > early * (1 + FLAT_SHARE) ? [`${early.toFixed(0)} to ${late.toFixed(0)} MiB`] : [],
    'analyses that did not complete': people.owners.flatMap(({ tasks }) => tasks.notCompleted()),
    ...found,
  }
  for (const [what, texts] of Object.entries(wrong)) {
    console.log(`${what.padEnd(34)}${texts.length}`)
    for (const text of texts.slice(0, 10)) console.log(`    ${text}`)
  }
  return Object.values(wrong).every((texts) => texts.length === 0)
}
