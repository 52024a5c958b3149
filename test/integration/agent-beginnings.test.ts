import { expect, test } from 'vitest'
import { bash, inState, lastPrompt, startAgent, untilSaid } from '../helpers/agent.ts'
import { client } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'
import { hostRepository, repositoryUrl } from '../helpers/git-host.ts'

const create = async (body: Record<string, unknown>) => {
  const by = await client()
  return by.ask('/api/conversations', { method: 'POST', body })
}

test('a recording is played without a model: its actions really run, and the conversation goes on afterwards', async () => {
  const recording = [
    { source: 'agent', action: 'system', args: { content: 'old' } },
    { source: 'user', action: 'message', args: { content: 'make a file' } },
    { source: 'environment', observation: 'agent_state_changed', extras: { agent_state: 'running' } },
    { source: 'agent', action: 'run', args: { command: 'echo replayed > f; cat f', thought: 'first' } },
    { source: 'agent', observation: 'run', content: 'what it was then', extras: {} },
    { source: 'agent', action: 'edit', args: { command: 'create', path: '/workspace/g', file_text: 'made\n' } },
    { source: 'agent', action: 'message', args: { content: 'All done.' } },
  ]
  const chat = await startAgent({
    replies: [{ text: 'I remember.' }],
    body: { replay_json: JSON.stringify(recording) },
  })
  await untilSaid(chat, 'All done.')
  await inState(chat, 'awaiting_user_input')
  const events = await chat.events()
  expect(events.find(({ observation }) => observation === 'run')?.content).toBe('replayed')
  expect(events.find(({ action }) => action === 'run')?.args?.thought).toBe('first')
  expect(await (await chat.owner.ask(`${chat.path}/select-file?file=g`)).json()).toEqual({ code: 'made\n' })
  expect(await chat.model.requests()).toHaveLength(0)
  await chat.post('message', { content: 'what did you do?' })
  await untilSaid(chat, 'I remember.')
  expect(JSON.stringify(await lastPrompt(chat))).toMatch(/make a file.*replayed.*All done/s)
})

test('a recording is played where no model is set, and what is said after it runs as a command', async () => {
  const recording = [
    { source: 'user', action: 'message', args: { content: 'make a file' } },
    { source: 'agent', action: 'edit', args: { command: 'create', path: '/workspace/g', file_text: 'made\n' } },
    { source: 'agent', action: 'run', args: { command: 'cat g' } },
    { source: 'agent', action: 'message', args: { content: 'All done.' } },
  ]
  const chat = await startConversation({ replay_json: JSON.stringify(recording) })
  await untilSaid(chat, 'All done.')
  await inState(chat, 'awaiting_user_input')
  const events = await chat.events()
  expect(events.filter(({ observation }) => observation === 'run').map(({ content }) => content)).toEqual(['made'])
  await chat.post('message', { content: 'echo as a command' })
  await expect
    .poll(async () => (await chat.events()).some(({ message }) => message?.includes('is a shell from here on')))
    .toBe(true)
})

test.for([
  ['the shell is the agent', { agent: 'ShellAgent' }],
  ['the model has no key', { llm_model: 'anthropic/claude-sonnet-4-5' }],
] as const)('a recording is played where %s by the settings', async ([, settings]) => {
  const owner = await client()
  await owner.ask('/api/settings', { method: 'POST', body: settings })
  const recording = [
    { source: 'user', action: 'message', args: { content: 'make a file' } },
    { source: 'agent', action: 'run', args: { command: 'echo made' } },
    { source: 'agent', action: 'message', args: { content: 'All done.' } },
  ]
  const chat = await startConversation({ replay_json: JSON.stringify(recording) }, owner)
  await untilSaid(chat, 'All done.')
  const events = await chat.events()
  expect(events.filter(({ observation }) => observation === 'run').map(({ content }) => content)).toEqual(['made'])
})

