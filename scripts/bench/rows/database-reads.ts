// What the routes that read D1 add to their query: the same Worker answers with the bare rows on another path.

import { ask } from '../conversation.ts'
import { rawRequest } from '../requests.ts'
import type { Measurement } from '../rounds.ts'
import type { Stage } from '../stage.ts'
import { latency } from './http.ts'

const CONVERSATIONS = 10_000
const SECRETS = 20
const SETTINGS = {
  language: 'en',
  llm_model: 'anthropic/claude',
  llm_api_key: 'sk-bench',
  search_api_key: 'search-bench',
}

/** The list of an owner with ten thousand conversations. */
export async function conversationList(stage: Stage): Promise<Measurement[]> {
  const worker = await stage.startWorker({ isSeeded: true })
  await ask(worker, `/bench/conversations?count=${CONVERSATIONS}`)
  return [
    measurement({ ...stage, worker }, { row: 'list', what: `list of ${CONVERSATIONS}`, path: '/api/conversations' }),
  ]
}

export async function settings(stage: Stage): Promise<Measurement[]> {
  const worker = await stage.startWorker({ isSeeded: true })
  await ask(worker, '/api/settings', SETTINGS)
  return [measurement({ ...stage, worker }, { row: 'settings', what: 'settings', path: '/api/settings' })]
}

export async function secrets(stage: Stage): Promise<Measurement[]> {
  const worker = await stage.startWorker({ isSeeded: true })
  for (let i = 0; i < SECRETS; i++) await ask(worker, '/api/secrets', { name: `SECRET_${i}`, value: `value ${i}` })
  return [measurement({ ...stage, worker }, { row: 'secrets', what: `${SECRETS} secrets`, path: '/api/secrets' })]
}

/** At least 0.8 of the bare query's speed is at most 1.25 of its time. */
function measurement(stage: Stage, { row, what, path }: { row: string; what: string; path: string }): Measurement {
  const { worker } = stage
  const get = (from: string, key: string | null) => ({
    side: worker,
    request: rawRequest(worker, { method: 'GET', path: from }, key),
  })
  const routes = { row, what: `GET of ${what}`, ours: get(path, worker.key), baseline: get(`/bench/${row}`, null) }
  return latency(stage, routes, { ratioAtMost: 1.25 })
}
