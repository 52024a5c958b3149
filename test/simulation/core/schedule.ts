// One schedule: owners who submit, cancel, book, write and listen, prices that move, and faults at instants that chance picks. When
// nobody has anything left to do the faults end, everything comes to rest, and the verdict looks at what is stored and what was told.

import type { Disk } from '../disk.ts'
import { Alerts, Portfolio } from './books.ts'
import { type Chat, newChat } from './chat.ts'
import { ChatClient, StreamClient, Submitter } from './clients.ts'
import type { Database } from './database.ts'
import { Lending } from './lending.ts'
import type { AnyHost } from './object-host.ts'
import { type DeliveredMessage, Queue } from './queue.ts'
import { CoreWorld, play, turn } from './world.ts'

export type Stage = {
  queueDisk: Disk
  chatDisk: Disk
  lentDisks: { lent: Disk; pool: Disk }
  database: Database
  onTime: (now: number) => void
}

type Act = readonly [name: string, act: () => unknown]

const MOST_ROUNDS = 8_000
const ACT_SHARE = 0.06
const QUIET_TURNS = 3

/** An isolate that died in a play may keep the line of an owner's writers for ever: each play has a book of its own. */
let plays = 0

export class Schedule {
  readonly world: CoreWorld
  readonly queue: Queue
  readonly chat: Chat
  readonly chatClients: ChatClient[]
  readonly streams: StreamClient[]
  readonly submitter: Submitter
  readonly portfolio: Portfolio
  readonly alerts: Alerts
  readonly lending: Lending
  readonly owners: readonly string[]
  readonly database: Database
  readonly got: DeliveredMessage[] = []
  readonly #work: Readonly<Record<string, () => number>>
  readonly #acts: readonly Act[]
  #actions: number

  constructor(seed: number, { queueDisk, chatDisk, lentDisks, database, onTime }: Stage) {
    this.world = new CoreWorld(seed, onTime)
    play(this.world)
    const { world } = this
    this.database = database
    plays += 1
    this.owners = ['ann', 'bob']
    this.queue = new Queue({ world, disk: queueDisk, database })
    this.chat = newChat(world, chatDisk, { DB: this.queue.db } as Env)
    this.chatClients = ['c', 'd'].map((name) => new ChatClient(world, this.chat, name))
    this.streams = this.owners.map((owner) => new StreamClient(world, this.queue.host, owner))
    this.submitter = new Submitter(world, this.queue.host)
    this.portfolio = new Portfolio(world, this.queue.db, `writer-${plays}`)
    this.alerts = new Alerts(world, this.queue)
    this.lending = new Lending(world, lentDisks)
    this.#work = this.#counts()
    this.#acts = this.#kinds()
    this.#actions = 6 + world.random.below(10)
  }

  async play(): Promise<void> {
    const { world } = this
    const { hazards } = world
    world.hazards = 0
    await this.#begin()
    world.hazards = hazards
    await this.#until(() => this.#actions === 0, true)
    // What is left of the faults may still come until all is at rest.
    await this.#until(() => this.#isAtRest(), false)
    world.hazards = 0
    this.database.isDown = false
    await this.#lastLooks()
  }

