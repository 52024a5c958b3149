// One conversation of the suite: gives it tasks, waits for their ends, and checks it at the end.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Task, taskText } from './agent-script.ts'
import type { SteadyClient } from './steady-client.ts'
import { type SeenEvent, Watcher } from './watcher.ts'

const PAGE = 100
const LOOK_EVERY_MS = 25
const COMMAND_PATIENCE_MS = 60_000

/** States in which a turn has ended. */
const ENDS: ReadonlySet<string> = new Set(['awaiting_user_input', 'finished', 'error', 'stopped', 'rejected'])

export type TaskRun = { task: Task; end: string | null; reason: string }

export class AgentConversation {
  readonly id: string
  readonly given: TaskRun[] = []
  readonly watcher: Watcher
  /** The first event id of a fork that is not copied from its parent. */
  readonly forkedAt: number
  readonly #client: SteadyClient

  constructor(client: SteadyClient, id: string, options: { forkedAt: number; onEvent(event: SeenEvent): void }) {
    this.id = id
    this.forkedAt = options.forkedAt
    this.#client = client
    this.watcher = new Watcher(`${client.url}${this.path}/ws`, options.onEvent, client.key)
  }

  get path(): string {
    return `/api/conversations/${this.id}`
  }

  post(action: string, args: object, key: string): Promise<unknown> {
    return this.#client.ask(`${this.path}/events`, { json: { action, args }, key })
  }

  /** Gives it a task and waits for the end of the turn; an end of null is one that did not come. */
  async work(task: Task, isPatient: () => boolean): Promise<TaskRun> {
    const given: TaskRun = { task, end: null, reason: '' }
    this.given.push(given)
    await this.post('message', { content: taskText(task) }, task.name)
    while (given.end === null && isPatient()) {
      await sleep(LOOK_EVERY_MS)
      const end = this.#endOf(task)
      given.end = end?.extras?.agent_state ?? null
      given.reason = end?.extras?.reason ?? ''
    }
    return given
  }

  /** Puts a repository into its workspace. */
  async makeReady(): Promise<void> {
    const ready = await this.run(
      'cd /workspace && git init -q && git config user.name A && git config user.email a@b.c && echo first > notes.txt && git add -A && git commit -q -m first && git log --format=%s',
      `${this.id}-begin`,
    )
    if (ready?.trim() !== 'first') throw new Error(`the workspace of ${this.id} could not be made ready: ${ready}`)
  }

  /** Stops the agent in the middle for a moment. */
  async holdOnce(name: string): Promise<void> {
    await this.post('change_agent_state', { agent_state: 'paused' }, `${name}-pause`)
    await sleep(100)
    await this.post('change_agent_state', { agent_state: 'running' }, `${name}-resume`)
  }

  /** The stored log. */
  async stored(): Promise<SeenEvent[]> {
    const all: SeenEvent[] = []
    for (let more = true; more; ) {
      const page = `${this.path}/events?limit=${PAGE}&start_id=${all.length}`
      const { body } = await this.#client.ask<{ events: SeenEvent[]; has_more: boolean }>(page)
      all.push(...body.events)
      more = body.has_more
    }
    return all
  }

  /** The lines of a file; none when there is no such file. */
  async lines(file: string): Promise<string[]> {
    const answer = await this.#client.ask<{ code?: string }>(`${this.path}/select-file?file=${file}`, {
      expect: [200, 404, 500],
    })
    return (answer.body.code ?? '').split('\n').filter((line) => line !== '')
  }

  /** Runs a command of the user's and returns its output; null when it was never run. */
  async run(command: string, key: string): Promise<string | null> {
    const before = this.watcher.lastId
    await this.post('run', { command }, key)
    for (const deadline = performance.now() + COMMAND_PATIENCE_MS; performance.now() < deadline; ) {
      await sleep(LOOK_EVERY_MS)
      const later = this.watcher.events.filter(({ id }) => id > before)
      const action = later.find(({ action: kind, args }) => kind === 'run' && args?.command === command)
      const outcome = later.find(({ cause }) => action !== undefined && cause === action.id)
      if (outcome !== undefined) return outcome.content ?? ''
    }
    return null
  }

  /** The state in which the turn of a task came to rest, if it did. */
  #endOf({ name }: Task): SeenEvent | null {
    const { events } = this.watcher
    const begun = events.findIndex(
      ({ action, message }) => action === 'message' && message?.includes(`Task ${name} has`),
    )
    if (begun < 0) return null
    const states = events.slice(begun).filter(({ observation }) => observation === 'agent_state_changed')
    const newest = states.at(-1)
    return newest !== undefined && ENDS.has(newest.extras?.agent_state ?? '') ? newest : null
  }
}
