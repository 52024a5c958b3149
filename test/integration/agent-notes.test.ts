import { expect, onTestFinished, test, vi } from 'vitest'
import { lastPrompt, startAgent, untilSaid } from '../helpers/agent.ts'
import { startConversation } from '../helpers/conversation.ts'
import { hostRepository, repositoryUrl } from '../helpers/git-host.ts'

const NOTE = (trigger: string, text: string) => `---\ntriggers:\n  - ${trigger}\n---\n${text}\n`

test('notes of the project reach the model: those that always hold at first, others when their word falls, each once', async () => {
  const chat = await startAgent({ replies: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] })
  const files = {
    'AGENTS.md': 'Use tabs in this project.',
    '.bellwether/microagents/deploy.md': NOTE('deploy', 'Deployments go through make release.'),
    '.bellwether/microagents/style.md': NOTE('style', 'Names are short.'),
    '.bellwether/microagents/bad.md': '---\ntriggers: {}\n---\nbad',
  }
  const writes = Object.entries(files).map(([name, text]) => `echo ${btoa(text)} | base64 -d > ${name}`)
  await chat.post('run', { command: `mkdir -p .bellwether/microagents; ${writes.join('; ')}` })
  await expect
    .poll(async () => (await chat.events()).find(({ observation }) => observation === 'run')?.content, {})
    .toBe('')
  await chat.post('message', { content: 'look at the Style, please' })
  await untilSaid(chat, 'one')
  await chat.post('message', { content: 'now deploy it in style' })
  await untilSaid(chat, 'two')
  await chat.post('message', { content: 'deploy again' })
  await untilSaid(chat, 'three')
  const prompt = JSON.stringify(await lastPrompt(chat))
  for (const text of ['Use tabs in this project.', 'Deployments go through make release.', 'Names are short.']) {
    expect(prompt.split(text)).toHaveLength(2)
  }
  const recalled = (await chat.events()).filter(({ observation }) => observation === 'recall' || observation === 'null')
  expect(recalled.map(({ observation, extras }) => [observation, extras?.recall_type])).toEqual([
    ['recall', 'workspace_context'],
    ['recall', 'knowledge'],
    ['null', undefined],
  ])
  expect(recalled[0]?.extras?.repo_instructions).toBe('Use tabs in this project.')
  const told = (await chat.events()).find(({ observation }) => observation === 'error')
  expect(told?.content).toContain('bad.md')
})

test('messages that come while the workspace is made ready call for their notes, and a shell has the instructions', async () => {
  const url = repositoryUrl(
    await hostRepository({
      'AGENTS.md': 'Use tabs in this project.',
      '.bellwether/microagents/deploy.md': NOTE('deploy', 'Deployments go through make release.'),
      '.bellwether/microagents/style.md': NOTE('style', 'Names are short.'),
    }),
  )
  const { promise: mayClone, resolve: clone } = Promise.withResolvers<void>()
  const real = globalThis.fetch
  const held = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const asked = input instanceof Request ? input.url : String(input)
    if (asked.startsWith(url)) await mayClone
    return real(input, init)
  })
  onTestFinished(() => held.mockRestore())
  const chat = await startAgent({ replies: [{ text: 'one' }], body: { repository: url } })
  await chat.post('message', { content: 'how do I deploy?' })
  await chat.post('message', { content: 'and in which style?' })
  clone()
  await untilSaid(chat, 'one')
  const prompt = JSON.stringify(await lastPrompt(chat))
  for (const text of ['Use tabs in this project.', 'Deployments go through make release.', 'Names are short.']) {
    expect([text, prompt.split(text).length]).toEqual([text, 2])
  }
  const recalls = (await chat.events()).filter(({ action }) => action === 'recall')
  expect(recalls.map(({ args }) => [args?.recall_type, args?.query])).toEqual([
    ['workspace_context', 'how do I deploy?'],
    ['knowledge', 'and in which style?'],
  ])

  const shell = await startConversation({ repository: url, initial_user_msg: 'cat AGENTS.md' })
  await shell.settled()
  const told = (await shell.events()).find(({ observation }) => observation === 'recall')
  expect(told?.extras).toMatchObject({ repo_name: url, repo_instructions: 'Use tabs in this project.' })
})
