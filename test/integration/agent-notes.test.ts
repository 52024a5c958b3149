import { expect, test } from 'vitest'
import { lastPrompt, said, startAgent } from '../helpers/agent.ts'

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
  await said(chat, 'one')
  await chat.post('message', { content: 'now deploy it in style' })
  await said(chat, 'two')
  await chat.post('message', { content: 'deploy again' })
  await said(chat, 'three')
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
