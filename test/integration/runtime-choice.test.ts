// Where the commands of a conversation run: by the request that starts it, by the settings, and by what is connected.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { storeTokens } from '../../src/db/provider-tokens.ts'
import { client } from '../helpers/app.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'
import { outcome, say } from '../helpers/lent-conversation.ts'
import { joinedRunner } from '../helpers/stand-in-runner.ts'

const silent = () => null

test('without a runner the interpreter runs it; a conversation that wants one says what to do', async () => {
  const chat = await startConversation()
  await say(chat, 'echo at the edge')
  expect((await outcome(chat)).content).toBe('at the edge')
  const wanting = await startConversation({}, undefined, '?runtime=runner')
  await say(wanting, 'echo at the edge')
  expect((await outcome(wanting)).content).toContain('npm run runner')
  const choosy = await client()
  await joinedRunner(choosy.owner, silent)
  const elsewhere = await startConversation({}, choosy, '?runtime=runner&labels=linux,gpu')
  await say(elsewhere, 'true')
  expect((await outcome(elsewhere)).content).toContain('No connected runner has the labels linux, gpu')
})

test('what the request leaves open is as the settings say', async () => {
  const owner = await client()
  const runner = await joinedRunner(owner.owner, () => ({ output: 'on the runner' }))
  const save = (body: object) => owner.ask('/api/settings', { method: 'POST', body })
  expect((await save({ runtime: 'edge', agent: 'ShellAgent' })).status).toBe(200)
  const quiet = await startConversation({}, owner)
  await say(quiet, 'echo at the edge')
  expect((await outcome(quiet)).content).toBe('at the edge')
  expect(runner.started).toEqual([])
  const asked = await startConversation({}, owner, '?runtime=auto')
  await say(asked, 'where')
  expect((await outcome(asked)).content).toBe('on the runner')
  await save({ runtime: 'runner', runner_labels: ['gpu'] })
  const labelled = await startConversation({}, owner)
  await say(labelled, 'where')
  expect((await outcome(labelled)).content).toContain('gpu')
  for (const wrong of [{ runtime: 'moon' }, { runner_labels: ['a b'] }, { runner_labels: 'gpu' }]) {
    expect([wrong, (await save(wrong)).status]).toEqual([wrong, 422])
  }
})

const placesTold = async (chat: Chat) =>
  (await chat.events()).flatMap(({ action, source, args }) =>
    action === 'think' && source === 'environment' ? [String(args?.thought)] : [],
  )

test('the first command on a runner is told with its place, so is each other place, and nothing is told twice', async () => {
  const owner = await client()
  const answer = () => ({ output: 'ok' })
  const first = await joinedRunner(owner.owner, answer, { name: 'first', capacity: 1 })
  const chat = await startConversation({}, owner)
  const io = await chat.connectIo(-1)
  await say(chat, 'one')
  await outcome(chat, 1)
  await say(chat, 'two')
  await outcome(chat, 2)
  expect(await placesTold(chat)).toEqual(['Commands run on the runner first (linux x64, without a sandbox).'])
  await io.until((socket) => socket.events().some(({ action, source }) => action === 'think' && source === 'agent'))
  io.close()
  expect(await chat.owner.json(`${chat.path}/config`)).toMatchObject({ runtime_id: first.id })
  // Another conversation finds the runner busy.
  const other = await startConversation({}, owner)
  await say(other, 'echo here')
  await outcome(other, 1)
  expect(await placesTold(other)).toEqual([
    'Commands run in the interpreter at the edge, which has no processes: all connected runners are busy.',
  ])
  expect(await owner.json(`${other.path}/config`)).toMatchObject({ runtime_id: null })
})

test('what stayed on a runner is named when the conversation has another place', async () => {
  const owner = await client()
  const first = await joinedRunner(owner.owner, () => ({ output: 'ok', left: ['shop/node_modules', 'build'] }), {
    name: 'first',
  })
  const chat = await startConversation({}, owner)
  await say(chat, 'one')
  await outcome(chat, 1)
  await joinedRunner(owner.owner, () => ({ output: 'ok' }), { name: 'second' })
  await owner.ask(`/api/runners/${first.id}`, { method: 'DELETE' })
  await expect.poll(() => first.line?.closed).not.toBeNull()
  await say(chat, 'two')
  await outcome(chat, 2)
  expect((await placesTold(chat)).at(-1)).toBe(
    'Commands run on the runner second (linux x64, without a sandbox). The session begins anew there: variables, functions and jobs of the one before are gone. Not there, because it stayed on the runner before: shop/node_modules, build.',
  )
})

test('an image of the settings prefers a runner with its label, and is needed where a runner is', async () => {
  const owner = await client()
  const image =
    'registry.example:5000/team/python-nodejs:3.12@sha256:0123456789abcdef0123456789abcdef0123456789abcdef01234567'
  const settings = { agent: 'ShellAgent', sandbox_base_container_image: image, runner_unsynced: ['dist'] }
  expect((await owner.ask('/api/settings', { method: 'POST', body: settings })).status).toBe(200)
  const plain = await joinedRunner(owner.owner, () => ({ output: 'plain' }), { name: 'plain', capacity: 50 })
  const fallen = await startConversation({}, owner)
  await say(fallen, 'where')
  expect((await outcome(fallen)).content).toBe('plain')
  expect((await placesTold(fallen))[0]).toContain(`No connected runner that is free has the label image:${image}`)
  expect(plain.welcome?.exclude).toEqual(['dist', '.bellwether-cloning'])
  const needing = await startConversation({}, owner, '?runtime=runner')
  await say(needing, 'where')
  expect((await outcome(needing)).content).toContain(`No connected runner has the labels image:${image}`)
  await joinedRunner(owner.owner, () => ({ output: 'with the image' }), { name: 'fitting', labels: [`image:${image}`] })
  for (const query of ['', '?runtime=runner']) {
    const chat = await startConversation({}, owner, query)
    await say(chat, 'where')
    expect((await outcome(chat)).content).toBe('with the image')
  }
  for (const wrong of ['a/b', '..', '.git', '', 7]) {
    const save = await owner.ask('/api/settings', { method: 'POST', body: { runner_unsynced: [wrong] } })
    expect([wrong, save.status]).toEqual([wrong, 422])
  }
})

test('a runner may reach the git hosts of its owner’s settings and of the repository, and no other', async () => {
  const owner = await client()
  await storeTokens(env, {
    owner: owner.owner,
    actor: 'test',
    changes: [{ provider: 'gitlab', token: 'glpat-0123456789', host: 'git.example.com:8443', userId: null }],
  })
  const runner = await joinedRunner(owner.owner, () => ({ output: 'ok' }))
  const chat = await startConversation({}, owner)
  await say(chat, 'true')
  await outcome(chat)
  const asked = async (host: string, port: number) => (await runner.line?.ask('host/ask', { host, port }))?.result
  expect(await asked('git.example.com', 8443)).toEqual({ isAllowed: true })
  for (const [host, port] of [
    ['git.example.com', 443],
    ['github.com', 443],
    ['169.254.169.254', 80],
  ] as const)
    expect([host, await asked(host, port)]).toEqual([host, { isAllowed: false }])
})
