// The end of a runner's key: whatever the runner does, it is out, and nobody waits for it.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { owner as ownerOf } from '../../src/bindings.ts'
import { client, request } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'
import { outcome, say } from '../helpers/lent-conversation.ts'
import { type Behaviour, joinedRunner, StandInRunner } from '../helpers/stand-in-runner.ts'

const silent: Behaviour = () => null
const KEY_ENDED =
  /^The key of the runner stand-in ended while this ran.* was not run again; the files are as they were/s

/** A conversation in a command on a runner with a key of its own. */
async function begun(query: string, expires_at?: string) {
  const owner = await client()
  const { key, keyId } = await client({ owner: owner.owner, scopes: ['runner'], ...(expires_at && { expires_at }) })
  const runner = new StandInRunner(key, silent)
  await runner.connect()
  const chat = await startConversation({}, owner, query)
  await say(chat, 'long')
  await expect.poll(() => runner.started.length).toBe(1)
  runner.output(runner.started[0]?.key ?? '', 'so far\n')
  await expect.poll(() => runner.acks.length).toBe(1)
  return { owner, key, keyId, runner, chat }
}

async function revoke(keyId: string): Promise<void> {
  const headers = { 'x-session-api-key': 'root-key-for-tests-0123456789abcdef' }
  expect((await request(`/api/keys/${keyId}`, { method: 'DELETE', headers })).status).toBe(200)
}

test('a command on a runner whose key is revoked is told at once with what is known, and so is the next one', async () => {
  const { keyId, runner, chat } = await begun('?runtime=runner')
  await revoke(keyId)
  const lost = (await outcome(chat)).content
  expect(lost).toMatch(KEY_ENDED)
  expect(lost).toMatch(/Its output until then:\nso far\n$/)
  const from = Date.now()
  await say(chat, 'next')
  expect((await outcome(chat, 2)).content).toMatch(/^No runner is connected/)
  // Runners that may come back are waited for, this one is not.
  expect(Date.now() - from).toBeLessThan(10_000)
  expect(runner.started.length).toBe(1)
  await expect(runner.reconnect()).rejects.toThrow('401')
})

test('under auto the next command goes on elsewhere', async () => {
  const { keyId, chat } = await begun('')
  await revoke(keyId)
  expect((await outcome(chat)).content).toMatch(KEY_ENDED)
  await say(chat, 'echo at the edge')
  expect((await outcome(chat, 2)).content).toBe('at the edge')
})

test('a runner that has left the pool before its key was revoked loses its conversations all the same', async () => {
  const { keyId, owner, runner, chat } = await begun('?runtime=runner')
  runner.pool?.close()
  const states = async () =>
    (await owner.json<{ runners: { state: string }[] }>('/api/runners')).runners.map(({ state }) => state)
  await expect.poll(states).toEqual(['gone'])
  await revoke(keyId)
  await expect.poll(() => runner.line?.closed?.code).toBe(1008)
  expect((await outcome(chat)).content).toMatch(KEY_ENDED)
})

test('a runner whose key was revoked tells nothing late to a conversation that another one has', async () => {
  const { keyId, owner, runner, chat } = await begun('?runtime=runner')
  await joinedRunner(owner.owner, ({ text }) => ({ output: text }), { name: 'other' })
  runner.isWilling = false
  runner.pool?.close()
  runner.line?.close()
  expect((await outcome(chat)).content).toMatch(/^The runner stand-in was lost while this ran/)
  await say(chat, 'next')
  expect((await outcome(chat, 2)).content).toBe('next')
  await revoke(keyId)
  await expect(runner.reconnect()).rejects.toThrow('401')
})

test('a key that another isolate still thinks well of opens no pool', async () => {
  const { keyId, owner } = await begun('')
  await revoke(keyId)
  const answer = await ownerOf(env, owner.owner).fetch(`http://owner/runner?key=${keyId}`, {
    headers: { upgrade: 'websocket' },
  })
  expect(answer.status).toBe(401)
})

test('a key that expires in a command ends its runner then', async () => {
  const { runner, chat } = await begun('?runtime=runner', new Date(Date.now() + 10_000).toISOString())
  await expect.poll(() => runner.pool?.closed).toMatchObject({ code: 1008, reason: 'the key has expired' })
  expect((await outcome(chat)).content).toMatch(KEY_ENDED)
  await expect.poll(() => runner.line?.closed?.code).toBe(1008)
})
