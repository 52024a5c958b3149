// Reads everything through the API that does not change with time, by call.

import { createHash } from 'node:crypto'
import { type Ask, successOf } from './ask.ts'

export type Answers = Record<string, unknown>

/** A longer text is replaced by a digest. */
const LONGEST = 20_000
/** Fields that depend on the time of the request. */
const OF_THE_MOMENT = new Set([
  'session_api_key',
  'next_run_at',
  'num_connections',
  'market_phase_summary',
  'generated_at',
])

export async function readAll(ask: Ask): Promise<Answers> {
  const all: Answers = {}
  const read = async (path: string) => {
    const { status, body } = await ask(`GET ${path}`)
    all[path] = { status, body: timeless(body) }
    return body
  }
  /** Made of what is stored by code that may word it anew: what counts is that it still can be made. */
  const make = async (path: string) => {
    const { status, type, body } = await ask(`GET ${path}`)
    all[path] = { status, type, isEmpty: String(body).length < 100 }
  }
  for (const path of OF_THE_OWNER) await read(path)
  await conversations(ask, read)
  await records(ask, read, make)
  await each(ask, '/api/v1/analysis/deliveries', 'deliveries', 'delivery_id', read)
  await each(ask, '/api/v1/analysis/channels', 'channels', 'channel_id', read)
  await each(ask, '/api/v1/analysis/schedules', 'schedules', 'schedule_id', read)
  await each(ask, '/api/v1/analysis/watchlists', 'watchlists', 'watchlist_id', read)
  return all
}

const OF_THE_OWNER = [
  '/api/settings',
  '/api/secrets',
  '/api/keys',
  '/api/audit',
  '/api/security/policy',
  '/api/security/settings',
  '/api/v1/analysis/deliveries',
  '/api/v1/analysis/channels',
  '/api/v1/analysis/schedules',
  '/api/v1/analysis/schedule-runs',
  '/api/v1/analysis/watchlists',
  '/api/v1/stocks/watchlist',
  '/api/v1/history/stocks',
]

type Read = (path: string) => Promise<unknown>

async function conversations(ask: Ask, read: Read): Promise<void> {
  const { results } = (await read('/api/conversations?limit=100')) as { results: { conversation_id: string }[] }
  for (const id of [...results.map((one) => one.conversation_id), 'deleted']) {
    const path = `/api/conversations/${id}`
    await read(path)
    for (let from = 0, more = true; more; from += 100) {
      const page = (await read(`${path}/events?limit=100&start_id=${from}`)) as { has_more?: boolean }
      more = page.has_more === true
    }
    for (const part of ['trajectory', 'microagents', 'git/changes', 'security/settings', 'events?query=token']) {
      await read(`${path}/${part}`)
    }
    const answer = await read(`${path}/list-files`)
    for (const file of Array.isArray(answer) ? answer : []) {
      if (!file.endsWith('/')) await read(`${path}/select-file?file=${encodeURIComponent(file)}`)
    }
    const { body } = await ask(`GET ${path}/git/changes`)
    for (const change of Array.isArray(body) ? body : []) {
      await read(`${path}/git/diff?path=${encodeURIComponent(change.path)}`)
    }
  }
}

async function records(ask: Ask, read: Read, make: Read): Promise<void> {
  const { items } = await successOf<{ items: { id: number }[] }>(ask, 'GET /api/v1/history?limit=100')
  await read('/api/v1/history?limit=100')
  for (const { id } of items) {
    const path = `/api/v1/history/${id}`
    for (const part of ['', '/news', '/diagnostics', '/flow']) await read(`${path}${part}`)
    for (const part of ['/markdown', '/html', '/chart.svg']) await make(`${path}${part}`)
  }
}

async function each(ask: Ask, path: string, list: string, id: string, read: Read): Promise<void> {
  const found = await successOf<Record<string, Record<string, string>[]>>(ask, `GET ${path}`)
  for (const one of found[list] ?? []) await read(`${path}/${one[id]}`)
}

/** Removes fields that depend on the time. Idempotent. */
export function timeless(value: unknown): unknown {
  if (typeof value === 'string' && value.length > LONGEST) {
    return `${value.length} characters, ${createHash('sha256').update(value).digest('hex')}`
  }
  if (Array.isArray(value)) return value.map(timeless)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [
    name,
    OF_THE_MOMENT.has(name) ? 'of the moment' : timeless(member),
  ])
  return Object.fromEntries(members)
}
