// A machine that lends itself, as the wire demands it and no more: what it began, what that printed and how it ended outlives its
// deaths; what ran when it died is lost. The real program plays in `lent-schedules`, over real folders.

import { z } from 'zod'
import { decodeFrame, encodeFrame } from '../../../src/runners/frames.ts'
import { type Handlers, RpcError, RpcPeer } from '../../../src/runners/rpc.ts'
import { type CallOutcome, type ParamsOf, RPC_ERRORS, type TransferBegin } from '../../../src/runners/wire.ts'
import { Isolate, isolates } from './clock.ts'
import type { Lent, Pool } from './lent.ts'
import type { ClientEnd } from './sockets.ts'
import { type CoreWorld, sleep } from './world.ts'

const AGAIN_MS = 300
const REFUSED_MS = 2_000
const ID = 'ab'.repeat(16)
const DESCRIPTION: ParamsOf<'runner/hello'>['runner'] = {
  ...{ id: ID, name: 'one', labels: [], version: '0', os: 'linux', arch: 'x64', capacity: 10 },
  ...{ isolation: 'none', network: 'all', tools: [] },
}

export type Command = { lines: number; restMs: number; exitCode: number }

/** What a command prints. */
export const linesOf = (key: string, { lines }: Command): string[] =>
  Array.from({ length: lines }, (_, at) => `${key} line ${at}\n`)

/** `printed`: of these the first `taken` need not be sent again. */
type Call = { printed: string[]; taken: number; outcome: CallOutcome | null; isOver: boolean }

/** The process that lends the machine. */
class Program extends Isolate {
  readonly life: string
  readonly running = new Set<string>()
  session: { end: ClientEnd; peer: RpcPeer; sent: number; key: string | null; isWelcome: boolean } | null = null
  /** Grows with each ticket: what was begun with an earlier one stops. */
  tickets = 0
  readonly ends: ClientEnd[] = []
  readonly #died: () => void

  constructor(life: string, died: () => void) {
    super('machine')
    this.life = life
    this.#died = died
  }

  override die(): void {
    if (this.isDead) return
    super.die()
    for (const end of this.ends) end.server.cut()
    this.#died()
  }
}

export class Machine {
  readonly begun = new Map<string, number>()
  deaths = 0
  readonly #world: CoreWorld
  readonly #to: { lent: Lent; pool: Pool }
  readonly #calls = new Map<string, Call>()
  /** The session over which an end is told now. */
  #telling: object | null = null
  #tree: { epoch: string; revision: number } | null = null
  #program: Program | null = null

  constructor(world: CoreWorld, to: { lent: Lent; pool: Pool }) {
    this.#world = world
    this.#to = to
  }

  start(): void {
    const program: Program = new Program(`life-${this.deaths}`, () => {
      this.deaths += 1
      this.#program = null
      // The world starts it again, and no isolate.
      isolates.exit(() => this.#world.clock.set(() => this.start(), this.#world.random.below(5_000)))
    })
    this.#program = program
    isolates.run(program, () => void this.#joinPool(program))
  }

  die(): void {
    if (this.#program === null) return
    this.#world.noteDeath('machine struck')
    this.#program.die()
  }

  async #joinPool(program: Program): Promise<void> {
    const end = await this.#until(() => this.#to.pool.call('accept', (pool) => pool.accept()))
    const peer: RpcPeer = this.#connect(program, end, {
      handlers: {
        'conversation/open': ({ ticket }) => {
          program.tickets += 1
          void this.#openSession(program, ticket, program.tickets)
        },
        'conversation/close': () => {},
      },
      onClose: () => void sleep(AGAIN_MS).then(() => this.#joinPool(program)),
    })
    const holds = this.#tree === null ? [] : ['lent']
    const hello = { wire: 1, runner: DESCRIPTION, life: program.life, holds, clock: Date.now() }
    peer.call('runner/hello', hello, z.unknown()).catch(() => end.server.cut())
  }

  async #openSession(program: Program, ticket: string, number: number): Promise<void> {
    for (;;) {
      if (number !== program.tickets) return
      const end = await this.#to.lent.call('accept', (lent) => lent.accept(ticket)).catch(() => null)
      if (number !== program.tickets) return
      if (end !== null && typeof end !== 'number') return this.#greet(program, end, { ticket, number })
      await sleep(end === null ? AGAIN_MS : REFUSED_MS)
    }
  }

  #greet(program: Program, end: ClientEnd, { ticket, number }: { ticket: string; number: number }): void {
    program.session?.end.server.cut()
    const onClose = () => {
      if (program.session?.end !== end) return
      program.session = null
      void sleep(AGAIN_MS).then(() => this.#openSession(program, ticket, number))
    }
    const peer: RpcPeer = this.#connect(program, end, { handlers: this.#handlers(program), onClose })
    const session = { end, peer, sent: 0, key: null, isWelcome: false }
    program.session = session
    const hello = { wire: 1, runner: ID, life: program.life, tree: this.#tree, calls: this.#open(program) }
    peer.call('session/hello', hello, z.unknown()).then(
      () => {
        session.isWelcome = true
        this.#goOn(program)
      },
      () => end.server.cut(),
    )
  }

  #connect(program: Program, end: ClientEnd, by: { handlers: Handlers; onClose: () => void }): RpcPeer {
    program.ends.push(end)
    const peer = new RpcPeer((text) => end.send(text), by.handlers)
    end.addEventListener('message', ({ data = '' }) => {
      if (typeof data === 'string') void peer.receive(data)
      else this.#took(peer, data)
    })
    end.addEventListener('close', () => {
      peer.close('the service is gone')
      by.onClose()
    })
    end.accept()
    return peer
  }

