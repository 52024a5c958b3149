// Clients that break off harm nobody but themselves. `PROOF=1` breaks 10,000 requests instead of a sample.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'
import { breakOff, randomFrom, requestOf, socketOf, templatesOf } from '../support/broken-requests.ts'

const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))
const UNLIMITED = Object.fromEntries(
  ['READS', 'WRITES', 'STARTS', 'UPLOADS', 'ANALYSES'].map((name) => [`RATE_LIMIT_${name}`, 'off']),
)
const SEED = Number(process.env.BROKEN_SEED ?? 20_261_122)
const REQUESTS = process.env.PROOF === '1' ? 10_000 : 1_200
const AT_ONCE = 16
const SOCKET_SHARE = 0.2

test(`${REQUESTS} requests broken off at random bytes on every route and socket restart nothing and fail no neighbour`, async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-broken-'))
  const service = await startService({ stateDir, env: { ...CLEAN, ...UNLIMITED, MARKET_DATA: 'sample' } })
  onTestFinished(() => service.stop())
  const [neighbour, victim] = await Promise.all([create(service.url), create(service.url)])
  const templates = await templatesOf(service.url)
  expect(templates.length).toBeGreaterThan(60)

  const random = randomFrom(SEED)
  let left = REQUESTS
  const breaker = async () => {
    while (left > 0) {
      left -= 1
      const template = templates[left % templates.length]
      if (template === undefined) throw new Error('there are no operations')
      const bytes = random() < SOCKET_SHARE ? socketOf(victim, random) : requestOf(template, victim, random)
      await breakOff(service.port, bytes, random)
    }
  }
  const watch = watchNeighbour(`${service.url}/api/conversations/${neighbour}`)
  await Promise.all(Array.from({ length: AT_ONCE }, breaker))
  const { asked, failures } = await watch.stop()
  expect(failures, `seed ${SEED}`).toEqual([])
  expect(asked).toBeGreaterThan(10)
  expect(service.restarts, service.log).toBe(0)
  await service.stop()
  rmSync(stateDir, { recursive: true })
}, 900_000)

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
    async stop() {
      isOver = true
      await running
      return { asked, failures }
    },
  }
}
