// One schedule: a conversation that takes commands on lent machines while its user stores files, and faults at instants that chance
// picks: connections cut at any frame, machines and sandboxes killed, the object lost before or after anything that it stores, the
// service restarted, and several of these at once.

import { vi } from 'vitest'
import { hashOf, Random } from '../random.ts'
import { type Command, callOf, commandOf, contentOf, differences, isWhole, linesOf, wrongFiles } from './command.ts'
import { GivenUp } from './given-up.ts'
import { GIVEN_UP_MS, HoldUps } from './hold-ups.ts'
import { Machine } from './machine.ts'
import { Network, turn, useNetwork } from './network.ts'
import { CONVERSATION, type ConversationLife, type Result } from './object.ts'
import { Service } from './service.ts'

const BEGAN_AT = Date.parse('2026-01-01T00:00:00Z')
const MOST_ROUNDS = 60_000
/** Far beyond what a command waits for its runner. */
const MOST_MS = 600_000
const FAULT_CHANCE = 0.01
const BOUNDARY_DEATH_CHANCE = 0.01
const STEPS = 4

/** When a machine dies: in a command, as the next one is given to it, or long before that. */
export type Death = 'in a command' | 'between two' | 'and it is known'

export class Schedule {
  readonly faults: string[] = []
  readonly story: string[] = []
  unknown = 0
  readonly random: Random
  readonly network: Network
  readonly machines: Machine[]
  readonly service: Service
  readonly #runs = new Map<string, number>()
  readonly #commands: Command[] = []
  /** Of the users' files: what was stored last. */
  readonly #stored = new Map<string, string>()
  /** Those in whose storing the object died: they are there or not. */
  #unacknowledged: { name: string; text: string }[] = []
  #files: ReadonlyMap<string, string> = new Map()
  #doubted: Command | null = null
  #faultsLeft: number
  #settled = 0
  #lastFaultAt = 0
  readonly holdUps: HoldUps
  readonly givenUp = new GivenUp()
  onRun: (key: string) => void = () => {}
  /** A machine that dies in its command. */
  #doomed: { key: string; machine: Machine } | null = null

