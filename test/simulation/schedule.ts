// One schedule: a user who writes, interrupts and answers, a model that calls tools, and deaths at instants that chance
// picks. After each death only the runtime's alarm, or the user's own next request, brings the object back.

import { vi } from 'vitest'
import { changeAgentState, runAction, userMessage } from '../../src/agent/actions.ts'
import type { ActionEvent, StoredEvent } from '../../src/agent/events.ts'
import type { AgentState, Turn } from '../../src/agent/turn.ts'
import type { Disk } from './disk.ts'
import { Life } from './life.ts'
import { Random } from './random.ts'
import { Script, type ToolRun } from './script.ts'

const BEGAN_AT = Date.parse('2026-01-01T00:00:00Z')
const MOST_ROUNDS = 3_000
const DEATH_CHANCE = 0.06
const INTERRUPTION_CHANCE = 0.03

/** What a dead isolate waits for. */
const NEVER = new Promise<never>(() => {})

type Request = { event: ActionEvent; ref: string }
type Deed = { begun: number; took: number; isRepeatable: boolean }

export class Schedule {
  readonly random: Random
  readonly disk: Disk
  readonly faults: string[] = []
  readonly deeds = new Map<string, Deed>()
  /** What a client that was there all along has. */
  readonly seen: StoredEvent[] = []
  readonly acknowledged: Request[] = []
  readonly deaths = new Map<string, number>()
  readonly #script: Script
  #life: Life
  #requests: Request[] = []
  #made = 0
  #deathsLeft: number
  #wishes: number
  #interruptions: number
  #openMoments = 0
  #isAlarmLost = false
  #fired: 'no' | 'running' | 'ended' = 'no'