test('what cannot be played, or cannot start, is refused before anything is made', async () => {
  const refused = [
    { replay_json: 'not json' },
    { replay_json: '[{"action":"run","args":{"command":"ls"}}]' },
    { replay_json: '[{"action":"message","args":{"content":"a"}},{"action":"reject","args":{}}]' },
    { replay_json: '[]', initial_user_msg: 'and this' },
    { suggested_task: { git_provider: 'github', task_type: 'OPEN_PR', repo: 'a/b', issue_number: 1, title: 't' } },
  ]
  for (const body of refused) expect((await create(body)).status, JSON.stringify(body)).toBe(422)
})

test('a suggested task becomes the first message, with the number, the repository and the token to use', async () => {
  const task = {
    git_provider: 'gitlab',
    task_type: 'MERGE_CONFLICTS',
    repo: 'acme/shop',
    issue_number: 7,
    title: 'Fix\nit',
  }
  const chat = await startConversation({ suggested_task: task, initial_user_msg: 'is overwritten' })
  const first = (await chat.events()).find(({ action, source }) => action === 'message' && source === 'user')
  expect(first?.message).toMatch(/merge request #7 \("Fix it"\).*acme\/shop.*GitLab.*GITLAB_TOKEN/s)
  const info = await chat.owner.json<{ trigger: string }>(chat.path)
  expect(info.trigger).toBe('suggested_task')
})

test('a model that needs a key which nobody gave is told at the start', async () => {
  const by = await client()
  await by.ask('/api/settings', { method: 'POST', body: { llm_model: 'anthropic/claude-sonnet-4-5' } })
  const answer = await by.ask('/api/conversations', { method: 'POST', body: {} })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ status: 'error', msg_id: 'STATUS$ERROR_LLM_AUTHENTICATION' })
  await by.ask('/api/settings', { method: 'POST', body: { agent: 'ShellAgent' } })
  expect((await by.ask('/api/conversations', { method: 'POST', body: {} })).status).toBe(200)
})

test('a model that nobody knows blocks no conversation: its first step says which setting to change', async () => {
  const by = await client()
  await by.ask('/api/settings', { method: 'POST', body: { llm_model: 'acme/one' } })
  const chat = await startConversation({ initial_user_msg: 'hello' }, by)
  await inState(chat, 'error')
  const events = await chat.events()
  expect(events.some(({ action }) => action === 'run')).toBe(false)
  expect(events.find(({ observation }) => observation === 'error')?.content).toMatch(
    /acme\/one.*llm_model.*llm_base_url/,
  )
  // It goes on when the setting is mended.
  await startAgent({ owner: by, replies: [{ text: 'mended' }] })
  await chat.post('message', { content: 'and now?' })
  await untilSaid(chat, 'mended')
})

test('a task in words is not run as a script where there is no model, and is done once there is one', async () => {
  const task = {
    git_provider: 'github',
    task_type: 'OPEN_ISSUE',
    repo: 'acme/shop',
    issue_number: 7,
    title: '`rm -rf /`',
  }
  const by = await client()
  const bodies = [
    { suggested_task: task },
    {
      create_microagent: { repo: repositoryUrl(await hostRepository({ a: 'a' })) },
      initial_user_msg: 'ls; write a note',
    },
    { initial_user_msg: '', image_urls: ['data:image/png;base64,AAAA'] },
  ]
  for (const body of bodies) {
    const chat = await startConversation(body, by)
    await chat.settled()
    const events = await chat.events()
    expect(events.filter(({ action }) => action === 'run')).toEqual([])
    const [answer, ...more] = events.filter(({ action, source }) => action === 'message' && source === 'agent')
    expect([answer?.message, more]).toEqual([expect.stringMatching(/llm_model/), []])
    // It is a shell all the same.
    for (const word of ['one', 'two']) {
      await chat.post('message', { content: `echo ${word}`, image_urls: ['data:image/png;base64,AAAA'] })
      await expect.poll(async () => (await chat.events()).some(({ content }) => content === word)).toBe(true)
    }
    const unseen = (await chat.events()).filter(({ content }) =>
      String(content).includes('nobody looks at the pictures'),
    )
    expect(unseen).toHaveLength(1)
    await by.ask(chat.path, { method: 'DELETE' })
  }
  const able = await startAgent({ owner: by, replies: [{ text: 'I read the issue.' }], body: { suggested_task: task } })
  await untilSaid(able, 'I read the issue.')
})

