// Agent and model of one conversation alone, chosen by the address that creates it.

import { expect, test } from 'vitest'
import { withModel } from '../../src/llm/choose.ts'
import { startAgent } from '../helpers/agent.ts'
import { client } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'

const bodyOf = (request: { body: unknown }) => request.body as { model?: string }

test('a conversation keeps the model that was chosen for it, and so does its fork; others go on with the settings', async () => {
  const first = await startAgent({ replies: [{ text: 'one' }, { text: 'two' }, { text: 'three' }], body: {} })
  const { owner, model } = first
  const said = (chat: typeof first, text: string) =>
    expect
      .poll(async () => (await chat.events()).some(({ message }) => message === text), { timeout: 60_000 })
      .toBe(true)
  const asked = async () => (await model.requests()).map((request) => bodyOf(request).model)

  const chosen = await startConversation({ initial_user_msg: 'go' }, owner, '?model=openai/other')
  await said({ ...chosen, model }, 'one')
  expect(await asked()).toEqual(['other'])
  await first.post('message', { content: 'go' })
  await said(first, 'two')
  expect(await asked()).toEqual(['other', 'scripted'])

  const last = (await chosen.events()).at(-1)?.id ?? -1
  const body = { event_id: last }
  const fork = await owner.json<{ conversation_id: string }>(`${chosen.path}/fork`, { method: 'POST', body })
  const path = `/api/conversations/${fork.conversation_id}`
  await owner.ask(`${path}/events`, { method: 'POST', body: { action: 'message', args: { content: 'again' } } })
  await expect.poll(asked, { timeout: 60_000 }).toEqual(['other', 'scripted', 'other'])
})

test('an agent chosen for a conversation runs there whatever the settings say; one that does not exist is refused', async () => {
  const { owner } = await startAgent({ replies: [] })
  const shell = await startConversation({ initial_user_msg: 'echo by the shell' }, owner, '?agent=ShellAgent')
  await expect
    .poll(async () => (await shell.events()).find(({ observation }) => observation === 'run')?.content, {
      timeout: 60_000,
    })
    .toBe('by the shell')
  for (const query of ['?agent=NoAgent', '?model=', '?model=a%0Ab']) {
    expect([query, (await owner.ask(`/api/conversations${query}`, { method: 'POST', body: {} })).status]).toEqual([
      query,
      422,
    ])
  }
  const keyless = await client()
  const refused = await keyless.ask('/api/conversations?model=openai/gpt-5', { method: 'POST', body: {} })
  expect([refused.status, await refused.json()]).toEqual([
    400,
    expect.objectContaining({ msg_id: 'STATUS$ERROR_LLM_AUTHENTICATION' }),
  ])
})

test('a key goes along to another model only where both are asked at the same place', () => {
  const own = { llmModel: 'openai/gpt-5', llmBaseUrl: null, llmApiKey: 'sk-openai' }
  expect(withModel(own, null)).toBe(own)
  expect(withModel(own, 'openai/gpt-5-mini')).toEqual({ ...own, llmModel: 'openai/gpt-5-mini' })
  expect(withModel(own, 'anthropic/claude-sonnet-4-5')).toMatchObject({ llmApiKey: null })
  expect(withModel(own, 'nobody/nothing')).toMatchObject({ llmApiKey: null })
  const atHome = { ...own, llmBaseUrl: 'http://127.0.0.1:1/v1' }
  expect(withModel(atHome, 'mine/other')).toEqual({ ...atHome, llmModel: 'mine/other' })
  expect(withModel({ ...own, llmModel: null }, 'openai/gpt-5')).toMatchObject({ llmApiKey: null })
})