  constructor(seed: number, disk: Disk) {
    this.disk = disk
    this.random = new Random(seed)
    const { random } = this
    this.#deathsLeft = random.chance(0.01) ? 60 : random.below(6)
    this.#wishes = 1 + random.below(2)
    this.#interruptions = random.below(4)
    vi.clearAllTimers()
    vi.setSystemTime(BEGAN_AT)
    vi.spyOn(Math, 'random').mockImplementation(random.next)
    this.#script = new Script({
      random,
      moment: (name, signal) => this.#moment(name, signal),
      pause: (ms) => this.#pause(ms),
      begins: (told) => this.#begins(told),
      took: ({ token }) => this.#deed(token).took++,
    })
    this.#life = this.#born()
  }

  /** Lives until nothing is left to do and the user has nothing left to say; returns the last life. */
  async play(): Promise<Life> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      await this.#quiet()
      if (this.#life.isDead) this.#revive()
      else if (this.#fired === 'ended') this.#noteEnd()
      else if (this.#fired === 'running') this.#letTimePass()
      else if (this.disk.nextCall !== null) this.#fire(this.disk.nextCall)
      else if (!this.#goOn()) return this.#lastLife()
    }
    this.faults.push('it never came to an end')
    return this.#lastLife()
  }

  #born(): Life {
    return new Life(this.disk, {
      configOf: this.#script.configOf,
      runCommand: this.#script.runCommand,
      deliver: (events) => this.#deliver(events),
      isDeadly: (when, written, isBorn) => this.#isDeadly(`${when} ${isBorn ? nameOf(written) : 'the recovery'}`),
      died: () => vi.clearAllTimers(),
    })
  }

  async #lastLife(): Promise<Life> {
    this.#deathsLeft = 0
    this.#life.die()
    const last = this.#born()
    await this.#quiet()
    return last
  }

  /** Nothing is done any more but what waits for the clock. */
  async #quiet(): Promise<void> {
    do await soon()
    while (this.#openMoments > 0)
  }

  async #moment(name: string, signal?: AbortSignal): Promise<void> {
    const life = this.#life
    this.#openMoments += 1
    await soon()
    this.#openMoments -= 1
    if (life.isDead || this.#isDeadly(name)) {
      life.die()
      return NEVER
    }
    if (this.#interruptions > 0 && this.random.chance(INTERRUPTION_CHANCE)) {
      this.#interruptions -= 1
      this.#interrupt()
    }
    signal?.throwIfAborted()
  }

  async #pause(ms: number): Promise<void> {
    const life = this.#life
    await new Promise((resolve) => setTimeout(resolve, ms))
    return life === this.#life ? this.#moment('after a pause') : NEVER
  }

  #isDeadly(name: string): boolean {
    if (this.#deathsLeft === 0 || !this.random.chance(DEATH_CHANCE)) return false
    this.#deathsLeft -= 1
    this.deaths.set(name, (this.deaths.get(name) ?? 0) + 1)
    return true
  }

  #deed(token: string): Deed {
    const known = this.deeds.get(token) ?? { begun: 0, took: 0, isRepeatable: false }
    this.deeds.set(token, known)
    return known
  }

  #begins({ token, isRepeatable }: ToolRun): void {
    const deed = this.#deed(token)
    deed.begun += 1
    deed.isRepeatable = isRepeatable
    if (deed.begun > 1 && !isRepeatable) this.faults.push(`${token} was run ${deed.begun} times`)
    const isThere = this.disk.read("SELECT 1 FROM sqlite_master WHERE name = 'tool_calls'").length > 0
    const query = 'SELECT state FROM tool_calls WHERE instr(arguments, ?) > 0'
    const calls = isThere ? this.disk.read<{ state: string }>(query, `"${token}"`) : []
    for (const { state } of calls) if (state !== 'started') this.faults.push(`${token} was run when it was ${state}`)
  }

  #deliver(events: readonly StoredEvent[]): void {
    for (const event of events) {
      if (event.id !== this.seen.length) this.faults.push(`event ${event.id} came after ${this.seen.length - 1}`)
      this.seen.push(event)
    }
  }

  #revive(): void {
    this.#fired = 'no'
    const { nextCall } = this.disk
    const turn = this.#turn()
    if (nextCall === null && !this.#isAlarmLost && turn !== null && isUnderWay(turn))
      this.faults.push(`no alarm behind ${turn.state}`)
    // Now and then the runtime loses the alarm: whoever touches the object has to set it anew.
    this.#isAlarmLost ||= this.random.chance(0.05)
    this.disk.alarm = this.#isAlarmLost ? null : nextCall
    this.disk.firing = null
    const missed = 'SELECT id, kind, source, body AS text FROM events WHERE id >= ? ORDER BY id'
    this.seen.push(...this.disk.read<StoredEvent>(missed, this.seen.length))
    this.#life = this.#born()
    for (const request of this.#requests) this.#send(request)
  }

  #turn(): Turn | null {
    const [row] = this.disk.read<{ value: string }>("SELECT value FROM meta WHERE name = 'turn'")
    return row === undefined ? null : (JSON.parse(row.value) as Turn)
  }

  #fire(at: number): void {
    if (at > Date.now()) vi.advanceTimersByTime(at - Date.now())
    const life = this.#life
    this.disk.firing = at
    this.disk.alarm = null
    this.#fired = 'running'
    this.#isAlarmLost = false
    const calls = this.random.chance(0.05) ? [life.fire(at), life.fire(at)] : [life.fire(at)]
    void Promise.all(calls).then(
      () => this.#ended(life),
      (error: unknown) => {
        if (!life.isDead) this.faults.push(`the alarm's handler threw ${String(error)}`)
        this.#ended(life)
      },
    )
  }

  #ended(life: Life): void {
    if (life === this.#life && !life.isDead) this.#fired = 'ended'
  }

  /** What the handler wrote is durable by now. */
  #noteEnd(): void {
    this.#fired = 'no'
    this.disk.firing = null
  }

  #letTimePass(): void {
    if (vi.getTimerCount() === 0) throw new Error(`the alarm's handler waits for nothing in ${this.#life.loop.state}`)
    vi.advanceTimersToNextTimer()
  }

  /** The user's next move, now that nothing happens any more; false when there is none. */
  #goOn(): boolean {
    const { state } = this.#life.loop
    if (state === 'awaiting_user_confirmation') {
      this.#ask(this.random.chance(0.8) ? 'user_confirmed' : 'user_rejected')
    } else if (state === 'paused') this.#ask('running')
    else if (this.#wishes > 0) {
      this.#wishes -= 1
      this.#say()
    } else return false
    return true
  }

  /** What a user does in the middle of something. */
  #interrupt(): void {
    const dice = this.random.below(8)
    if (dice < 2) this.#say()
    else if (dice === 2) this.#request(runAction('user', this.#script.token()))
    else if (dice === 3 && this.random.chance(0.5)) this.#life.reopen()
    else this.#ask(this.random.pick(['stopped', 'paused', 'running', 'user_confirmed', 'user_rejected']))
  }

  #say(): void {
    this.#request(userMessage(`message ${this.#made}`, null, null))
  }

  #ask(state: AgentState): void {
    this.#request(changeAgentState('user', state))
  }

  #request(event: ActionEvent): void {
    this.#made += 1
    const request = { event, ref: `ref-${this.#made}` }
    this.#requests.push(request)
    this.#send(request)
  }

  /** Sent again after a death, until it is acknowledged. */
  #send(request: Request): void {
    this.#life.receive(request.event, request.ref, () => {
      this.#requests = this.#requests.filter((open) => open !== request)
      this.acknowledged.push(request)
    })
  }
}

const isUnderWay = ({ state, step }: Turn): boolean =>
  state === 'running' || state === 'user_confirmed' || step !== null

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const NAMES = [
  [/^UPDATE tool_calls SET state = \?, action_id/, "the row of a call's start"],
  [/^UPDATE tool_calls SET state = 'settled'/, 'the outcome of a call'],
  [/^INSERT INTO model_steps/, 'an answer'],
  [/INSERT INTO events/, 'an event'],
] as const

function nameOf(written: readonly string[]): string {
  const known = NAMES.find(([pattern]) => written.some((query) => pattern.test(query.trimStart())))
  return known?.[1] ?? 'a change'
}
