// The agent under kills: several conversations work through tasks of many steps while the runtime is killed outright again
// and again, at instants that were chosen because something is under way, and while the model refuses, breaks off and
// dawdles. Afterwards every event that was ever shown has to be there, no call may have run twice, and every turn must have
// come to its end by itself.

import { setTimeout as sleep } from 'node:timers/promises'
import { startScriptedModel } from '../../test/support/scripted-model.ts'
import { audit, type Books, noBooks } from './agent-books.ts'
import { AgentConversation } from './agent-conversation.ts'
import { answerTo, type Mishap, onABadDay, type Task } from './agent-script.ts'
import { Moments } from './moments.ts'
import { type MortalService, startMortalService } from './mortal-service.ts'
import { SteadyClient } from './steady-client.ts'
import type { SeenEvent } from './watcher.ts'

const CONVERSATIONS = 5
const MOST_STEPS = 8
/** Once the kills are over, a turn that has not ended by then never will. */
const TURN_PATIENCE_MS = 180_000
/** After this many kills there is a pause, until every turn has made progress or `STEP_PATIENCE_MS` is over. */
const KILLS_PER_REST = 20
const STEP_PATIENCE_MS = 60_000
const MOMENT_PATIENCE_MS = 1_500
const KILLS_PER_FORK = 15
/** Most lives last until something was done in them, if that happens by then; the others may end at once. */
const LIFE_PATIENCE_MS = 5_000
const SHORT_LIVES = 0.2

/** Moments for a kill, and the maximum delay after them. */
const AFTER_MS = {
  asked: 10,
  answering: 250,
  acting: 15,
  observed: 3,
  posted: 8,
  forking: 25,
  'at any time': 700,
} as const
const SETTINGS = {
  LLM_MODEL: 'openai/scripted',
  LLM_API_KEY: 'sk-scripted',
  LLM_RETRY_ATTEMPTS: '20',
  LLM_RETRY_MIN_SECONDS: '0.1',
  LLM_RETRY_MAX_SECONDS: '0.5',
  MAX_RUNNING_LOOPS: '1000',
  LOG_LEVEL: 'error',
}

type Moment = keyof typeof AFTER_MS
const MOMENTS = Object.keys(AFTER_MS) as Moment[]

type Deps = {
  service: MortalService
  client: SteadyClient
  moments: Moments<Moment>
  conversations: AgentConversation[]
  /** Turns that made no progress although there was no kill. */
  still: string[]
  /** When the last kill was; infinity until then. */
  overAt: number
}

const isOver = ({ overAt }: Deps): boolean => overAt < Number.POSITIVE_INFINITY

export async function agentFaults({ kills }: { kills: number }): Promise<boolean> {
  const moments = new Moments<Moment>()
  const mishaps = new Map<Mishap, number>()
  const model = await startScriptedModel({
    respond: ({ body }) => {
      moments.happened('asked')
      const { reply, mishap } = onABadDay(answerTo(body), Math.random)
      mishaps.set(mishap, (mishaps.get(mishap) ?? 0) + 1)
      if (reply.status === undefined) moments.happened('answering')
      return reply
    },
  })
  const service = await startMortalService({
    LLM_BASE_URL: `${model.url}/faults/v1`,
    ...SETTINGS,
  })
  const client = new SteadyClient(service.url)
  const deps: Deps = { service, client, moments, conversations: [], still: [], overAt: Number.POSITIVE_INFINITY }
  try {
    const startedAt = performance.now()
    for (let i = 0; i < CONVERSATIONS; i++) deps.conversations.push(await begin(deps, `c${i}`))
    const workers = [...deps.conversations].map((one, i) => keepBusy(deps, one, `c${i}`))
    const { backMs, forks } = await killAgainAndAgain(deps, kills)
    deps.overAt = performance.now()
    await Promise.all([...workers, ...forks])
    const books = noBooks()
    books.stuck.push(...deps.still)
    for (const one of deps.conversations) await audit(one, books)
    report({ deps, books, kills, mishaps, backMs, seconds: (performance.now() - startedAt) / 1000 })
    const { lostEvents, doubled, stuck, missing, differing } = books
    return [lostEvents, doubled, stuck, missing, differing].every((found) => found.length === 0)
  } finally {
    for (const { watcher } of deps.conversations) watcher.close()
    await service.stop()
    await model.close()
  }
}

/** A conversation with a repository in its workspace. */
async function begin(deps: Deps, id: string): Promise<AgentConversation> {
  await deps.client.ask('/api/conversations', { json: { conversation_id: id } })
  const one = watched(deps, id, -1)
  await one.makeReady()
  return one
}

function watched({ client, moments }: Deps, id: string, forkedAt: number): AgentConversation {
  const onEvent = ({ action, observation, source }: SeenEvent) => {
    if (action !== undefined && source === 'agent' && action !== 'message') moments.happened('acting')
    if (observation !== undefined && observation !== 'agent_state_changed') moments.happened('observed')
  }
  return new AgentConversation(client, id, { forkedAt, onEvent })
}

