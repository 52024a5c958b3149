// P19: what comes after a kill -9 of the runtime: until every event is served again, and until an interrupted turn is on its
// way again. Against the time that a runtime with a bare Worker needs to come back: both are started again by Miniflare.

import { setTimeout as sleep } from 'node:timers/promises'
import { listProcesses, signalIfThere } from '../../start/processes.ts'
import { runtimeBelow } from '../../start/usage.ts'
import { type AgentClient, type ModelBench, openAgent, sampleOf, startAgentWorker, startModel } from '../agent-bench.ts'
import { ask } from '../conversation.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Side, Stage, WorkerSide } from '../stage.ts'

const LOOK_EVERY_MS = 3
const BACK_WITHIN_MS = 30_000
const PAGE = 100

export async function recovery(stage: Stage): Promise<Measurement[]> {
  const model = await startModel()
  const worker = await startAgentWorker(stage, model)
  const client = await openAgent(worker)
  const [ours, bare] = [serverOf(worker), serverOf(stage.small.hello)]
  const baseline = () => untilBack(bare, () => hello(stage.small.hello))
  const common = { row: 'P19', unit: 'ms', isErratic: true, baseline } as const
  return [
    {
      ...common,
      what: 'kill -9 until every event is served again',
      ours: () => untilBack(ours, () => allEvents(worker, client)),
    },
    {
      ...common,
      what: 'kill -9 in the middle of an answer until the model is asked again',
      ours: () => untilAskedAgain(ours, worker, model),
    },
  ]
}

/** The process that starts the runtime again. */
function serverOf({ runtime }: Side): number {
  const parent = listProcesses().find(({ pid }) => pid === runtime)?.parent
  if (parent === undefined) throw new Error('this machine does not tell which process is the runtime')
  return parent
}

function kill(server: number): void {
  const runtime = runtimeBelow(server)
  if (runtime === null) throw new Error('there is no runtime to kill')
  signalIfThere(runtime, 'SIGKILL')
}

async function untilBack(server: number, attempt: () => Promise<unknown>): Promise<Sample> {
  const killedAt = performance.now()
  kill(server)
  for (;;) {
    await sleep(LOOK_EVERY_MS)
    const isBack = await attempt().then(
      () => true,
      (error: unknown) => {
        if (performance.now() - killedAt > BACK_WITHIN_MS) throw error
        return false
      },
    )
    if (isBack) return sampleOf(performance.now() - killedAt)
  }
}

async function hello({ port }: Side): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/hello`)
  if (!answer.ok) throw new Error(`hello: ${answer.status}`)
  await answer.text()
}

/** Throws unless everything is there. */
async function allEvents(worker: WorkerSide, { path }: AgentClient): Promise<void> {
  const page = JSON.parse(await ask(worker, `${path}/events?limit=${PAGE}`)) as { events: unknown[]; has_more: boolean }
  if (page.events.length === 0 || page.has_more) throw new Error('events are missing')
}

async function untilAskedAgain(server: number, worker: WorkerSide, model: ModelBench): Promise<Sample> {
  const client = await openAgent(worker)
  const first = asked(model)
  client.say('begin')
  await first
  const again = asked(model)
  const killedAt = performance.now()
  kill(server)
  const at = await again
  await ask(worker, `${client.path}/stop`, {})
  return sampleOf(at - killedAt)
}

/** When the next question comes, which gets no answer. */
function asked(model: ModelBench): Promise<number> {
  return new Promise((resolve) => {
    model.answer(({ at }) => {
      resolve(at)
      return { hang: 'body' }
    })
  })
}