  /** Once all is well, a price that goes below the line and above it is told of once more. */
  async #lastLooks(): Promise<void> {
    if (!this.alerts.isOpen || this.world.random.chance(0.6)) return
    for (const price of [10, 11]) {
      void this.alerts.lookAt(price)
      await this.#until(() => this.#isAtRest(), false)
    }
    const fired =
      "SELECT data_timestamp FROM alert_triggers WHERE owner = ? AND status = 'triggered' ORDER BY id DESC LIMIT 1"
    const at = this.alerts.prices.at(-1)?.at ?? 0
    for (const owner of this.owners) {
      const [row] = this.database.read<{ data_timestamp: string }>(fired, owner)
      if (row === undefined || Date.parse(row.data_timestamp) < at)
        this.world.fault(`the last alert of ${owner} never fired`)
    }
  }

  async #begin(): Promise<void> {
    let isReady = false
    void Promise.all([this.portfolio.begin(), this.alerts.begin(this.owners)]).then(() => {
      isReady = true
    })
    this.queue.startCron(() => this.#work['untold alerts']?.() === 0 || this.alerts.sweep())
    for (const client of [...this.chatClients, ...this.streams]) client.connect()
    if (this.#acts.some(([name]) => name === 'command')) this.lending.machine.start()
    await this.#until(() => isReady && this.#areConnected, false)
  }

  get #areConnected(): boolean {
    return this.chatClients.every(({ isReady }) => isReady) && this.streams.every(({ last }) => last !== null)
  }

  async #until(isOver: () => boolean, mayAct: boolean): Promise<void> {
    const { world } = this
    for (let round = 0; round < MOST_ROUNDS; round++) {
      await turn()
      for (const host of this.#hosts) host.arm()
      if (mayAct && this.#actions > 0 && world.random.chance(ACT_SHARE)) this.#act()
      else if (!world.isQuiet) this.#goOn()
      else if (await this.#isStill()) {
        if (isOver()) return
        if (mayAct && world.random.chance(0.3)) this.#act()
        else if (!world.clock.advance()) return world.fault(`nothing happens any more, and ${this.#open()}`)
      }
    }
    world.fault(`it never comes to rest: ${this.#open()}`)
  }

  get #hosts(): AnyHost[] {
    return [this.queue.host, this.chat, this.lending.lent, this.lending.pool]
  }

  #goOn(): void {
    const { world } = this
    if (world.random.chance(0.97)) world.step()
    else world.clock.pass(world.random.below(50))
  }

  /** What waits for no clock has gone on, whatever number of turns it needs. */
  async #isStill(): Promise<boolean> {
    for (let turns = 0; turns < QUIET_TURNS; turns++) {
      await turn()
      for (const host of this.#hosts) host.arm()
      if (!this.world.isQuiet) return false
    }
    return true
  }

  /** Each schedule has some kinds of acts and not the others: what needs many of one kind comes up in some of them. */
  #kinds(): Act[] {
    const { random } = this.world
    const kinds: Act[] = [
      ['say', () => random.pick(this.chatClients).say()],
      ['submit', () => this.submitter.submit(random.pick(this.owners))],
      ['cancel', () => this.submitter.cancel()],
      ['book', () => this.portfolio.book()],
      ['remove', () => this.portfolio.remove()],
      ['look', () => this.alerts.look()],
      ['leave the chat', () => random.pick(this.chatClients).leave()],
      ['the stream breaks off', () => random.pick(this.streams).die()],
      ['command', () => this.lending.command()],
      ['fault', () => this.#strike()],
    ]
    const chosen = kinds.filter(([name]) => random.chance(name === 'command' ? 0.2 : 0.5))
    return chosen.length < 3 ? kinds : chosen
  }

  #act(): void {
    const { world } = this
    if (this.#actions === 0) return
    this.#actions -= 1
    const [name, act] = world.random.pick(this.#acts)
    world.tell(`act: ${name}`)
    act()
  }

  #strike(): void {
    const { world } = this
    const { random } = world
    const kind = random.pick(['eviction', 'queue', 'chat', 'lent', 'machine', 'process', 'database'])
    world.tell(`strikes: ${kind}`)
    if (kind === 'eviction') for (const host of this.#hosts) host.evict()
    if (kind === 'queue') this.queue.host.crash()
    if (kind === 'chat') this.chat.crash()
    if (kind === 'lent') this.lending.lent.crash()
    if (kind === 'machine') this.lending.machine.die()
    if (kind === 'process') for (const host of this.#hosts) host.crash()
    if (kind !== 'database') return
    this.database.isDown = true
    world.clock.set(() => {
      this.database.isDown = false
    }, random.below(20_000))
  }

  #isAtRest(): boolean {
    return Object.values(this.#work).every((count) => count() === 0)
  }

  /** What is not over yet, in words. */
  #open(): string {
    return Object.entries(this.#work)
      .map(([name, count]) => [name, count()] as const)
      .filter(([, n]) => n > 0)
      .map(([name, n]) => `${n} ${name}`)
      .join(', ')
  }

  /** How much of each kind is not over yet; what costs nothing to know comes first. */
  #counts(): Readonly<Record<string, () => number>> {
    const [queue, chat, database, lent] = [this.queue.host.disk, this.chat.disk, this.database, this.lending.lent.disk]
    const count = (of: { read<T>(query: string): T[] }, from: string) => () =>
      of.read<{ n: number }>(`SELECT COUNT(*) AS n FROM ${from}`)[0]?.n ?? 0
    return {
      submissions: () => this.submitter.waiting,
      bookings: () => Number(!this.portfolio.isAtRest),
      looks: () => Number(!this.alerts.isAtRest),
      messages: () => this.chatClients.filter(({ isAtRest, isReady }) => !(isAtRest && isReady)).length,
      tasks: count(queue, "tasks WHERE status IN ('pending', 'processing', 'cancel_requested')"),
      notices: count(queue, 'notices'),
      'kept reports': count(queue, 'outbox'),
      'rows of the index': count(chat, 'outbox'),
      commands: () => this.lending.waiting,
      steps: count(lent, "steps WHERE state <> 'done'"),
      words: count(chat, "alarms WHERE name = 'agent'"),
      deliveries: count(database, "deliveries WHERE state = 'pending'"),
      'untold notices': count(database, 'untold_notices'),
      'untold alerts': count(database, 'alert_triggers WHERE streamed = 0'),
      streams: () => this.streams.filter(({ owner, last }) => last !== this.#lastOf(owner)).length,
      followers: () => this.chatClients.filter(({ seen }) => seen.length !== this.chat.object.log.last + 1).length,
    }
  }

  #lastOf(owner: string): number {
    const query = 'SELECT last_id AS n FROM streams WHERE owner = ?'
    return this.queue.host.disk.read<{ n: number }>(query, owner)[0]?.n ?? 0
  }
}