  #took(peer: RpcPeer, data: Uint8Array): void {
    const { head } = decodeFrame(data)
    if (head.t === 'files') peer.tell('frame/ack', { stream: `transfer:${head.transfer}`, seq: head.seq })
  }

  #handlers(program: Program): Handlers {
    let coming: TransferBegin | null = null
    return {
      'transfer/begin': (begin) => {
        const isAt = this.#tree?.epoch === begin.epoch && this.#tree.revision === begin.base
        if (begin.base !== null && !isAt) throw new RpcError(RPC_ERRORS.wrongRevision, 'not at that revision')
        coming = begin
      },
      'transfer/commit': () => {
        if (coming !== null) this.#tree = { epoch: coming.epoch, revision: coming.revision }
      },
      'call/start': (call) => ({ state: this.#start(program, call) }),
      'call/query': ({ key }) => ({ state: this.#retold(program, key) }),
      'frame/ack': ({ stream, seq }) => {
        const call = this.#calls.get(stream.replace(/^output:/, ''))
        if (call !== undefined) call.taken = Math.max(call.taken, seq + 1)
        this.#goOn(program)
      },
    }
  }

  #stateOf(program: Program, key: string): 'unknown' | 'running' | 'ended' {
    if (program.running.has(key)) return 'running'
    return (this.#calls.get(key)?.outcome ?? null) === null ? 'unknown' : 'ended'
  }

  /** Whoever asks does not have the end, even if it was answered: it is told once more. */
  #retold(program: Program, key: string) {
    const call = this.#calls.get(key)
    if (call !== undefined && call.outcome !== null) {
      call.isOver = false
      this.#goOn(program)
    }
    return this.#stateOf(program, key)
  }

  #open(program: Program): ParamsOf<'session/hello'>['calls'] {
    return [...this.#calls].flatMap(([key, { isOver }]) => {
      const state = this.#stateOf(program, key)
      return isOver || state === 'unknown' ? [] : [{ key, state }]
    })
  }

  /** A key that was begun before is not begun again. */
  #start(program: Program, { key, text, epoch, revision }: ParamsOf<'call/start'>) {
    if (!this.#calls.has(key)) {
      if (this.#tree?.epoch !== epoch || this.#tree.revision !== revision)
        throw new RpcError(RPC_ERRORS.wrongRevision, 'not at that revision')
      this.begun.set(key, (this.begun.get(key) ?? 0) + 1)
      this.#calls.set(key, { printed: [], taken: 0, outcome: null, isOver: false })
      program.running.add(key)
      void this.#run(program, key, JSON.parse(text) as Command)
    }
    return this.#stateOf(program, key)
  }

  async #run(program: Program, key: string, command: Command): Promise<void> {
    const call = this.#calls.get(key) as Call
    for (const line of linesOf(key, command)) {
      await sleep(command.restMs)
      call.printed.push(line)
      this.#goOn(program)
    }
    await sleep(command.restMs)
    program.running.delete(key)
    call.outcome = {
      ...{ state: 'ended', text: '', exitCode: command.exitCode, cwd: '/workspace', user: 'agent', host: 'one' },
      ...{ interpreter: '', outputBytes: call.printed.join('').length, remarks: [], left: [] },
    }
    this.#goOn(program)
  }

  /** Over the connection that there is: what was printed and not taken, and behind it how it ended. */
  #goOn(program: Program): void {
    const { session } = program
    if (session?.isWelcome !== true) return
    const [key, call] = [...this.#calls].find(([one, { isOver }]) => !isOver && this.#isTold(program, one)) ?? []
    if (key === undefined || call === undefined) return
    if (session.key !== key) Object.assign(session, { key, sent: call.taken })
    for (; session.sent < call.printed.length; session.sent++) {
      const bytes = new TextEncoder().encode(call.printed[session.sent])
      session.end.send(encodeFrame({ head: { t: 'output', key, seq: session.sent }, bytes }))
    }
    if (call.outcome !== null && call.taken >= call.printed.length) this.#tell(program, key, call)
  }

  #isTold(program: Program, key: string): boolean {
    return this.#stateOf(program, key) !== 'unknown'
  }

  #tell(program: Program, key: string, call: Call): void {
    const { session } = program
    if (session === null || call.outcome === null || this.#telling === session) return
    this.#telling = session
    session.peer.call('call/ended', { key, outcome: call.outcome, transfer: null }, z.unknown()).then(
      () => {
        call.isOver = true
        this.#telling = null
        this.#goOn(program)
      },
      () => {
        // Told again over the next connection.
        this.#telling = null
        session.end.server.cut()
      },
    )
  }

  async #until<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      const answer = await ask().then(
        (value) => ({ value }),
        () => null,
      )
      if (answer !== null) return answer.value
      await sleep(AGAIN_MS)
    }
  }
}
