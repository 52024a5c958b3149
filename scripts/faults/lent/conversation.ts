// One conversation on runners: runs step after step, and after each checks that the reported outcome is what happened.

import { setTimeout as sleep } from 'node:timers/promises'
import type { SteadyClient } from '../steady-client.ts'
import { type SeenEvent, Watcher } from '../watcher.ts'
import { CALLED, MARK, SERVER } from './calls.ts'
import type { Machine } from './machine.ts'
import { commandOf, contentOf, type Files, filesAfter, isWhole, outputOf, type Step } from './steps.ts'

export type Books = {
  steps: number
  ended: number
  /** Unknown outcomes, because the machine or the sandbox died during the command. */
  unknown: number
  /** Steps that were not started, because no machine was connected while the command waited for one. */
  refused: number
  /** Calls of a tool of a program, among the steps. */
  calls: number
  /** Outcomes that were given up because the machine was disconnected for longer than a call waits, and reported when it was back. */
  late: number
  twice: string[]
  lost: string[]
  differing: string[]
  torn: string[]
  stuck: string[]
  /** Runners that exited without a kill. */
  ownEnds: string[]
  /** Times from the death of a machine to the next outcome of one of its conversations. */
  backMs: number[]
}

export const noBooks = (): Books => ({
  steps: 0,
  ended: 0,
  unknown: 0,
  refused: 0,
  calls: 0,
  late: 0,
  twice: [],
  lost: [],
  differing: [],
  torn: [],
  stuck: [],
  ownEnds: [],
  backMs: [],
})

type ConversationDeps = {
  client: SteadyClient
  machines: readonly Machine[]
  books: Books
  onBegun: () => void
  /** The time of the last kill or suspension. */
  lastFaultAt: () => number
}

