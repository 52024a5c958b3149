// What is done all the time: turns of agents, batches of stocks, uploads, forks, rules of alerts, lists. Each loop waits a
// while between two pieces, so that all together are busy and none has the machine to itself.

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AgentConversation } from '../faults/agent-conversation.ts'
import type { Figures } from './figures.ts'
import type { Options } from './options.ts'
import type { Member, Owner, People } from './people.ts'

/** Between two turns of a conversation, in the middle; less where the whole run is short. */
const TURN_PAUSE_MS = 60_000
const TURNS_AT_LEAST = 4
const LOOK_MS = 200
const TURN_PATIENCE_MS = 120_000
const BATCH_EVERY_MS = 6_000
const UPLOAD_EVERY_MS = 1_500
const FORK_EVERY_MS = 15_000
const RULE_EVERY_MS = 3_000
const LIST_EVERY_MS = 400
const UPLOAD_BYTES = [2_000, 60_000, 600_000]
const MOST_STEPS = 4

export type Upload = { readonly member: Member; readonly name: string; readonly text: string }

/** What was acknowledged, and so has to be there in the end. */
export type AcknowledgedWork = {
  readonly uploads: Upload[]
  readonly forks: Member[]
  readonly rules: { readonly owner: Owner; readonly id: number }[]
  turns: number
}

export type Run = {
  readonly people: People
  readonly options: Options
  readonly figures: Figures
  readonly done: AcknowledgedWork
  readonly codes: readonly string[]
  readonly isOver: () => boolean
}

export async function workUntilOver(run: Run): Promise<void> {
  const { members } = run.people
  await Promise.all([
    ...members.map((member, at) => turns(run, member, at)),
    every(run, BATCH_EVERY_MS, (at) => batch(run, at)),
    every(run, UPLOAD_EVERY_MS, (at) => upload(run, at)),
    every(run, FORK_EVERY_MS, (at) => fork(run, at)),
    every(run, RULE_EVERY_MS, (at) => rule(run, at)),
    every(run, LIST_EVERY_MS, (at) => look(run, at)),
  ])
}

/** As long, or until the work is over. */
async function rest(isOver: () => boolean, ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end && !isOver(); ) {
    await sleep(Math.min(LOOK_MS, Math.max(0, end - performance.now())))
  }
}

async function every({ isOver, figures }: Run, ms: number, work: (at: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; !isOver(); at++) {
    const startedAt = performance.now()
    await figures.guard(() => work(at))
    await rest(isOver, ms - (performance.now() - startedAt))
  }
}

/** Turns of one conversation, each awaited: from the message until the agent is at rest again. */
async function turns(
  { isOver, figures, done, options }: Run,
  { conversation, isLent }: Member,
  at: number,
): Promise<void> {
  const pauseMs = Math.min(TURN_PAUSE_MS, (options.minutes * 60_000) / TURNS_AT_LEAST)
  // Not all at once in the first moment.
  await rest(isOver, Math.random() * pauseMs)
  for (let count = 0; !isOver(); count++) {
    const task = { name: `t${at}-${count}`, steps: 1 + Math.floor(Math.random() * MOST_STEPS) }
    const startedAt = performance.now()
    await figures.guard(() => conversation.work(task, () => performance.now() - startedAt < TURN_PATIENCE_MS))
    figures.add(`turn, ${isLent ? 'on a runner' : 'at the edge'}`, performance.now() - startedAt)
    done.turns += 1
    await rest(isOver, pauseMs * (0.5 + Math.random()))
  }
}

async function batch({ people, figures, options, codes }: Run, at: number): Promise<void> {
  const owner = pick(people.owners, at)
  const from = (at * options.batch) % codes.length
  const stocks = [...codes, ...codes].slice(from, from + options.batch)
  type Answer = { task_id?: string; accepted?: { task_id: string }[]; duplicates?: unknown[] }
  const json = { stock_codes: stocks, async_mode: true, report_type: 'brief' }
  const question = { json, expect: [202], key: `batch-${at}` }
  const answer = await figures.time('batch taken', () => owner.client.ask<Answer>('/api/v1/analysis/analyze', question))
  const { accepted, task_id: one = '' } = answer?.body ?? {}
  if (answer !== null) owner.tasks.accept(...(accepted?.map(({ task_id }) => task_id) ?? [one]))
}

async function upload({ people, figures, done }: Run, at: number): Promise<void> {
  const member = pick(people.members, at * 7)
  const name = `upload-${at}.txt`
  const text = randomBytes(pick(UPLOAD_BYTES, at) / 2).toString('hex')
  const form = new FormData()
  form.append('files', new File([text], name))
  const path = `${member.conversation.path}/upload-files`
  const answer = await figures.time('upload', () =>
    member.owner.client.ask<{ uploaded_files: string[] }>(path, { form, expect: [200] }),
  )
  if (answer !== null) done.uploads.push({ member, name, text })
}

/** Of a conversation at its newest event; the fork takes a turn of its own. */
async function fork({ people, figures, done }: Run, at: number): Promise<void> {
  const { owner, conversation, isLent } = pick(people.members, at * 13)
  const id = `fork-${at}`
  const { lastId } = conversation.watcher
  const json = { event_id: lastId, conversation_id: id }
  const forked = await figures.time('fork', () =>
    owner.client.ask(`${conversation.path}/fork`, { json, expect: [200] }),
  )
  if (forked === null) return
  const copy = new AgentConversation(owner.client, id, { forkedAt: lastId, onEvent: () => {} })
  done.forks.push({ owner, conversation: copy, isLent })
}

async function rule({ people, figures, done }: Run, at: number): Promise<void> {
  const owner = pick(people.owners, at)
  const parameters = { direction: 'above', price: 100 + at }
  const json = { name: `rule ${at}`, target: 'AAPL', alert_type: 'price_cross', parameters }
  const made = await figures.time('alert rule made', () =>
    owner.client.ask<{ id: number }>('/api/v1/alerts/rules', { json, expect: [200, 201], key: `rule-${at}` }),
  )
  if (made === null) return
  done.rules.push({ owner, id: made.body.id })
  await figures.time('alert rule tried', () =>
    owner.client.ask(`/api/v1/alerts/rules/${made.body.id}/test`, { json: {}, expect: [200] }),
  )
}

/** What pages ask for when somebody looks. */
async function look({ people, figures }: Run, at: number): Promise<void> {
  const { owner, conversation } = pick(people.members, at * 3)
  const paths: readonly (readonly [string, string])[] = [
    ['newest events', `${conversation.path}/events?reverse=true&limit=20`],
    ['conversations', '/api/conversations?limit=20'],
    ['files', `${conversation.path}/list-files`],
    ['history', '/api/v1/history?page=1&limit=20'],
    ['tasks', '/api/v1/analysis/tasks?limit=20'],
  ]
  const [kind, path] = pick(paths, at)
  await figures.time(`read: ${kind}`, () => owner.client.ask(path))
}

const pick = <T>(items: readonly T[], at: number): T => items[at % items.length] as T
