// P11: the first piece of an answer on a client's socket, from the moment at which the model sends it, against a program that
// asks the model itself. And what the loop adds to a model that takes no time: a step of it, and the way to the first.

import { randomBytes } from 'node:crypto'
import { type ModelBench, openAgent, putAway, sampleOf, startAgentWorker, startModel } from '../agent-bench.ts'
import { ask } from '../conversation.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Stage, WorkerSide } from '../stage.ts'
import { median } from '../stats.ts'

const TURNS = 20
const STEPS = 60
/** The first ones load what is loaded on first use. */
const WARM_UP = 3
const CREATIONS = 12

export async function firstToken(stage: Stage): Promise<Measurement[]> {
  const model = await startModel()
  const worker = await startAgentWorker(stage, model)
  return [
    {
      row: 'P11',
      what: 'first piece of an answer on a socket, from when the model sends it, p50',
      unit: 'ms',
      isErratic: true,
      ours: () => ourFirstTokens(worker, model),
      baseline: () => directFirstTokens(model),
    },
  ]
}

async function ourFirstTokens(worker: WorkerSide, model: ModelBench): Promise<Sample> {
  const client = await openAgent(worker)
  const delays: number[] = []
  for (let turn = 0; turn < TURNS + WARM_UP; turn++) {
    const sentAt = firstPieceSent(model)
    const shown = client.frame('a piece', (text) => text.startsWith('{"type":"delta"'))
    const end = client.turnEnd()
    client.say(`question ${turn}`)
    const [sent, came] = await Promise.all([sentAt, shown, end])
    if (turn >= WARM_UP) delays.push(came - sent)
  }
  await putAway(worker, client)
  return sampleOf(median(delays))
}

async function directFirstTokens(model: ModelBench): Promise<Sample> {
  const delays: number[] = []
  for (let turn = 0; turn < TURNS + WARM_UP; turn++) {
    const sentAt = firstPieceSent(model)
    const came = await askDirectly(model)
    if (turn >= WARM_UP) delays.push(came - (await sentAt))
  }
  return sampleOf(median(delays))
}

const WORDS = 'The answer is a text of a few words.'

/** The model answers the next question with a text; settles with the instant at which it does. */
function firstPieceSent(model: ModelBench): Promise<number> {
  return new Promise((resolve) => {
    model.answer(({ at }) => {
      resolve(at)
      return { text: WORDS }
    })
  })
}

/** Asks as a program without an agent does; the instant at which the first words are there. */
async function askDirectly({ url }: ModelBench): Promise<number> {
  const body = JSON.stringify({
    model: 'scripted',
    stream: true,
    messages: [{ role: 'user', content: 'question' }],
    tools: [],
  })
  const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-scripted' }
  const response = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body })
  let at = Number.NaN
  let text = ''
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    if (Number.isNaN(at) && text.includes(WORDS.slice(0, 8))) at = performance.now()
  }
  return at
}

export async function agentStep(stage: Stage): Promise<Measurement[]> {
  const model = await startModel()
  const worker = await startAgentWorker(stage, model)
  return [
    {
      row: 'agent-step',
      what: 'a step of the agent on a model that takes no time: answer, tool, events, socket, p50',
      unit: 'ms',
      isErratic: true,
      ours: async () => {
        const client = await openAgent(worker)
        await stepGaps({ model, client, steps: WARM_UP })
        const sample = await stage.measured(worker, async () => {
          const gaps = await stepGaps({ model, client, steps: STEPS })
          return { value: median(gaps), requests: STEPS, clientCpu: null }
        })
        await putAway(worker, client)
        return sample
      },
      baseline: async () => {
        const times: number[] = []
        model.answer(({ at }) => {
          times.push(at)
          return { text: WORDS }
        })
        for (let i = 0; i < STEPS + WARM_UP; i++) await askDirectly(model)
        return sampleOf(median(gapsOf(times).slice(WARM_UP)))
      },
    },
  ]
}

type Run = { model: ModelBench; client: Awaited<ReturnType<typeof openAgent>>; steps: number }

/** The times from one question to the next of a turn with so many steps. */
export async function stepGaps({ model, client, steps }: Run): Promise<number[]> {
  const times: number[] = []
  model.answer(({ at }) => {
    times.push(at)
    if (times.length > steps) return { text: 'done' }
    const thought = `Thought ${times.length}: ${randomBytes(100).toString('hex')}`
    return { calls: [{ name: 'think', arguments: { thought } }] }
  })
  const end = client.turnEnd()
  client.say('begin')
  await end
  if (times.length !== steps + 1) throw new Error(`${steps} steps were to be made, it were ${times.length - 1}`)
  return gapsOf(times)
}

const gapsOf = (times: readonly number[]): number[] => times.slice(1).map((at, i) => at - (times[i] ?? at))

export async function firstCall(stage: Stage): Promise<Measurement[]> {
  const model = await startModel()
  const worker = await startAgentWorker(stage, model)
  return [
    {
      row: 'agent-first',
      what: 'POST of a new conversation with a message, until the model is asked, p50',
      unit: 'ms',
      isErratic: true,
      ours: () => untilAsked(model, (id) => begun(worker, id)),
      baseline: () => untilAsked(model, () => askDirectly(model)),
    },
  ]
}

async function untilAsked(model: ModelBench, begin: (id: string) => Promise<unknown>): Promise<Sample> {
  const delays: number[] = []
  for (let i = 0; i < CREATIONS; i++) {
    const asked = firstPieceSent(model)
    const startedAt = performance.now()
    const whole = begin(randomBytes(8).toString('hex'))
    delays.push((await asked) - startedAt)
    await whole
  }
  return sampleOf(median(delays))
}

/** Begins it, waits until it was answered, and puts it away. */
async function begun(worker: WorkerSide, id: string): Promise<void> {
  const path = `/api/conversations/${id}`
  await ask(worker, '/api/conversations', { conversation_id: id, initial_user_msg: 'begin' })
  for (let newest = ''; !newest.includes('awaiting_user_input'); ) {
    newest = await ask(worker, `${path}/events?reverse=true&limit=1`)
  }
  await ask(worker, `${path}/stop`, {})
}
