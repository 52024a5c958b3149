// Alerts under kills: the service looks at rules again and again while prices go over their line and back, and dies in a look: as it
// begins, while the market answers, while what fired is stored, passed on to the streams, or sent. The look after it, which nobody
// interrupts, must have told what crossed, once; what goes over the line in between is no loss, because no look saw it.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { addDays, isTradingDay } from '../../src/market/calendar.ts'
import { type Received, startNotifyHost } from '../../test/support/notify-host.ts'
import { Moments } from './moments.ts'
import { type MortalService, startMortalService } from './mortal-service.ts'
import { SteadyClient } from './steady-client.ts'

const CODES = ['600519', '000001', '600000', '300750']
const LINE = 10.5
const SWEEP_MS = 5 * 60_000
const SWEEPS_A_DAY = 20
/** The maximum delay of a kill after the awaited moment: about the time of a check of all rules. */
const AFTER_MS = 150
const MOMENT_PATIENCE_MS = 2_000
const SENT_PATIENCE_MS = 300_000
const LANE = 'alerts'
const MOMENTS = ['begun', 'asked', 'asked', 'message'] as const

type Moment = (typeof MOMENTS)[number]
type Trigger = { rule_id: number; data_timestamp: string; status: string; uid: string }
type Deps = {
  service: MortalService
  client: SteadyClient
  market: Market
  moments: Moments<Moment>
  /** Codes by their rules. */
  rules: Map<number, string>
}

export async function alertFaults({ kills }: { kills: number }): Promise<boolean> {
  const moments = new Moments<Moment>()
  const host = await startNotifyHost(() => moments.happened('message'))
  const market = await Market.open(() => moments.happened('asked'))
  const service = await startMortalService({ LOG_LEVEL: 'error', REPORT_LANGUAGE: 'en' }, 'swept-alerts.ts')
  const deps: Deps = { service, market, moments, client: new SteadyClient(service.url), rules: new Map() }
  try {
    await openChannel(service, host.url)
    for (const code of CODES) deps.rules.set(await ruleFor(deps, code), code)
    const books = await manyLooks(deps, kills)
    await allSent(deps, host.url)
    return await balanced(deps, { ...books, kills, host: host.url })
  } finally {
    await service.stop()
    await market.close()
    await host.close()
  }
}

