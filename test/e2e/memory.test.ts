// What a request needed is given back: after some of a kind, and once all garbage is collected, the runtime is as large as before.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../scripts/start/port.ts'
import { startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'
import { type Heap, Inspector } from '../support/inspector.ts'

const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))
const UNLIMITED = Object.fromEntries(
  ['READS', 'WRITES', 'STARTS', 'UPLOADS', 'ANALYSES'].map((name) => [`RATE_LIMIT_${name}`, 'off']),
)
const AT_ONCE = 8
/** Work goes on after its answer, such as a turn. */
const LOOK_EVERY_MS = 500
const PATIENCE_MS = 40_000
/** Bytes that come and go by themselves. */
const NOISE = 20_000
/** Bytes a request. One that stays, with its headers, is 300 of the runtime's and 1,400 of script. */
const MOST_OF_RUNTIME = 60
const MOST_OF_SCRIPT = 700

const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-memory-'))
const inspectorPort = await freePort()
const service = await startService({
  ...{ stateDir, inspectorPort },
  env: { ...CLEAN, ...UNLIMITED, MARKET_DATA: 'sample' },
})
const inspector = await Inspector.open(inspectorPort, service.url)
afterAll(async () => {
  inspector.close()
  await service.stop()
  rmSync(stateDir, { recursive: true })
})

const ONE = '/api/conversations/one'

type Work = (count: number) => Promise<number>

const ask = async (path: string, init: RequestInit = {}): Promise<number> => {
  const answer = await fetch(`${service.url}${path}`, init)
  await answer.arrayBuffer()
  return answer.status
}
const get = (path: string) => () => ask(path)
const post = (path: string, body: unknown): Promise<number> =>
  ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

const message = (content: string) => ({ action: 'message', args: { content } })

function upload(count: number): Promise<number> {
  const form = new FormData()
  form.append('files', new Blob(['x'.repeat(20_000), String(count)]), 'a.txt')
  return ask(`${ONE}/upload-files`, { method: 'POST', body: form })
}

/** Opens a socket, waits for its first frame and leaves. */
function socket(): Promise<number> {
  return new Promise((resolve) => {
    const opened = new WebSocket(`${service.url.replace('http', 'ws')}${ONE}/ws?after=-1`)
    opened.addEventListener('message', () => opened.close(), { once: true })
    opened.addEventListener('close', ({ code }) => resolve(code))
  })
}

async function leave(): Promise<number> {
  const gone = new AbortController()
  const asked = fetch(`${service.url}${ONE}/events?limit=100`, { signal: gone.signal })
  setTimeout(() => gone.abort(), 1)
  return asked.then(
    (answer) =>
      answer.arrayBuffer().then(
        () => 0,
        () => 0,
      ),
    () => 0,
  )
}

const KINDS: readonly { what: string; count: number; expected: number; work: Work; script?: number }[] = [
  { what: 'a list of options', count: 400, expected: 200, work: get('/api/options/agents') },
  { what: 'a path that is not there', count: 400, expected: 404, work: (n) => ask(`/api/none/${n}`) },
  { what: 'a body that is refused', count: 300, expected: 400, work: (n) => post('/api/v1/analysis/analyze', { n }) },
  { what: 'a conversation', count: 300, expected: 200, work: get(ONE) },
  { what: 'the list of conversations', count: 300, expected: 200, work: get('/api/conversations') },
  { what: 'a page of events', count: 300, expected: 200, work: get(`${ONE}/events?limit=20`) },
  // The object keeps its newest events as text.
  {
    ...{ what: 'a message and its turn', count: 120, expected: 200, script: 6_000 },
    work: (n) => post(`${ONE}/events?wait=20`, message(`true ${n}`)),
  },
  { what: 'an upload', count: 120, expected: 200, work: upload },
  { what: 'a file', count: 300, expected: 200, work: get(`${ONE}/select-file?file=a.txt`) },
  { what: 'the workspace as a ZIP', count: 60, expected: 200, script: 4_000, work: get(`${ONE}/zip-directory`) },
  { what: 'a socket', count: 120, expected: 1000, work: socket },
  { what: 'the history', count: 300, expected: 200, work: get('/api/v1/history') },
  { what: 'who leaves before the answer', count: 300, expected: 0, work: leave },
  {
    ...{ what: 'an analysis', count: 40, expected: 200, script: 8_000 },
    work: () => post('/api/v1/analysis/analyze', { stock_code: '600519', report_language: 'en' }),
  },
]

async function some(kind: { count: number; expected: number; work: Work }, share: number): Promise<void> {
  const wrong = new Set<number>()
  let done = 0
  const one = async () => {
    while (done < kind.count * share) {
      done += 1
      const status = await kind.work(done)
      if (status !== kind.expected) wrong.add(status)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  expect([...wrong]).toEqual([])
}

/** The heap when nothing more goes. */
async function settled(): Promise<Heap> {
  let last = await inspector.heap()
  for (;;) {
    await sleep(LOOK_EVERY_MS)
    const now = await inspector.heap()
    if (now.runtime > last.runtime - NOISE && now.script > last.script - NOISE) return now
    last = now
  }
}

beforeAll(async () => {
  expect(await post('/api/conversations', { conversation_id: 'one' })).toBe(200)
})

/** What is more than it may be, in bytes a request, of what some requests left behind. */
async function leftBy(kind: (typeof KINDS)[number]): Promise<number[]> {
  const before = await settled()
  await some(kind, 1)
  const most = [MOST_OF_RUNTIME, kind.script ?? MOST_OF_SCRIPT]
  const tooMuch = async () => {
    const { runtime, script } = await inspector.heap()
    const left = [runtime - before.runtime, script - before.script].map((bytes) => Math.round(bytes / kind.count))
    return left.filter((bytes, i) => bytes > (most[i] ?? 0))
  }
  const until = Date.now() + PATIENCE_MS
  for (;;) {
    const left = await tooMuch()
    if (left.length === 0 || Date.now() > until) return left
    await sleep(LOOK_EVERY_MS)
  }
}

for (const kind of KINDS) {
  test(`${kind.what} leaves nothing behind`, async () => {
    // Code is compiled, pools are filled.
    await some(kind, 0.3)
    let left = await leftBy(kind)
    // What comes once, such as code that work in the background loads, does not come again; a leak does.
    for (let again = 0; again < 2 && left.length > 0; again++) left = await leftBy(kind)
    expect(left).toEqual([])
  })
}
