// Clients that lose their sockets again and again while somebody goes on talking, and come back with the last id they have.

import { SocketClient, type SocketTarget } from './socket-client.ts'

export type DropJob = {
  /** Where a client comes back to, with `{after}` in its path for the id of the last event that it has. */
  readonly target: SocketTarget
  readonly publisher: SocketTarget
  /** With `{n}` for a number that tells the events apart. */
  readonly message: string
  readonly clients: number
  readonly steps: number
  readonly eventsPerStep: number
  /** How often a socket is lost at a step. */
  readonly dropShare: number
}

export type DropResult = {
  /** Of all events that all clients should have got. */
  readonly delivered: number
  readonly repeated: number
  readonly reordered: number
  readonly drops: number
}

const NUMBER = /^number (\d+)$/
const IO_EVENT = '42["oh_event",'
/** So long a lost socket stays lost, at most. */
const AWAY_MS = 20
const STEP_MS = 15
const SETTLE_MS = 1_500

export async function followThroughDrops(job: DropJob): Promise<DropResult> {
  const followers = await Promise.all(Array.from({ length: job.clients }, () => Follower.come(job.target)))
  const publisher = await SocketClient.open(job.publisher, { text: () => {} })
  let said = 0
  for (let step = 0; step < job.steps; step++) {
    publisher.send(Array.from({ length: job.eventsPerStep }, () => job.message.replace('{n}', `number ${said++}`)))
    // While they are on their way.
    for (const follower of followers) if (Math.random() < job.dropShare) follower.drop()
    await pause(STEP_MS)
  }
  await pause(SETTLE_MS)
  publisher.close()
  const seen = followers.map((follower) => follower.leave())
  const distinct = seen.map((numbers) => new Set(numbers).size)
  return {
    delivered: distinct.reduce((sum, count) => sum + count, 0) / (said * job.clients),
    repeated: seen.reduce((sum, numbers, i) => sum + numbers.length - (distinct[i] ?? 0), 0),
    reordered: seen.reduce((sum, numbers) => sum + numbers.filter((n, i) => n < (numbers[i - 1] ?? 0)).length, 0),
    drops: followers.reduce((sum, { drops }) => sum + drops, 0),
  }
}

class Follower {
  readonly #target: SocketTarget
  readonly #numbers: number[] = []
  #client: SocketClient | null = null
  #lastId = -1
  #hasLeft = false
  drops = 0

  private constructor(target: SocketTarget) {
    this.#target = target
  }

  static async come(target: SocketTarget): Promise<Follower> {
    const follower = new Follower(target)
    await follower.#connect()
    return follower
  }

  drop(): void {
    if (this.#client === null) return
    this.#client.close()
    this.#client = null
    this.drops += 1
    setTimeout(() => void this.#connect(), Math.random() * AWAY_MS)
  }

  leave(): number[] {
    this.#hasLeft = true
    this.#client?.close()
    return this.#numbers
  }

  async #connect(): Promise<void> {
    if (this.#hasLeft) return
    const path = this.#target.path.replace('{after}', String(this.#lastId))
    this.#client = await SocketClient.open(
      { ...this.#target, path },
      { text: (payload) => this.#take(payload.toString()) },
    )
    if (this.#hasLeft) this.#client.close()
  }

  #take(text: string): void {
    for (const { id, args } of eventsOf(text)) {
      this.#lastId = id
      const n = NUMBER.exec(args?.command ?? '')?.[1]
      if (n !== undefined) this.#numbers.push(Number(n))
    }
  }
}

type Event = { id: number; args?: { command?: string } }

function eventsOf(text: string): Event[] {
  if (text.startsWith(IO_EVENT)) return [JSON.parse(text.slice(IO_EVENT.length, -1)) as Event]
  if (!text.startsWith('{')) return []
  return (JSON.parse(text) as { events?: Event[] }).events ?? []
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