/** Prices that the harness sets, served over HTTP. */
class Market {
  readonly prices = new Map<string, number>()
  readonly #server: ReturnType<typeof createServer>

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server
  }

  static async open(onAsked: () => void): Promise<Market> {
    const server = createServer((_request, response) => {
      onAsked()
      response.end(JSON.stringify(Object.fromEntries(market.prices)))
    })
    const market = new Market(server)
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    return market
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  isOver(code: string): boolean {
    return (this.prices.get(code) ?? 0) > LINE
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((closed) => this.#server.close(closed))
  }
}

async function openChannel({ url }: MortalService, host: string): Promise<void> {
  const settings = { url: `${host}/${LANE}/webhook/in`, recognises_repeats: true }
  const response = await fetch(`${url}/api/v1/analysis/channels/${LANE}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'webhook', settings, mode: 'single' }),
  })
  if (!response.ok) throw new Error(`no channel: ${response.status} ${await response.text()}`)
}

async function ruleFor({ client }: Deps, target: string): Promise<number> {
  const rule = { target, alert_type: 'price_cross', parameters: { direction: 'above', price: LINE } }
  const json = { ...rule, cooldown_policy: { cooldown_seconds: 0 } }
  return (await client.ask<{ id: number }>('/api/v1/alerts/rules', { json })).body.id
}

/** The times of looks, some of each trading day, in days to come: rules are young. */
function* times(): Generator<number> {
  for (let day = addDays(new Date().toISOString().slice(0, 10), 1); ; day = addDays(day, 1))
    for (let at = 0; isTradingDay('cn', day) && at < SWEEPS_A_DAY; at++)
      yield Date.parse(`${day}T01:35:00Z`) + at * SWEEP_MS
}

type Looks = { crossings: number; killed: number; downMs: number[] }

async function manyLooks(deps: Deps, kills: number): Promise<Looks> {
  const { market, service } = deps
  const clock = times()
  const next = () => Number(clock.next().value)
  const looks: Looks = { crossings: 0, killed: 0, downMs: [] }
  for (const code of CODES) market.prices.set(code, 10)
  await wholeLook(deps, next())
  while (looks.downMs.length < kills) {
    const before = new Map(CODES.map((code) => [code, market.isOver(code)]))
    for (const code of CODES) market.prices.set(code, Math.random() < 0.5 ? 10 : 11)
    const cut = look(deps, next())
    const moment = MOMENTS[Math.floor(Math.random() * MOMENTS.length)] ?? 'begun'
    if (moment !== 'begun') await deps.moments.next(moment, MOMENT_PATIENCE_MS)
    await sleep(Math.random() * AFTER_MS)
    looks.downMs.push(await service.kill())
    if (!(await cut)) looks.killed += 1
    await wholeLook(deps, next())
    looks.crossings += CODES.filter((code) => market.isOver(code) && before.get(code) === false).length
    if (looks.downMs.length % 20 === 0) console.log(`  ${looks.downMs.length} kills`)
  }
  return looks
}

/** Whether it came to its end. */
async function look({ service, market }: Deps, now: number): Promise<boolean> {
  try {
    const answer = await fetch(`${service.url}/sweep?now=${now}&market=${encodeURIComponent(market.url)}`)
    await answer.text()
    return answer.ok
  } catch {
    // Killed in it.
    return false
  }
}

async function wholeLook(deps: Deps, now: number): Promise<void> {
  if (!(await look(deps, now))) throw new Error('a look that nobody interrupted did not come to its end')
}

async function triggersOf({ client }: Deps): Promise<Trigger[]> {
  const found: Trigger[] = []
  for (let page = 1; ; page++) {
    const path = `/api/v1/alerts/triggers?page=${page}&page_size=100`
    const { body } = await client.ask<{ items: Trigger[]; total: number }>(path)
    found.push(...body.items)
    if (body.items.length === 0 || found.length >= body.total)
      return found.filter(({ status }) => status === 'triggered')
  }
}

const receivedAt = async (host: string): Promise<Received[]> =>
  (await (await fetch(`${host}/${LANE}/received`)).json()) as Received[]

/** Settles when as many messages have come as there are triggers, or patience has ended. */
async function allSent(deps: Deps, host: string): Promise<void> {
  const wanted = (await triggersOf(deps)).length
  const deadline = performance.now() + SENT_PATIENCE_MS
  while ((await receivedAt(host)).length < wanted && performance.now() < deadline) await sleep(500)
}

async function balanced(deps: Deps, run: Looks & { kills: number; host: string }): Promise<boolean> {
  const triggers = await triggersOf(deps)
  const received = await receivedAt(run.host)
  const repeats = (await (await fetch(`${run.host}/${LANE}/repeats`)).json()) as string[]
  const keys = new Set(received.map(({ key }) => key))
  const points = new Set(triggers.map(({ rule_id: rule, data_timestamp: at }) => `${rule} ${at}`))
  console.log(
    `${run.kills} kills, ${run.killed} of them in a look; longest without an answer ${longest(run.downMs)} ms`,
  )
  console.log(`crossings that a look saw: ${run.crossings}; alerts stored: ${triggers.length}`)
  console.log(`messages received: ${received.length}; repeats that the receiver knew: ${repeats.length}`)
  const zeros = {
    'alerts lost beyond one sweep': Math.max(0, run.crossings - triggers.length),
    'alerts of no crossing': Math.max(0, triggers.length - run.crossings),
    'alerts stored twice': triggers.length - points.size,
    'messages lost': Math.max(0, triggers.length - keys.size),
    'messages of no alert': Math.max(0, keys.size - triggers.length),
    'messages received twice': received.length - keys.size,
  }
  for (const [what, n] of Object.entries(zeros)) console.log(`${what}: ${n}`)
  return Object.values(zeros).every((n) => n === 0)
}

const longest = (downMs: readonly number[]): number => Math.round(Math.max(...downMs))
