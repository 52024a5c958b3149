// Where an object lives, one life after the other: its storage, its alarm and its sockets outlive each of them.

import { Disk, type Grip } from '../disk.ts'
import { Isolate, isolates } from './clock.ts'
import type { ServerEnd } from './sockets.ts'
import { atTurnEnd, type CoreWorld } from './world.ts'

const DEATH_SHARE = 0.03
/** Of the statements. */
const FAILURE_SHARE = 0.0002
const RETRY_MS = 2_000

/** What the runtime calls of an object. */
type Callable = {
  alarm(info: AlarmInvocationInfo): Promise<void>
  webSocketMessage?(socket: WebSocket, data: string | ArrayBuffer): void | Promise<void>
  webSocketClose(socket: WebSocket, code: number): void
}

/** One life: what it lets out waits until what it wrote before is stored, and goes with it when it dies. */
export class Life extends Isolate implements Grip {
  readonly #world: CoreWorld
  readonly #died: () => void
  #unsent: (() => void)[] | null = null

  constructor(name: string, world: CoreWorld, died: () => void) {
    super(name)
    this.#world = world
    this.#died = died
  }

  get isIdle(): boolean {
    const isBusy = this.isAsked || this.openCalls > 0 || this.#world.clock.isWaitedFor(this)
    return this.#unsent === null && !isBusy
  }

  began(): void {
    this.#unsent ??= []
  }

  fails(): boolean {
    if (this.isDead || !this.#world.strikes(FAILURE_SHARE)) return false
    this.#world.noteDeath(`${this.name} as a statement fails`)
    this.broken()
    return true
  }

  /** As the runtime: an object whose storage failed is not used any more. */
  broken(): void {
    this.die()
  }

  beforeCommit(): 'doomed' | 'commit' {
    return this.isDead || this.#isDeadly('before') ? 'doomed' : 'commit'
  }

  afterCommit(): void {
    const sends = this.#unsent ?? []
    this.#unsent = null
    if (this.#isDeadly('after')) this.die()
    else for (const send of sends) send()
  }

  lost(): void {
    this.die()
  }

  override gated(send: () => void): void {
    if (this.isDead) return
    if (this.#unsent === null) send()
    else this.#unsent.push(send)
  }

  override die(): void {
    if (this.isDead) return
    super.die()
    this.#unsent = null
    this.#died()
  }

  #isDeadly(moment: 'before' | 'after'): boolean {
    if (!this.#world.strikes(DEATH_SHARE)) return false
    this.#world.noteDeath(`${this.name} ${moment} a commit`)
    return true
  }
}

export class ObjectHost<T extends Callable> {
  readonly name: string
  readonly disk: Disk
  readonly sockets: ServerEnd[] = []
  readonly #world: CoreWorld
  readonly #make: (ctx: DurableObjectState) => T
  #life: Life | null = null
  #object: T | null = null
  #isFiring = false
  #isEviction = false
  #armedFor: number | null = null
  #timer: number | null = null

  constructor(name: string, deps: { world: CoreWorld; disk: Disk; make: (ctx: DurableObjectState) => T }) {
    this.name = name
    this.disk = deps.disk
    this.#world = deps.world
    this.#make = deps.make
  }

  /** A call of the object, which comes to life by it. */
  call<R>(label: string, work: (object: T) => R | Promise<R>): Promise<R> {
    return this.#world.call(`${this.name}.${label}`, () => this.#entered(work))
  }

  /** The object as it is, for who looks from outside. */
  get object(): T {
    const { hazards } = this.#world
    this.#world.hazards = 0
    this.#live()
    this.#world.hazards = hazards
    return this.#object as T
  }

  /** Its sockets outlive an object that has nothing to do. */
  evict(): void {
    if (this.#life?.isIdle !== true) return
    this.#isEviction = true
    this.#life.die()
    this.#isEviction = false
  }

  /** In the middle of something: all that was connected to it is gone, too. */
  crash(): void {
    if (this.#life !== null) this.#life.die()
    else this.#cut()
  }

  #cut(): void {
    for (const socket of this.sockets.splice(0)) socket.lost()
  }

  heard(socket: ServerEnd, data: string | ArrayBuffer): void {
    void this.#entered((object) => object.webSocketMessage?.(socket as unknown as WebSocket, data)).catch(QUIET)
  }

  left(socket: ServerEnd, code: number): void {
    const at = this.sockets.indexOf(socket)
    if (at < 0) return
    this.sockets.splice(at, 1)
    void this.#entered((object) => object.webSocketClose(socket as unknown as WebSocket, code)).catch(QUIET)
  }

  /** As the runtime: one call at a time, and again when the last one came to no end. */
  arm(): void {
    const at = this.#isFiring ? null : this.disk.nextCall
    if (at === this.#armedFor) return
    this.#world.clock.clear(this.#timer)
    this.#armedFor = at
    if (at !== null) this.#timer = this.#world.clock.set(() => this.#fire(at), at - this.#world.clock.now)
  }

  /** Lets something out of the life that this code runs in; nothing of one that is over. */
  gated(send: () => void): void {
    const here = isolates.getStore()
    if (here === undefined) send()
    else here.gated(send)
  }

  #fire(at: number): void {
    this.#isFiring = true
    this.#armedFor = null
    this.disk.firing = at
    this.disk.alarm = null
    this.#world.tell(`${this.name}: alarm`)
    const info = { scheduledTime: at, isRetry: false, retryCount: 0 }
    const ended = (firing: number | null) => {
      this.#isFiring = false
      this.disk.firing = firing
    }
    this.#entered((object) => object.alarm(info)).then(
      () => ended(null),
      (error: unknown) => {
        if (!/ is gone$|SQLITE_IOERR$/.test(String(error)))
          this.#world.fault(`the alarm of ${this.name} threw ${String(error)}`)
        ended(this.#world.clock.now + RETRY_MS)
      },
    )
  }

  /** It may die of being made. */
  async #entered<R>(work: (object: T) => R | Promise<R>): Promise<R> {
    const life = this.#live()
    const object = this.#object as T
    return life.enter(() => work(object))
  }

  #live(): Life {
    if (this.#life !== null) return this.#life
    const life = new Life(this.name, this.#world, () => {
      if (this.#life === life) this.#life = null
      if (!this.#isEviction) this.#cut()
    })
    this.#life = life
    this.#object = isolates.run(life, () => this.#make(this.#context(life)))
    return life
  }

  #context(life: Life): DurableObjectState {
    const listed = (tag?: string) => this.sockets.filter(({ tags }) => tag === undefined || tags.includes(tag))
    return {
      id: { toString: () => this.name },
      storage: this.disk.storage(life),
      waitUntil: (work: Promise<unknown>) =>
        void work.catch((error) => {
          if (!life.isDead) this.#world.fault(`${this.name} threw ${String(error)}`)
        }),
      getWebSockets: listed,
      getTags: ({ tags }: ServerEnd) => tags,
      getWebSocketAutoResponseTimestamp: () => null,
      acceptWebSocket: (socket: ServerEnd, tags: string[] = []) => {
        socket.tags = tags
        socket.host = this
        this.sockets.push(socket)
      },
    } as unknown as DurableObjectState
  }
}

/** Of whatever object. */
export type AnyHost = Pick<ObjectHost<Callable>, 'heard' | 'left' | 'gated' | 'arm' | 'evict' | 'crash'>

const QUIET = () => {}

export const newDisk = (schema: readonly string[]): Disk => new Disk(schema, atTurnEnd)