  constructor(seed: number, root: string, names?: readonly string[]) {
    this.random = new Random(seed)
    this.network = new Network(this.random)
    useNetwork(this.network)
    this.#faultsLeft = 1 + this.random.below(6)
    vi.clearAllTimers()
    vi.setSystemTime(BEGAN_AT)
    vi.spyOn(Math, 'random').mockImplementation(this.random.next)
    names ??= this.random.chance(0.5) ? ['one'] : ['one', 'two']
    this.service = new Service({
      ...{ network: this.network, random: this.random },
      isDeadly: () => this.#isDeadly(),
      fault: (text) => this.faults.push(text),
      settled: (key) => this.#noteSettled(key),
    })
    this.holdUps = new HoldUps({ network: this.network, random: this.random, tell: (text) => this.#tell(text) })
    this.machines = names.map((name) => {
      const ran = (command: Command, files: ReadonlyMap<string, string>) => {
        this.givenUp.ran(command.key, machine)
        this.#ran(command, files)
      }
      const machine: Machine = new Machine(name, { root, network: this.network, ran })
      return machine
    })
  }

  async play(): Promise<void> {
    await this.begin()
    for (let step = 0; step < STEPS; step++) {
      const make = this.random.chance(0.35) ? callOf : commandOf
      const command = make(`step-${step}`, this.random)
      await this.take(command, true)
    }
    this.#faultsLeft = 0
    this.network.letGo()
    for (const machine of this.machines) if (!machine.isUp) machine.start()
    for (let at = 0; this.#machinesIn() < this.machines.length && at < 1_000; at++) await this.#round(false)
    await this.take(commandOf('last', this.random), false)
    await this.end()
  }

  /** The machine dies while another one is free: simulated time from there to the end of the next command, which the other one runs. */
  async takeover(when: Death): Promise<number> {
    await this.begin(0)
    await this.take(commandOf('first', this.random), false)
    const machine = this.connected()
    if (machine === undefined || this.service.object === null) throw new Error('no machine is connected')
    if (when === 'in a command') this.#doomed = { key: 'second', machine }
    await this.take(commandOf('second', this.random), false)
    await this.#upload(this.service.object)
    if (when !== 'in a command') machine.kill()
    while (machine.isUp || (when === 'and it is known' && this.connected() === machine)) await this.#round(false)
    // The one of the instant of the death may have been given to the dead machine: of it nobody knows.
    const next = ['third', 'fourth'].map((key) => ({ ...commandOf(key, this.random), restMs: 10 }))
    for (const command of next)
      if (this.connected() === machine || this.service.object.runner.connected === null) await this.take(command, false)
    const tookMs = Date.now() - (machine.deaths.at(-1) ?? 0)
    if (this.connected() === machine || !next.some(({ key }) => this.#runs.has(key)))
      this.faults.push('no other machine ran it')
    await this.end()
    return tookMs
  }

  /** The machine never acknowledges what comes down: how long it takes until the command has an end. Afterwards all is well again. */
  async unacknowledged(): Promise<number> {
    await this.begin(0)
    // More than the window.
    for (let at = 1; at <= 8; at++) await this.#store(`u${at}`, `u${at}`.repeat(400_000))
    this.network.loses = (text) => text.includes('"frame/ack"')
    const tookMs = await this.#first(commandOf('never-begun', this.random))
    if (this.#runs.size > 0) this.faults.push('it was begun')
    this.network.loses = () => false
    await this.take(commandOf('next', this.random), false)
    await this.end()
    return tookMs
  }

  /** Simulated time until the first command has an end. */
  async #first(command: Command): Promise<number> {
    const startedAt = Date.now()
    this.#commands.push(command)
    this.service.object?.add(command)
    while (this.#settled === 0 && Date.now() - startedAt < MOST_MS) await this.#round(false)
    if (this.#settled === 0) this.faults.push('stuck')
    return Date.now() - startedAt
  }

  /** The machine never tells that its command has ended: how long it takes until it has an end all the same. */
  async untold(): Promise<number> {
    await this.begin(0)
    this.network.loses = (text) => text.includes('"call/ended"')
    const tookMs = await this.#first({ ...commandOf('untold', this.random), writes: [], removes: [] })
    const [step] = this.service.steps()
    if (step?.result?.includes('did not tell in time') !== true) this.faults.push(`told as ${step?.result}`)
    this.network.loses = () => false
    const [machine] = this.machines
    machine?.kill()
    machine?.start()
    await this.take(commandOf('next', this.random), false)
    await this.end()
    return tookMs
  }

  /** The machine dies while the files come down that its command needs: nothing has begun, and the other one takes it. */
  async notBegun(): Promise<void> {
    await this.begin(0)
    await this.take(commandOf('first', this.random), false)
    if (this.service.object !== null) await this.#upload(this.service.object)
    const machine = this.connected()
    this.network.loses = (text) => {
      if (text.includes('"frame/ack"')) queueMicrotask(() => machine?.kill())
      return false
    }
    await this.take(commandOf('second', this.random), false)
    if (machine?.isUp === true) this.faults.push('it did not die')
    await this.end()
  }

  /** How often the whole tree went down: after cuts alone, and after a death in a command, which leaves the copy uncertain. */
  async wholes(): Promise<{ afterCuts: number; afterDeath: number; refused: number }> {
    await this.begin(0)
    for (const key of ['first', 'second', 'third', 'fourth']) {
      await this.take(commandOf(key, this.random), false)
      if (this.service.object !== null) await this.#upload(this.service.object)
      this.network.connections.forEach((one) => void one.cut())
    }
    const afterCuts = this.network.wholeTransfers
    const [machine] = this.machines
    if (machine === undefined) throw new Error('no machine')
    this.#doomed = { key: 'doomed', machine }
    setTimeout(() => machine.start(), 2_000)
    await this.take({ ...commandOf('doomed', this.random), restMs: 400, lines: 5 }, false)
    await this.take(commandOf('last', this.random), false)
    await this.end()
    return { afterCuts, afterDeath: this.network.wholeTransfers - afterCuts, refused: this.network.wrongRevisions }
  }

  /** The machine is cut off until its command is given up, and what it made comes when the user has stored a file of the same name. */
  async late(): Promise<void> {
    await this.begin(0)
    await this.take(commandOf('first', this.random), false)
    const write = { name: 'a', size: 99 }
    const given = { key: 'given-up', writes: [write], removes: [], lines: 1, restMs: 10, exitCode: 0 }
    const { entry } = this.network
    this.#commands.push(given)
    this.service.object?.add(given)
    while (!this.#runs.has(given.key)) await this.#round(false)
    this.network.cutOff()
    for (let at = 0; this.#settled < 2 && at < MOST_ROUNDS; at++) await this.#round(false)
    await this.#store('a', contentOf('user', write))
    this.network.entry = entry
    await this.take({ ...given, key: 'next', writes: [] }, false)
    await this.end()
  }

  async #store(name: string, text: string): Promise<void> {
    await this.service.object?.files.write(`/workspace/${name}`, new TextEncoder().encode(text))
    this.#stored.set(name, text)
  }

  async begin(faults = this.#faultsLeft): Promise<void> {
    this.#faultsLeft = faults
    this.service.start()
    for (const machine of this.machines) machine.start()
    for (let at = 0; this.#machinesIn() < this.machines.length && at < 1_000; at++) await this.#round(false)
  }

  async end(): Promise<void> {
    await this.#lookAtEnd()
    for (const machine of this.machines) machine.remove()
    await this.service.end()
  }

  connected(): Machine | undefined {
    const id = this.service.object?.runner.connected?.id
    return this.machines.find((one) => one.id === id)
  }

  #machinesIn(): number {
    return this.service.pool?.pool.list().filter(({ state }) => state === 'connected').length ?? 0
  }

  async take(command: Command, mayFail: boolean): Promise<void> {
    this.#commands.push(command)
    const startedAt = Date.now()
    // Goes on with what waits for it, and not when the service is held up.
    const since = performance.now()
    const wanted = this.#settled + 1
    this.#tell(`${command.key} is to run`)
    let isAdded = false
    for (let round = 0; this.#settled < wanted; round++) {
      if (!isAdded && this.service.object !== null && this.service.isOpen) {
        this.service.object.add(command)
        await turn()
        isAdded = this.service.steps().some(({ key }) => key === command.key)
      }
      if (round > MOST_ROUNDS || performance.now() - since > MOST_MS) {
        this.faults.push(`${command.key} is stuck after ${performance.now() - since} ms`)
        this.#settled = wanted
        return
      }
      await this.#round(mayFail)
    }
    await this.#audit(command, startedAt)
  }

  async #round(mayFail: boolean): Promise<void> {
    await turn()
    if (mayFail && this.#faultsLeft > 0 && this.random.chance(FAULT_CHANCE)) this.#strike()
    else if (mayFail && this.service.object !== null && this.random.chance(0.01))
      await this.#upload(this.service.object)
    else if (this.network.isQuiet) await this.#letTimePass()
    else if (this.random.chance(0.9)) this.network.step()
    // What is on its way does not take seconds.
    else vi.advanceTimersByTime(this.random.below(50))
  }

  /** To the next thing that waits for the clock, once all that does not has happened: what is stored is told some turns later. */
  async #letTimePass(): Promise<void> {
    const settled = this.#settled
    for (let turns = 0; turns < 4; turns++) await turn()
    if (this.network.isQuiet && this.#settled === settled) vi.advanceTimersToNextTimer()
  }

  #strike(): void {
    const kinds = [
      ...['cut', 'cut', 'kill', 'sandbox', 'object', 'service', 'kill and service', 'all'],
      ...['machine held up', 'service held up'],
    ]
    const kind = this.random.pick(kinds)
    const machine = this.random.pick(this.machines)
    this.#faultsLeft -= 1
    this.#lastFaultAt = Date.now()
    this.#tell(`${kind} ${machine.name}`)
    if (kind === 'cut') this.random.pick([...this.network.connections, null])?.cut()
    if (kind === 'kill' || kind === 'kill and service') this.kill(machine)
    if (kind === 'all') for (const one of this.machines) this.kill(one)
    if (kind === 'sandbox') machine.killSandbox()
    if (kind === 'object') this.service.object?.die()
    if (kind === 'machine held up') this.holdUps.machine(machine.name)
    if (kind === 'service held up') this.holdUps.service()
    if (kind === 'service' || kind === 'kill and service') this.service.restart()
  }

  kill(machine: Machine): void {
    if (!machine.isUp) return
    machine.kill()
    setTimeout(() => !machine.isUp && machine.start(), this.random.below(5_000))
  }

  #noteSettled(key: string): void {
    this.#settled = Math.max(this.#settled, this.#commands.findIndex((command) => command.key === key) + 1)
  }

  #isDeadly(): boolean {
    if (this.#faultsLeft === 0 || !this.random.chance(BOUNDARY_DEATH_CHANCE)) return false
    this.#faultsLeft -= 1
    this.#lastFaultAt = Date.now()
    this.#tell('the object dies of a write')
    return true
  }

  async #upload(object: ConversationLife): Promise<void> {
    const name = this.random.pick(['u', 'v', 'w'])
    const text = `${this.random.below(1e9)}\n${name.repeat(this.random.below(3_000))}`
    await object.files.write(`/workspace/${name}`, new TextEncoder().encode(text)).catch(() => {})
    await turn()
    if (object.isDead) this.#unacknowledged.push({ name, text })
    else this.#stored.set(name, text)
  }

  #ran(command: Command, files: ReadonlyMap<string, string>): void {
    const times = (this.#runs.get(command.key) ?? 0) + 1
    this.#runs.set(command.key, times)
    this.#tell(`${command.key} runs`)
    this.onRun(command.key)
    const doomed = this.#doomed?.key === command.key ? this.#doomed.machine : null
    if (doomed !== null) setTimeout(() => doomed.kill(), this.random.below(1_000))
    if (times > 1) this.faults.push(`${command.key} was run ${times} times`)
    for (const [name, text] of files) if (!isWhole(name, text)) this.faults.push(`${command.key} finds ${name} torn`)
  }

  async #audit(command: Command, startedAt: number): Promise<void> {
    const step = this.service.steps().find(({ key }) => key === command.key)
    const result = JSON.parse(step?.result ?? 'null') as Result
    this.#tell(`${command.key}: ${result.failure ?? `exit ${result.exitCode}`}`)
    const times = this.#runs.get(command.key) ?? 0
    const hasDied = this.machines.some(({ deaths }) => deaths.some((at) => at >= startedAt - 1))
    const isEnded = result.failure === null && result.exitCode === command.exitCode
    if (isEnded && times === 0) this.faults.push(`${command.key} has an outcome and never ran`)
    if (isEnded && result.output !== linesOf(command).join(''))
      this.faults.push(`${command.key}: the output is ${JSON.stringify(result.output)}`)
    const mayBeMissing = this.#lastFaultAt >= startedAt - 20_000 || this.holdUps.since(startedAt) > 0
    if (!isEnded && !hasDied && this.machines.length > 1 && this.holdUps.since(startedAt) >= GIVEN_UP_MS)
      this.givenUp.add(command)
    else if (!isEnded && !hasDied && !(result.missing && mayBeMissing))
      this.faults.push(`${command.key}: lost without a death: ${JSON.stringify(result)}`)
    if (!isEnded) this.unknown += 1
    await this.#compare(command, isEnded)
  }

  async #compare(command: Command, isEnded: boolean): Promise<void> {
    const found = await this.#found()
    for (const { name, text } of this.#unacknowledged) if (found.get(name) === text) this.#stored.set(name, text)
    this.#unacknowledged = []
    const before = { files: this.#files, stored: this.#stored, doubted: this.#doubted }
    this.faults.push(...wrongFiles(command, { isEnded, found, ...before }))
    for (const name of this.#stored.keys()) found.delete(name)
    this.#files = found
    this.#doubted = isEnded ? null : command
  }

  async #found(): Promise<Map<string, string>> {
    while (this.service.object === null) await this.#round(false)
    const { files } = this.service.object
    const found = new Map<string, string>()
    for (const { name } of files.list('/workspace'))
      found.set(name, new TextDecoder().decode(await files.read(`/workspace/${name}`)))
    return found
  }

  async #lookAtEnd(): Promise<void> {
    this.faults.push(...(await this.givenUp.audit(this.service, () => this.#round(false))))
    const left = this.service.disk.read<{ key: string }>('SELECT key FROM runner_calls')
    if (left.length > 0) this.faults.push(`calls are left: ${left.map(({ key }) => key).join(', ')}`)
    if (this.service.isOutputLeft) this.faults.push('output is left')
    const machine = this.connected()
    if (machine === undefined) return void this.faults.push('no machine is connected at the end')
    const here = machine.files(CONVERSATION)
    const there = await this.#found()
    this.faults.push(...differences(here, there))
  }

  /** The same for the same story. */
  get hash(): string {
    return hashOf(this.story)
  }

  #tell(text: string): void {
    this.story.push(`${Date.now() - BEGAN_AT} ${text}`)
  }
}