async function keepBusy(deps: Deps, one: AgentConversation, name: string): Promise<void> {
  for (let count = 0; !isOver(deps); count++) {
    const task: Task = { name: `${name}-${count}`, steps: 2 + Math.floor(Math.random() * (MOST_STEPS - 1)) }
    const work = one.work(task, () => isPatient(deps))
    deps.moments.happened('posted')
    if (Math.random() < 0.2) await sleep(Math.random() * 500).then(() => one.holdOnce(task.name))
    if ((await work).end === null) return
  }
}

const isPatient = ({ overAt }: Deps): boolean => performance.now() < overAt + TURN_PATIENCE_MS

/** Waits until every turn that is under way has gone on. */
async function rest({ conversations, still }: Deps): Promise<void> {
  const deadline = performance.now() + STEP_PATIENCE_MS
  const standing = conversations.map((one) => ({ one, lastId: one.watcher.lastId, turn: one.given.at(-1) }))
  const stands = ({ one, lastId, turn }: (typeof standing)[number]) =>
    turn !== undefined && turn.end === null && one.watcher.lastId === lastId
  while (standing.some(stands) && performance.now() < deadline) await sleep(50)
  still.push(...standing.filter(stands).map(({ one, turn }) => `${one.id}: ${turn?.task.name} stood still`))
}

/** Returns how long each took until the service answered again, and the forks that still work. */
async function killAgainAndAgain(deps: Deps, kills: number): Promise<{ backMs: number[]; forks: Promise<void>[] }> {
  const backMs: number[] = []
  const forks: Promise<void>[] = []
  for (let kill = 1; kill <= kills; kill++) {
    if (kill % KILLS_PER_FORK === Math.min(5, kills)) forks.push(forkOne(deps, `f${kill}`))
    if (Math.random() > SHORT_LIVES) await deps.moments.next('observed', LIFE_PATIENCE_MS)
    const moment = MOMENTS[Math.floor(Math.random() * MOMENTS.length)] ?? 'at any time'
    if (moment !== 'at any time') await deps.moments.next(moment, MOMENT_PATIENCE_MS)
    await sleep(Math.random() * AFTER_MS[moment])
    backMs.push(await deps.service.kill())
    if (kill % KILLS_PER_REST !== 0) continue
    console.log(`  ${kill} kills`)
    await rest(deps)
  }
  return { backMs, forks }
}

/** Forks a conversation at some event of its past, and has the fork work on from there. */
async function forkOne(deps: Deps, id: string): Promise<void> {
  const from = deps.conversations[Math.floor(Math.random() * CONVERSATIONS)]
  if (from === undefined) return
  const begun = from.watcher.events.find(({ observation }) => observation === 'run')?.id ?? 0
  const event = begun + Math.floor(Math.random() * (from.watcher.lastId - begun))
  deps.moments.happened('forking')
  const json = { event_id: event, conversation_id: id }
  // An answer that was lost on its way leaves a conversation of that id.
  await deps.client.ask(`${from.path}/fork`, { json, expect: [200, 409] })
  const fork = watched(deps, id, event)
  deps.conversations.push(fork)
  await fork.work({ name: id, steps: 4 }, () => isPatient(deps))
}

type Outcome = {
  deps: Deps
  books: Books
  kills: number
  mishaps: ReadonlyMap<Mishap, number>
  backMs: number[]
  seconds: number
}

function report({ deps, books, kills, mishaps, backMs, seconds }: Outcome): void {
  const sorted = [...backMs].sort((a, b) => a - b)
  const forks = deps.conversations.filter(({ forkedAt }) => forkedAt >= 0).length
  const connections = deps.conversations.reduce((sum, { watcher }) => sum + watcher.connections, 0)
  console.log(`kills                  ${kills}, in ${seconds.toFixed(0)} s`)
  console.log(
    `back after             ${Math.round(sorted[sorted.length >> 1] ?? 0)} ms in the median, ${Math.round(sorted.at(-1) ?? 0)} ms at most`,
  )
  console.log(`model                  ${[...mishaps].map(([what, times]) => `${what} ${times}`).join(', ')}`)
  console.log(`clients                ${connections} sockets opened, ${deps.client.repeated} questions asked again`)
  console.log(
    `turns                  ${books.turns}, with ${books.calls} calls and ${books.events} events; ${forks} forks`,
  )
  console.log(`outcomes left open     ${books.unknown}`)
  for (const [name, found] of Object.entries({
    'lost events': books.lostEvents,
    'doubled side effects': books.doubled,
    'stuck turns': books.stuck,
    'calls without effect': books.missing,
    'forks that differ': books.differing,
  })) {
    console.log(`${name.padEnd(23)}${found.length}`)
    for (const text of found.slice(0, 10)) console.log(`    ${text}`)
  }
}