/** With a connected machine and no faults, a step that has not ended after this time is stuck. */
const PATIENCE_MS = 150_000
/** The limit of a step, independent of the number of kills. */
const MOST_PATIENCE_MS = 600_000
/** The agent's state while it waits for the user. */
const AT_REST = 'awaiting_user_input'
const NO_RUNNER = /^(\{.*"text":"Error: )?(No runner is connected|The runner is not connected)/
/** Without further kills a machine has reported its outcomes after this time. */
const LATE_WITHIN_MS = 120_000

type GivenUp = {
  readonly step: Step
  readonly its: readonly Machine[]
  readonly startedAt: number
  readonly told: string
}

export class LentConversation {
  readonly id: string
  readonly #outside: ConversationDeps
  readonly #watcher: Watcher
  #files: Files = new Map()
  #makesCalls = false
  readonly #givenUp: GivenUp[] = []
  /** The newest step without an outcome: a machine that reconnects reports its files, even after the step was given up. */
  #doubted: Step | null = null

  constructor(id: string, outside: ConversationDeps) {
    this.id = id
    this.#outside = outside
    this.#watcher = new Watcher(`${outside.client.url}/api/conversations/${id}/ws`, () => {})
  }

  get path(): string {
    return `/api/conversations/${this.id}`
  }

  close(): void {
    this.#watcher.close()
  }

  /** `calls`: its steps are tool calls of an agent; they change no files. */
  async begin(calls: boolean): Promise<void> {
    const { client } = this.#outside
    const query = `?runtime=runner&agent=${calls ? 'CodeActAgent' : 'ShellAgent'}`
    const json = { conversation_id: this.id, ...(calls ? { mcp_config: { stdio_servers: [SERVER] } } : {}) }
    await client.ask(`/api/conversations${query}`, { json, expect: [200, 201] })
    this.#makesCalls = calls
  }

  /** False if it is stuck: no further checks are possible then. */
  async take(step: Step): Promise<boolean> {
    const { client, books, onBegun } = this.#outside
    books.steps += 1
    if (this.#makesCalls) books.calls += 1
    const startedAt = performance.now()
    const before = this.#watcher.lastId
    const content = this.#makesCalls ? `${MARK} ${step.key} ${step.restMs}` : commandOf(step)
    const json = { action: 'message', args: { content } }
    await client.ask(`${this.path}/events`, { json, key: step.key, expect: [200, 201, 202] })
    onBegun()
    const outcome = await this.#outcome(before)
    if (outcome === null) {
      books.stuck.push(`${this.id} ${step.key}: no outcome after ${this.#story(startedAt)}`)
      return false
    }
    if ((await this.#seen(({ id, extras }) => id > outcome.id && extras?.agent_state === AT_REST)) === null) {
      books.stuck.push(`${this.id} ${step.key}: an outcome, and the turn does not end: ${this.#story(startedAt)}`)
      return false
    }
    await this.#audit(step, outcome, startedAt)
    return true
  }

  /** The events of a failed step. */
  #story(startedAt: number): string {
    const { machines } = this.#outside
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    const events = this.#watcher.events.slice(-6).map((event) => JSON.stringify(event).slice(0, 300))
    return [`${seconds} s`, ...events, ...machines.map(({ name, said }) => `${name} said:\n${said}`)].join('\n      ')
  }

  #outcome(before: number): Promise<SeenEvent | null> {
    const kinds = ['run', 'mcp', 'error']
    // An error without a cause is a message about the tool servers.
    return this.#seen(
      ({ id, observation, cause }) => id > before && cause !== undefined && kinds.includes(observation ?? ''),
    )
  }

  async #seen(isIt: (event: SeenEvent) => boolean): Promise<SeenEvent | null> {
    const since = performance.now()
    const deadline = () =>
      Math.min(since + MOST_PATIENCE_MS, Math.max(since, this.#outside.lastFaultAt()) + PATIENCE_MS)
    for (; performance.now() < deadline(); await sleep(10)) {
      const found = this.#watcher.events.find(isIt)
      if (found !== undefined) return found
    }
    return null
  }

  async #audit(step: Step, { content = '', extras }: SeenEvent, startedAt: number): Promise<void> {
    const { books, machines } = this.#outside
    const name = here(this.id, step)
    const runs = machines.map((machine) => machine.timesRun(this.id, step.key))
    const times = runs.reduce((sum, each) => sum + each, 0)
    if (times > 1) books.twice.push(`${name}: begun ${times} times`)
    // A death elsewhere excuses nothing: only of a step that no machine has begun it is not known whose it was to be.
    const its = times === 0 ? machines : machines.filter((_, at) => (runs[at] ?? 0) > 0)
    const kill = its.flatMap(({ kills }) => kills).findLast(({ at }) => at >= startedAt)
    if (times === 0 && NO_RUNNER.test(content) && !machines.some((machine) => machine.isUpSince(startedAt))) {
      books.refused += 1
      await this.#compare(step, this.#files)
      return
    }
    const isEnded = this.#makesCalls
      ? content.includes(CALLED(step.key))
      : extras?.metadata?.exit_code === step.exitCode && isOutput(step, content)
    if (isEnded && times === 0) books.lost.push(`${name}: an outcome of what never ran`)
    if (kill !== undefined) books.backMs.push(performance.now() - kill.at)
    if (isEnded) {
      books.ended += 1
      await this.#compare(step, this.#makesCalls ? this.#files : filesAfter(this.#files, step))
    } else {
      const told = `${name}: ${extras?.metadata?.exit_code} ${content.slice(0, 200)} after ${this.#story(startedAt)}`
      if (kill === undefined) this.#givenUp.push({ step, its, startedAt, told })
      books.unknown += 1
      await this.#compare(step, null)
    }
  }

  /** When nobody is killed any more: of what was given up while its machine lived the outcome has been told, once. */
  async auditLate(): Promise<void> {
    const { books } = this.#outside
    for (const { step, its, startedAt, told } of this.#givenUp) {
      const isIt = (event: SeenEvent) => {
        const thought = String(event.source === 'environment' ? event.args?.thought : '')
        return thought.includes('given up') && new RegExp(`\\b${step.key}\\b`).test(thought)
      }
      const until = performance.now() + LATE_WITHIN_MS
      const hasDied = its.flatMap(({ kills }) => kills).some(({ at }) => at >= startedAt)
      while (!hasDied && performance.now() < until && !this.#watcher.events.some(isIt)) await sleep(50)
      const times = this.#watcher.events.filter(isIt).length
      if (times > 1) books.twice.push(`${here(this.id, step)}: its outcome was told ${times} times`)
      else if (times === 1) books.late += 1
      else if (!hasDied) books.lost.push(told)
    }
  }

  /** `wanted` null: the step may have run partly, so each file has its content from before or from the step. */
  async #compare(step: Step, wanted: Files | null): Promise<void> {
    const { books } = this.#outside
    const found = await this.#found()
    for (const [name, text] of found)
      if (!isWhole(name, text)) books.torn.push(`${here(this.id, step)}: ${name} ${text.length} ${text.slice(0, 60)}`)
    for (const name of new Set([...found.keys(), ...(wanted ?? this.#files).keys()])) {
      const allowed = wanted === null ? this.#possible(step, name) : [wanted.get(name)]
      if (wanted?.get(name) === this.#files.get(name)) allowed.push(...madeBy(this.#doubted, name))
      if (!allowed.includes(found.get(name)))
        books.differing.push(
          `${here(this.id, step)}: ${name} is ${firstLine(found.get(name))} and not ${allowed.map(firstLine).join(' or ')}`,
        )
    }
    this.#files = found
    this.#doubted = wanted === null ? step : null
  }

  #possible(step: Step, name: string): (string | undefined)[] {
    return [this.#files.get(name), ...madeBy(step, name), ...madeBy(this.#doubted, name)]
  }

  async #found(): Promise<Map<string, string>> {
    for (;;) {
      const files = await this.#read()
      if (files !== null) return files
    }
  }

  /** Null if a file was removed between listing and reading, by a late report of a machine. */
  async #read(): Promise<Map<string, string> | null> {
    const { client } = this.#outside
    const { body: names } = await client.ask<string[]>(`${this.path}/list-files`)
    const files = new Map<string, string>()
    for (const name of names.filter((one) => one !== '.making')) {
      const question = { expect: [200, 500] }
      const { status, body } = await client.ask<{ code: string; error?: string }>(
        `${this.path}/select-file?file=${name}`,
        question,
      )
      if (status === 500 && body.error?.includes('No such file') === true) return null
      if (status !== 200) throw new Error(`${this.path} ${name}: ${body.error}`)
      files.set(name, body.code)
    }
    return files
  }
}

const here = (id: string, step: Step): string => `${id} ${step.key}`

/** The contents that the step may have written under the name, in addition to the former content. */
function madeBy(step: Step | null, name: string): (string | undefined)[] {
  const written = step?.writes.find((write) => write.name === name)
  return [
    ...(step === null || written === undefined ? [] : [contentOf(step.key, written)]),
    ...(step?.removes === name ? [undefined] : []),
  ]
}

const CUT_CHARS = 25_000

/** The sandbox was killed while no command ran: the next outcome reports it. */
const NEW_SESSION = /\[The session had ended, so this ran in a new one[^\]]*\]$/

/** Long texts are cut in the middle. */
function isOutput(step: Step, told: string): boolean {
  const whole = outputOf(step)
  const content = told.trimEnd().replace(NEW_SESSION, '').trimEnd()
  if (whole.length < CUT_CHARS) return content === whole
  return content.startsWith(whole.slice(0, 5_000)) && content.endsWith(whole.slice(-5_000))
}

const firstLine = (text: string | undefined): string => text?.split('\n', 1)[0] ?? 'not there'
