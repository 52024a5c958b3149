// Clients that break off harm nobody but themselves, and whatever a client sends is answered as the document says. `PROOF=1` breaks
// 10,000 requests and sends 100,000 instead of a sample; `FUZZ_REQUESTS` and `FUZZ_SEED` choose others.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, inject, test } from 'vitest'
import { startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'
import { breakOff, randomFrom, requestOf, socketOf, templatesOf } from '../support/broken-requests.ts'
import { type Document, Fuzz } from '../support/fuzz/fuzz.ts'
import { fuzzSockets } from '../support/fuzz/sockets.ts'
import { wantedNumber } from '../support/wanted-number.ts'

const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))
const UNLIMITED = Object.fromEntries(
  ['READS', 'WRITES', 'STARTS', 'UPLOADS', 'ANALYSES'].map((name) => [`RATE_LIMIT_${name}`, 'off']),
)
const SEED = wantedNumber('BROKEN_SEED', 20_261_122, 0)
const REQUESTS = process.env.PROOF === '1' ? 10_000 : 1_200
const FUZZ_SEED = wantedNumber('FUZZ_SEED', 20_261_127, 0)
const FUZZED = wantedNumber('FUZZ_REQUESTS', process.env.PROOF === '1' ? 100_000 : 20_000)
/** Longer is a hang; beside other tests on a slow machine only what never ends is one. */
const PATIENCE_MS = process.env.PROOF === '1' ? 5_000 : 60_000
const AT_ONCE = 16
const SOCKET_SHARE = 0.2
const LEAST_ASKED = 10

const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-broken-'))
const service = await startService({ stateDir, env: { ...CLEAN, ...UNLIMITED, MARKET_DATA: 'sample' } })
afterAll(async () => {
  await service.stop()
  rmSync(stateDir, { recursive: true })
})

test(`${REQUESTS} requests broken off at random bytes on every route and socket restart nothing and fail no neighbour`, async () => {
  const [neighbour, victim] = await Promise.all([create(service.url), create(service.url)])
  const templates = await templatesOf(service.url)
  expect(templates.length).toBeGreaterThan(60)

  const random = randomFrom(SEED)
  const watch = watchNeighbour(`${service.url}/api/conversations/${neighbour}`)
  let broken = 0
  const breaker = async () => {
    // On a slow machine as long as the neighbour needs to notice something.
    while (broken < REQUESTS || watch.asked <= LEAST_ASKED) {
      broken += 1
      const template = templates[broken % templates.length]
      if (template === undefined) throw new Error('there are no operations')
      const bytes = random() < SOCKET_SHARE ? socketOf(victim, random) : requestOf(template, victim, random)
      await breakOff(service.port, bytes, random)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, breaker))
  expect(await watch.stop(), `seed ${SEED}`).toEqual([])
  expect(service.restarts, service.log).toBe(0)
}, 900_000)

test(`${FUZZED} requests and sequences made from the document, right and wrong, are answered in time, as it declares, and as it says`, async () => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document
  const random = randomFrom(FUZZ_SEED)
  const fuzz = new Fuzz(service.url, document, { random, key: null, patienceMs: PATIENCE_MS })
  const { values, told } = fuzz
  for (let at = 0; at < 4; at++) values.learn({ conversation_id: await create(service.url) })
  await fuzz.run(FUZZED, AT_ONCE)
  const heard = await fuzzSockets(
    { url: service.url, key: null, values, random, patienceMs: PATIENCE_MS },
    FUZZED / 100,
    AT_ONCE / 2,
  )
  const counts = `${told.sent.size} calls, ${[...told.statuses]
    .sort()
    .map(([status, n]) => `${status}: ${n}`)
    .join(', ')}`
  if (inject('isProof')) console.info(counts)
  expect([...told.faults, ...heard.faults].slice(0, 20), `seed ${FUZZ_SEED}; ${counts}`).toEqual([])
  // Where all is refused nothing is tried.
  const right = (told.statuses.get(200) ?? 0) + (told.statuses.get(201) ?? 0)
  expect(right, counts).toBeGreaterThan(FUZZED / 5)
  expect(heard.answered).toBeGreaterThan(0)
  expect(service.restarts, service.log).toBe(0)
}, 3_600_000)

async function create(url: string): Promise<string> {
  const reply = await fetch(`${url}/api/conversations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ initial_user_msg: 'echo hello' }),
  })
  return ((await reply.json()) as { conversation_id: string }).conversation_id
}

/** Somebody who reads a conversation and writes to it all the while. */
function watchNeighbour(url: string) {
  const failures: string[] = []
  let asked = 0
  let isOver = false
  const ask = async (what: string, init?: RequestInit) => {
    asked += 1
    const status = await fetch(`${url}${what}`, { ...init, signal: AbortSignal.timeout(60_000) }).then(
      async (reply) => {
        await reply.arrayBuffer()
        return reply.status
      },
      (error: unknown) => String(error),
    )
    if (status !== 200) failures.push(`${what}: ${status}`)
  }
  const message = JSON.stringify({ action: 'message', args: { content: 'echo again' } })
  const running = (async () => {
    while (!isOver) {
      await ask('')
      await ask('/events?limit=5')
      await ask('/events', { method: 'POST', headers: { 'content-type': 'application/json' }, body: message })
      await sleep(50)
    }
  })()
  return {
    get asked() {
      return asked
    },
    /** What failed. */
    async stop() {
      isOver = true
      await running
      return failures
    },
  }
}
