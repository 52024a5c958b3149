// What a careful owner knows of his reports: which had to be sent where, what the log of deliveries says of each, and what
// the services behind the channels received.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault, Received } from '../../test/support/notify-host.ts'

const SEALED = 'SEC-of-the-tests'
const PAGE = 200
const LOOK_EVERY_MS = 1_000
const ASK_TIMEOUT_MS = 10_000

type Lane = { lane: string; channel: string; mode: 'single' | 'digest'; recognises: boolean; hasKeys: boolean }

/** One of each sort: several parts, a service that knows a repeat, one that tells nothing of it, a digest, the operator's. */
const LANES: readonly Lane[] = [
  { lane: 'parts', channel: 'parts', mode: 'single', recognises: false, hasKeys: true },
  { lane: 'mail', channel: 'mail', mode: 'single', recognises: true, hasKeys: true },
  { lane: 'push', channel: 'push', mode: 'single', recognises: false, hasKeys: false },
  { lane: 'digest', channel: 'digest', mode: 'digest', recognises: true, hasKeys: true },
  { lane: 'operator', channel: 'operator-webhook', mode: 'single', recognises: false, hasKeys: true },
]

/** The first only delays a delivery; after the second it is unknown whether the message was accepted. */
const MISHAPS: readonly Fault[] = [
  { status: 429, headers: { 'retry-after': '1' } },
  { status: 503, headers: { 'retry-after': '1' } },
  { how: 'break' },
]

type Item = { delivery_id: string; subject: string; channel_id: string; status: string; parts: number; sent: number }
type Part = { part: number; status: string }

export type Expected = {
  completed: readonly string[]
  /** Tasks that were accepted together, for each received response. */
  batches: readonly (readonly string[])[]
}

/** The Worker's variables for the operator's channel. */
export const operatorVars = (host: string) => ({ NOTIFY_WEBHOOK_URL: `${host}/operator/webhook/in` })

export class DeliveryBooks {
  readonly #base: string
  readonly #host: string
  mishaps = 0

  constructor(base: string, host: string) {
    this.#base = base
    this.#host = host
  }

  async openChannels(): Promise<void> {
    const mail = { api_key: 're_1', from: 'Reports <r@example.com>', to: ['a@example.com'] }
    await this.#put('parts', 'webhook', { url: `${this.#host}/parts/webhook/in`, secret: SEALED, max_characters: 250 })
    await this.#put('mail', 'resend', { ...mail, api_url: `${this.#host}/mail/resend` })
    await this.#put('push', 'gotify', { url: `${this.#host}/push/gotify`, token: 'app' })
    const url = `${this.#host}/digest/webhook/in`
    await this.#put('digest', 'webhook', { url, recognises_repeats: true }, 'digest')
  }

  async #put(id: string, kind: string, settings: object, mode = 'single'): Promise<void> {
    const response = await fetch(`${this.#base}/channels/${id}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind, settings, mode }),
    })
    if (!response.ok) throw new Error(`no channel ${id}: ${response.status} ${await response.text()}`)
  }

  /** Has one of the services fail the next message that it gets. */
  async mishap(): Promise<void> {
    const { lane } = pick(LANES)
    this.mishaps += 1
    await fetch(`${this.#host}/${lane}/faults`, { method: 'PUT', body: JSON.stringify([pick(MISHAPS)]) })
  }

  /** Settles when nothing is on its way any more, or when patience has ended. */
  async allSettled(patienceMs: number): Promise<void> {
    const deadline = performance.now() + patienceMs
    while ((await this.#list('pending')).length > 0 && performance.now() < deadline) await sleep(LOOK_EVERY_MS)
  }

  async audit({ completed, batches }: Expected) {
    const all = await this.#list()
    const states = Map.groupBy(all, ({ status }) => status)
    const found = noFindings()
    for (const lane of LANES) await this.#auditLane(lane, { all, completed, found })
    found.notTold += digestsMissing({ completed, batches }, all)
    const counts = [...states].map(([state, items]) => `${state} ${items.length}`)
    return { deliveries: all.length, states: counts.join(', '), open: states.get('pending')?.length ?? 0, ...found }
  }

  async #auditLane(lane: Lane, { all, completed, found }: Auditing): Promise<void> {
    const mine = all.filter(({ channel_id }) => channel_id === lane.channel)
    const [received, repeats, refused] = await Promise.all([
      this.#told<Received>(lane, 'received'),
      this.#told<string>(lane, 'repeats'),
      this.#told<string>(lane, 'refused'),
    ])
    const keys = new Set(received.map(({ key }) => key))
    let [sent, unknown] = [0, 0]
    for (const item of mine) {
      for (const { part, status } of await this.#partsOf(item)) {
        if (status === 'sent') sent += 1
        else if (status === 'unknown') unknown += 1
        if (status === 'sent' && lane.hasKeys && !keys.has(`${item.delivery_id}-${part}`)) found.lost += 1
      }
    }
    if (!lane.hasKeys) found.lost += Math.max(0, sent - received.length)
    found.sent += sent
    found.inDoubt += unknown
    found.repeats += lane.recognises ? repeats.length : 0
    found.twice += (lane.recognises ? 0 : repeats.length) + Math.max(0, received.length - sent - unknown)
    found.refused += refused.length
    if (lane.mode === 'digest') return
    const subjects = mine.map(({ subject }) => subject)
    found.notTold += completed.filter((id) => !subjects.includes(`report:${id}`)).length
    found.twice += subjects.length - new Set(subjects).size
  }

  async #partsOf({ delivery_id, status, parts }: Item): Promise<Part[]> {
    if (status === 'delivered') return Array.from({ length: parts }, (_, i) => ({ part: i + 1, status: 'sent' }))
    return (await this.#ask<{ part_list: Part[] }>(`/deliveries/${delivery_id}`)).part_list
  }

  async #list(status?: string): Promise<Item[]> {
    const found: Item[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = `limit=${PAGE}&cursor=${cursor}${status === undefined ? '' : `&status=${status}`}`
      type Page = { deliveries: Item[]; next_cursor: string | null }
      const page: Page = await this.#ask<Page>(`/deliveries?${query}`)
      found.push(...page.deliveries)
      cursor = page.next_cursor
    }
    return found
  }

  async #ask<T>(path: string): Promise<T> {
    const response = await fetch(`${this.#base}${path}`, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }

  async #told<T>({ lane }: Lane, what: string): Promise<T[]> {
    return (await (await fetch(`${this.#host}/${lane}/${what}`)).json()) as T[]
  }
}

type Findings = ReturnType<typeof noFindings>
type Auditing = { all: readonly Item[]; completed: readonly string[]; found: Findings }

const noFindings = () => ({ notTold: 0, lost: 0, twice: 0, refused: 0, sent: 0, inDoubt: 0, repeats: 0 })

function pick<T>(items: readonly T[]): T {
  const item = items[Math.floor(Math.random() * items.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

/** A digest channel gets the report of a single request; for a batch one message, if it contains a report. */
function digestsMissing({ completed, batches }: Expected, all: readonly Item[]): number {
  const subjects = all.filter(({ channel_id }) => channel_id === 'digest').map(({ subject }) => subject)
  const isDone = (id: string) => completed.includes(id)
  const alone = batches.flatMap(([id, ...more]) => (id !== undefined && more.length === 0 && isDone(id) ? [id] : []))
  const together = batches.filter((ids) => ids.length > 1 && ids.some(isDone)).length
  const digests = subjects.filter((subject) => subject.startsWith('digest:')).length
  return alone.filter((id) => !subjects.includes(`report:${id}`)).length + Math.max(0, together - digests)
}
