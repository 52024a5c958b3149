// Where the commands of a conversation run: by the request that starts it, by the settings, and by what is connected.

import { expect, test } from 'vitest'
import { client } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'
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