test('an agent that does not exist here is told once, and the default one works', async () => {
  const chat = await startAgent({
    replies: [{ text: 'hello' }, { text: 'again' }],
    settings: { agent: 'BrowsingAgent' },
    body: { initial_user_msg: 'hi' },
  })
  await untilSaid(chat, 'hello')
  await chat.post('message', { content: 'more' })
  await untilSaid(chat, 'again')
  const told = (await chat.events()).filter(({ observation }) => observation === 'error')
  expect(told.map(({ content }) => content)).toEqual([expect.stringContaining('CodeActAgent works instead')])
})

test('a shell becomes an agent when a model is set, and a shell again when it goes', async () => {
  const chat = await startConversation({ initial_user_msg: 'echo shell' })
  await chat.settled()
  const { scriptedModel } = await import('../helpers/scripted-model.ts')
  const model = await scriptedModel({ text: 'a model speaks' })
  const settings = { llm_model: 'openai/scripted', llm_base_url: model.baseUrl, llm_api_key: 'sk-scripted-0123456789' }
  await chat.owner.ask('/api/settings', { method: 'POST', body: settings })
  await chat.post('message', { content: 'who are you?' })
  await untilSaid(chat, 'a model speaks')
  expect(JSON.stringify((await model.requests()).at(-1)?.body)).toContain('echo shell')
  await inState(chat, 'awaiting_user_input')
  await chat.owner.ask('/api/settings', { method: 'POST', body: { agent: 'ShellAgent' } })
  await chat.post('message', { content: 'echo back' })
  await inState(chat, 'awaiting_user_input')
  expect((await chat.events()).findLast(({ observation }) => observation === 'error')?.content).toContain('shell')
  await chat.post('message', { content: 'echo back' })
  await expect.poll(async () => (await chat.events()).some(({ content }) => content === 'back')).toBe(true)
})

test('the model gives the title when it has one, unless the user was faster', async () => {
  const chat = await startAgent({ replies: [] })
  await chat.model.set({ replies: [{ text: 'ok' }], atEnd: 'repeat', title: '"Making a file"' })
  const titleOf = async () => (await chat.owner.json<{ title: string }>(chat.path)).title
  await chat.post('message', { content: 'please make a file that says hello to everybody' })
  expect(await titleOf()).toBe('please make a file that says h...')
  await expect.poll(titleOf).toBe('Making a file')
  await chat.owner.ask(chat.path, { method: 'PATCH', body: { title: 'Mine' } })
  await chat.post('message', { content: 'and another' })
  await inState(chat, 'awaiting_user_input')
  expect(await titleOf()).toBe('Mine')
})

test('a secret reaches the shell by its name, and no event, prompt or frame by its value', async () => {
  const owner = await client()
  const value = 's3cr3t-canary-4711'
  await owner.ask('/api/secrets', { method: 'POST', body: { name: 'DEPLOY_KEY', value, description: 'for deploys' } })
  const chat = await startAgent({
    owner,
    replies: [
      {
        calls: [
          bash('echo "key: $DEPLOY_KEY"; test "$DEPLOY_KEY" = s3cr3t-canary-4711 && echo same; echo $DEPLOY_KEY > f'),
        ],
      },
      { calls: [bash('cat f; echo -n $DEPLOY_KEY | base64; env | grep DEPLOY')] },
      { text: 'It is done.' },
    ],
    body: { initial_user_msg: `use it; it is ${value}` },
  })
  const socket = await chat.connect()
  await untilSaid(chat, 'It is done.')
  const events = await chat.events()
  const outputs = events.filter(({ observation }) => observation === 'run').map(({ content }) => content)
  expect(outputs[0]).toContain('key: <secret_hidden>\nsame')
  const everything = JSON.stringify([events, socket.frames, (await chat.model.requests()).map(({ body }) => body)])
  expect(everything).not.toContain(value)
  expect(everything).not.toContain(btoa(value))
  expect(everything).toContain('for deploys')
})
