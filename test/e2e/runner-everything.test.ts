// The official server that exercises the whole protocol: as a program on a runner it gives what it gives over HTTP.

import { expect, onTestFinished, test } from 'vitest'
import { LentMachine } from '../support/lent-machine.ts'
import { EVERYTHING, startEverything } from '../support/mcp-servers.ts'
import { startScriptedModel } from '../support/scripted-model.ts'

const CALLS: readonly (readonly [name: string, args: Record<string, unknown>])[] = [
  ['echo', { message: 'grüezi 世界 \u{1f33b} "quoted"\nsecond line' }],
  ['echo', { message: 'x'.repeat(200_000) }],
  ['get-sum', { a: 2, b: 40 }],
  // Refused by the server: an answer that is an error.
  ['get-sum', { a: 'two', b: [] }],
  ['get-tiny-image', {}],
  ['get-annotated-message', { messageType: 'error', includeImage: true }],
  ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
  ['get-resource-reference', { resourceType: 'Blob', resourceId: 2 }],
  ['get-resource-links', { count: 3 }],
  ['get-structured-content', { location: 'New York' }],
  ['trigger-long-running-operation', { duration: 1, steps: 4 }],
]

/** Resources say when they were made. */
const withoutTimes = (text: string): string =>
  text.replace(/\d{1,2}:\d{2}:\d{2}( [AP]M)?/g, 'TIME').replace(/"blob":"[^"]*"/g, '"blob":"…"')

test('the server of everything passes as a program on a runner what it passes over HTTP', async () => {
  const machine = await LentMachine.start(['--isolation', 'none'])
  onTestFinished(() => machine.stop())
  const [model, remote] = await Promise.all([startScriptedModel(), startEverything('http')])
  onTestFinished(async () => {
    remote.child.kill('SIGKILL')
    await model.close()
  })
  const replies = [
    ...CALLS.map(([name, args], at) => ({ calls: [{ id: `c${at}`, name, arguments: args }] })),
    { text: 'all of them' },
  ]
  const stdio = { name: 'everything', command: process.execPath, args: [EVERYTHING, 'stdio'], env: {} }
  const none = { sse_servers: [], shttp_servers: [], stdio_servers: [] }
  const heard: { tools: string[]; answers: string[] }[] = []
  for (const servers of [
    { ...none, shttp_servers: [{ url: remote.url }] },
    { ...none, stdio_servers: [stdio] },
  ]) {
    const script = `everything-${heard.length}`
    model.setScript(script, { replies })
    const settings = { llm_model: 'openai/scripted', llm_base_url: `${model.url}/${script}/v1`, llm_api_key: 'sk-1' }
    await machine.call('/api/settings', { method: 'POST', body: settings })
    const path = await machine.conversation({ initial_user_msg: 'go', mcp_config: servers })
    await expect
      .poll(async () =>
        (await machine.events(path)).some(({ content, message }) => [content, message].includes('all of them')),
      )
      .toBe(true)
    const answers = (await machine.events(path)).flatMap(({ observation, content }) =>
      observation === 'mcp' || observation === 'error' ? [withoutTimes(content)] : [],
    )
    heard.push({ tools: toolsIn(model.requests(script)[0]?.body), answers })
  }
  const [http, program] = heard
  expect(http?.answers.length).toBe(CALLS.length)
  expect(http?.tools).toEqual(expect.arrayContaining(CALLS.map(([name]) => name)))
  expect(program).toEqual(http)
})

function toolsIn(body: unknown): string[] {
  const { tools = [] } = (body ?? {}) as { tools?: { function: { name: string } }[] }
  return tools.map((tool) => tool.function.name).sort()
}
