import { expect, test } from 'vitest'
import { mcpResultParts, mcpTools } from '../../../src/agent/tools/mcp.ts'
import type { ToolContext } from '../../../src/agent/tools/tool.ts'
import { callMcpTool, openMcpServers } from '../../../src/mcp/session-tools.ts'
import { DEPS, everything, overHttp, overSse, toolsOf } from '../../helpers/mcp.ts'

const KINDS = ['http', 'sse'] as const

test.each(KINDS)('the official server of everything is listed and called over %s', async (kind) => {
  const url = await everything(kind)
  const servers = kind === 'http' ? overHttp(url) : overSse(url)
  const opened = await openMcpServers(servers, DEPS)
  expect(opened.failures).toEqual([])
  const names = opened.tools.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image', 'trigger-long-running-operation']))

  // What is stored is JSON: the object may be another one when a tool is called.
  const stored = JSON.parse(JSON.stringify(opened.tools)) as typeof opened.tools
  expect(JSON.stringify(stored)).not.toContain(url)
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const tool = stored.find((each) => each.name === name)
    if (tool === undefined) throw new Error(`no tool ${name}`)
    return callMcpTool(tool, args, { servers, ...DEPS })
  }
  expect(await call('echo', { message: 'grüezi 世界' })).toEqual({
    meta: null,
    content: [{ type: 'text', text: 'Echo: grüezi 世界' }],
    isError: false,
  })
  expect((await call('get-sum', { a: 2, b: 40 })).content).toEqual([
    { type: 'text', text: 'The sum of 2 and 40 is 42.' },
  ])
  const image = await call('get-tiny-image')
  expect(image.content.map(({ type }) => type)).toEqual(['text', 'image', 'text'])
  expect(mcpResultParts(JSON.stringify(image))[1]).toMatchObject({
    type: 'image',
    url: expect.stringMatching(/^data:image\/png;base64,[A-Za-z0-9+/]{100}/),
  })
  const resource = await call('get-resource-reference', { resourceType: 'Text', resourceId: 1 })
  expect(resource.content.map(({ type }) => type)).toContain('resource')
  const links = await call('get-resource-links', { count: 3 })
  expect(links.content.filter(({ type }) => type === 'resource_link')).toHaveLength(3)
  const refused = await call('get-sum', { a: 'two', b: [] })
  expect(refused.isError).toBe(true)
  expect(JSON.stringify(refused.content)).toContain('Invalid')
})

test('an agent runs a remote tool, and its action and observation have the shape of the wire', async () => {
  const servers = overHttp(await everything('http'))
  const tools = mcpTools(await toolsOf(servers), (tool, args, { signal }) =>
    callMcpTool(tool, args, { servers, ...DEPS, signal }),
  )
  const echo = tools.find(({ name }) => name === 'echo')
  const call = echo?.prepare({ message: 'hello' })
  expect(call?.action).toEqual({
    source: 'agent',
    message: expect.stringMatching(/^Calling tool: echo of the server \S/),
    action: 'call_tool_mcp',
    args: { name: 'echo', arguments: { message: 'hello' }, thought: '' },
  })
  expect(await call?.run({ signal: new AbortController().signal } as ToolContext)).toEqual({
    source: 'agent',
    message: 'Tool answered: echo',
    observation: 'mcp',
    content: '{"meta":null,"content":[{"type":"text","text":"Echo: hello"}],"isError":false}',
    extras: { name: 'echo', arguments: { message: 'hello' } },
  })
  expect(() => echo?.prepare('hello')).toThrow('The arguments of echo have to be a JSON object')
  expect(() => echo?.prepare(['hello'])).toThrow('The arguments of echo have to be a JSON object')
  expect(() => echo?.prepare({})).toThrow('The arguments of echo lack: message')
})

test.each(KINDS)('a stop ends a long call over %s at once', async (kind) => {
  const url = await everything(kind)
  const servers = kind === 'http' ? overHttp(url) : overSse(url)
  const long = (await toolsOf(servers)).find(({ name }) => name === 'trigger-long-running-operation')
  if (long === undefined) throw new Error('no long running tool')
  const stop = new AbortController()
  const call = callMcpTool(long, { duration: 60, steps: 60 }, { servers, ...DEPS, signal: stop.signal })
  setTimeout(() => stop.abort(new Error('stopped by the user')), 300)
  await expect(call).rejects.toThrow('stopped by the user')
})
