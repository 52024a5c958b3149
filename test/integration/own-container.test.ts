// A service that was deployed with containers: a conversation that must run on a runner starts its own. The container itself is
// a stand-in; its runner is one as well.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test } from 'vitest'
import { ContainerKey, type ContainerRecord, type Need } from '../../durable-objects/runner-container/container-key.ts'
import { conversation } from '../../src/bindings.ts'
import type { ApiKey } from '../../src/db/keys.ts'
import { client } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'
import { outcome, say } from '../helpers/lent-conversation.ts'
import { joinedRunner } from '../helpers/stand-in-runner.ts'

const URL_OF_SERVICE = 'https://bellwether.test'

async function withContainers(query: string, onNeed: (need: Need, url: string) => Promise<void>) {
  const owner = await client()
  const chat = await startConversation({}, owner, query)
  await chat.settled()
  const needs: Need[] = []
  const binding = {
    getByName: (name: string) => ({
      need: (need: Need, url: string) => {
        expect(JSON.parse(name)).toEqual([need.owner, need.id])
        needs.push(need)
        return onNeed(need, url)
      },
    }),
  }
  await runInDurableObject(conversation(env, owner.owner, chat.id), (instance) => {
    const { env: own } = instance as unknown as { env: object }
    Object.assign(own, { RUNNER_CONTAINER: binding, RUNNER_SERVICE_URL: URL_OF_SERVICE })
    // All objects of the runtime have this environment: what stays there, later tests would wait for.
    onTestFinished(() => {
      for (const name of ['RUNNER_CONTAINER', 'RUNNER_SERVICE_URL']) Reflect.deleteProperty(own, name)
    })
  })
  return { owner, chat, needs }
}

test('a command that needs a runner starts the container and waits for it, and each command keeps it awake', async () => {
  let urls: string[] = []
  const { owner, chat, needs } = await withContainers('?runtime=runner', async (_need, url) => {
    urls = [...urls, url]
  })
  await say(chat, 'true')
  await expect.poll(() => needs.length).toBe(1)
  await joinedRunner(owner.owner, ({ text }) => ({ output: `ran ${text}` }), { labels: ['container'] })
  expect((await outcome(chat)).content).toBe('ran true')
  await say(chat, 'again')
  expect((await outcome(chat, 2)).content).toBe('ran again')
  expect(needs).toEqual(Array(2).fill({ owner: owner.owner, id: chat.id }))
  expect(new Set(urls)).toEqual(new Set([URL_OF_SERVICE]))
})

test('a container that does not start is told as the missing runner that it is', async () => {
  const { chat } = await withContainers('?runtime=runner', () => Promise.reject(new Error('no room')))
  await say(chat, 'true')
  expect(await outcome(chat)).toMatchObject({
    observation: 'error',
    content: expect.stringContaining('No runner is connected'),
  })
})

test('a conversation that may use the edge, or wants labels, starts no container', async () => {
  for (const query of ['?runtime=auto', '?runtime=runner&labels=gpu']) {
    const { chat, needs } = await withContainers(query, () => Promise.resolve())
    await say(chat, 'true')
    await outcome(chat)
    expect([query, needs]).toEqual([query, []])
  }
})

/** Keys and the record of one container, of which it is told what was stored and revoked. */
function keysOfContainer({ insert = async () => undefined }: { insert?: (key: ApiKey) => Promise<void> } = {}) {
  const stored = new Map<string, ApiKey>()
  const told = { made: 0, revoked: [] as string[], record: null as ContainerRecord | null, started: [] as object[] }
  const book = {
    make: async () => ({ id: `k${++told.made}`, text: `secret-${told.made}`, secretHash: 'h' }),
    insert: async (key: ApiKey) => {
      await insert(key)
      stored.set(key.id, key)
    },
    isStored: async (id: string) => stored.has(id),
    revoke: async (owner: string, id: string) => void told.revoked.push(`${owner} ${id}`),
  }
  const store = {
    get: () => told.record,
    set: (next: ContainerRecord | null) => {
      told.record = next
    },
  }
  const key = new ContainerKey(book, store)
  const start = async (environment: object) => void told.started.push(environment)
  return { key, stored, told, start: { serviceUrl: URL_OF_SERVICE, start } }
}

test('each start has a key of its own, which ends with it', async () => {
  const { key, stored, told, start } = keysOfContainer()
  const need = { owner: 'ann', id: 'c1' }
  await key.startWith(need, start)
  expect(told.started).toEqual([
    {
      BELLWETHER_RUNNER_URL: URL_OF_SERVICE,
      BELLWETHER_RUNNER_KEY: 'secret-1',
      BELLWETHER_RUNNER_NAME: 'container-c1',
      BELLWETHER_RUNNER_LABELS: 'container',
      BELLWETHER_RUNNER_CAPACITY: '1',
      BELLWETHER_RUNNER_ONCE: '1',
    },
  ])
  expect(stored.get('k1')).toMatchObject({ owner: 'ann', scopes: ['runner'], revokedAt: null })
  expect(Date.parse(stored.get('k1')?.expiresAt ?? '') - Date.now()).toBeLessThanOrEqual(24 * 3600_000)
  // Its end was never told.
  await key.startWith(need, start)
  expect(told.revoked).toEqual(['ann k1'])
  expect(JSON.stringify(told.record)).not.toContain('secret')
  await key.end()
  await key.end()
  expect(told.revoked).toEqual(['ann k1', 'ann k2'])
  expect(told.record).toBe(null)
})

test('a key that cannot be stored starts nothing, and the next try goes on', async () => {
  let isAway = true
  const insert = () => (isAway ? Promise.reject(new Error('D1 is away')) : Promise.resolve())
  const { key, told, start } = keysOfContainer({ insert })
  await expect(key.startWith({ owner: 'a', id: 'c' }, start)).rejects.toThrow('D1 is away')
  expect(told.started).toEqual([])
  isAway = false
  await key.startWith({ owner: 'a', id: 'c' }, start)
  expect([told.started.length, told.record?.keyId]).toEqual([1, 'k2'])
})

test('a container that did not start leaves no key in force and no record of its owner', async () => {
  const { key, told } = keysOfContainer()
  const start = { serviceUrl: URL_OF_SERVICE, start: () => Promise.reject(new Error('no room')) }
  await expect(key.startWith({ owner: 'ann', id: 'c1' }, start)).rejects.toThrow('no room')
  expect([told.revoked, told.record]).toEqual([['ann k1'], null])
})

test('a container that outlives its owner leaves no record, and tells the emptied object of the owner nothing', async () => {
  const { key, stored, told, start } = keysOfContainer()
  await key.startWith({ owner: 'ann', id: 'c1' }, start)
  // The keys went with the owner.
  stored.clear()
  await key.end()
  expect([told.revoked, told.record]).toEqual([[], null])
})
