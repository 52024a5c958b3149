// A deploy storm: while an agent works at a task of many steps, another bundle takes the place of the one that runs every
// other second, and never stops doing so before the task is done. Each life is long enough for a step and too short for the
// task: a budget that is blind to progress would run out.

import { setTimeout as sleep } from 'node:timers/promises'
import { startScriptedModel } from '../../test/support/scripted-model.ts'
import { audit, type Books, noBooks } from './agent-books.ts'
import { AgentConversation, type TaskRun } from './agent-conversation.ts'
import { answerTo, type Task } from './agent-script.ts'
import { type MortalService, startMortalService } from './mortal-service.ts'
import { SteadyClient } from './steady-client.ts'

const DEPLOY_EVERY_MS = 2_000
/** However slow the machine is, a life lasts so long from its first answer on. */
const SHORTEST_LIFE_MS = 1_500
const STORM_MS = 60_000
const PATIENCE_MS = 600_000
/** With an odd number of steps the scripted model says that it is done, and the turn ends as finished. */
const TASK: Task = { name: 'storm', steps: 81 }
/** Before each answer of the model's. */
const THINKING_MS = 300

export async function deployFaults(): Promise<boolean> {
  let asked = 0
  const model = await startScriptedModel({
    respond: ({ body }) => {
      asked += 1
      return { ...answerTo(body), firstDelayMs: THINKING_MS, chunkDelayMs: 10 }
    },
  })
  const service = await startMortalService({
    LLM_MODEL: 'openai/scripted',
    LLM_BASE_URL: `${model.url}/deploys/v1`,
    LLM_API_KEY: 'sk-scripted',
    LOG_LEVEL: 'error',
  })
  const client = new SteadyClient(service.url)
  // The script counts the answers in the prompt, so none of them may be condensed away.
  await client.ask('/api/settings', { json: { enable_default_condenser: false } })
  await client.ask('/api/conversations', { json: { conversation_id: TASK.name } })
  const one = new AgentConversation(client, TASK.name, { forkedAt: -1, onEvent: () => {} })
  try {
    await one.makeReady()
    const deadline = performance.now() + PATIENCE_MS
    const work = one.work(TASK, () => performance.now() < deadline)
    const storm = await deployUntilOver(service, () => isOver(one.given[0]))
    await work
    const books = noBooks()
    await audit(one, books)
    return report({ one, books, asked, storm, ends: await endsOf(one) })
  } finally {
    one.watcher.close()
    await service.stop()
    await model.close()
  }
}

const isOver = (given: TaskRun | undefined): boolean => given !== undefined && given.end !== null

type Storm = { backMs: number[]; duringTurn: number; seconds: number }

async function deployUntilOver(service: MortalService, isDone: () => boolean): Promise<Storm> {
  const startedAt = performance.now()
  const elapsed = () => performance.now() - startedAt
  const backMs: number[] = []
  let duringTurn = 0
  let backAt = startedAt
  let next = startedAt
  while ((elapsed() < STORM_MS || !isDone()) && elapsed() < PATIENCE_MS) {
    next = Math.max(next + DEPLOY_EVERY_MS, backAt + SHORTEST_LIFE_MS)
    await sleep(next - performance.now())
    if (!isDone()) duringTurn += 1
    backMs.push(await service.deploy())
    backAt = performance.now()
  }
  return { backMs, duringTurn, seconds: elapsed() / 1000 }
}

/** The states in which the turn came to rest, from its first event on; one, if it was sealed once. */
async function endsOf(one: AgentConversation): Promise<string[]> {
  const stored = await one.stored()
  const begun = stored.findIndex(({ action, source }) => action === 'message' && source === 'user')
  return stored
    .slice(begun)
    .flatMap(({ observation, extras }) => (observation === 'agent_state_changed' ? [extras?.agent_state ?? ''] : []))
    .filter((state) => state !== 'running')
}

type Outcome = { one: AgentConversation; books: Books; asked: number; storm: Storm; ends: string[] }

function report({ one, books, asked, storm, ends }: Outcome): boolean {
  const sorted = storm.backMs.toSorted((a, b) => a - b)
  const [middle = 0, last = 0] = [sorted[sorted.length >> 1], sorted.at(-1)]
  console.log(
    `deploys                ${storm.backMs.length} in ${storm.seconds.toFixed(0)} s, ${storm.duringTurn} in the turn`,
  )
  console.log(`back after             ${Math.round(middle)} ms in the median, ${Math.round(last)} ms at most`)
  console.log(
    `turn                   ${TASK.steps} steps, ${asked} questions, ${books.calls} calls, ${books.events} events`,
  )
  console.log(`clients                ${one.watcher.connections} sockets opened`)
  console.log(`outcomes left open     ${books.unknown}`)
  const isSealedOnce = ends.length === 1 && ends[0] === 'finished'
  const found = {
    'lost events': books.lostEvents,
    'doubled side effects': books.doubled,
    'stuck turns': books.stuck,
    'calls without effect': books.missing,
    'ends but for the one': isSealedOnce ? [] : [`the turn ended as ${ends.join(', ') || 'nothing'}`],
    'deploys too few': storm.duringTurn * DEPLOY_EVERY_MS >= STORM_MS / 2 ? [] : ['the turn was over too soon'],
  }
  for (const [name, all] of Object.entries(found)) {
    console.log(`${name.padEnd(23)}${all.length}`)
    for (const text of all.slice(0, 10)) console.log(`    ${text}`)
  }
  return Object.values(found).every((all) => all.length === 0)
}
