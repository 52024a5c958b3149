import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mcpResultParts } from '../../../src/agent/tools/mcp.ts'
import { listTools, openMcpServers } from '../../../src/mcp/session-tools.ts'
import { CallResult, MAX_BINARY_CHARS, MAX_TEXT_CHARS, readResult, resultOf } from '../../../src/mcp/tool-result.ts'
import { explainFailure } from '../../../src/mcp/wire.ts'

const base64 = fc.base64String({ maxLength: 400 })
const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text: fc.string({ unit: 'binary', maxLength: 60_000, size: 'max' }) }),
  fc.record({
    type: fc.constantFrom('image', 'audio'),
    data: base64,
    mimeType: fc.constantFrom('image/png', 'a b', ''),
  }),
  fc.record({ type: fc.constant('resource'), resource: fc.record({ uri: fc.string(), text: fc.string() }) }),
  fc.record({ type: fc.constant('resource'), resource: fc.record({ uri: fc.string(), blob: base64 }) }),
  fc.record({ type: fc.constant('resource_link'), uri: fc.webUrl(), name: fc.string() }),
  fc.anything(),
)

test('whatever a server answers becomes a bounded result that reads back as itself', () => {
  const answers = fc.record({ content: fc.array(part, { maxLength: 150 }), isError: fc.option(fc.boolean()) })
  fc.assert(
    fc.property(answers, (answer) => {
      const result = resultOf(CallResult.parse(answer))
      const json = JSON.stringify(result)
      expect(result.content.length).toBeLessThanOrEqual(101)
      const texts = result.content.map((each) => (each.type === 'text' ? each.text.length : 0))
      // Each part that is cut has a line that says so.
      expect(texts.reduce((sum, length) => sum + length, 0)).toBeLessThan(MAX_TEXT_CHARS + 101 * 80)
      expect(json.length).toBeLessThan(6 * MAX_TEXT_CHARS + MAX_BINARY_CHARS + 1_000_000)
      expect(readResult(json)).toEqual({ content: JSON.parse(json).content, isError: answer.isError === true })
      expect(mcpResultParts(json).length).toBeGreaterThan(0)
    }),
    { numRuns: 60 },
  )
})

test('whatever a server lists becomes tools with a schema of an object, or is complained of', async () => {
  const tool = fc.oneof(
    fc.record(
      {
        name: fc.string({ unit: 'binary' }),
        description: fc.oneof(fc.string(), fc.constant(null)),
        inputSchema: fc.oneof(fc.constant({ type: 'object' }), fc.object(), fc.anything()),
        annotations: fc.anything(),
      },
      { requiredKeys: [] },
    ),
    fc.anything(),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(tool, { maxLength: 30 }), async (tools) => {
      const listing = await listTools(async (_method, _params, schema) => schema.parse({ tools }))
      for (const { parameters, remoteName } of listing.tools) {
        expect(parameters).toMatchObject({ type: 'object', properties: expect.anything() })
        expect(remoteName.length).toBeGreaterThan(0)
      }
      const faulty = tools.length - listing.tools.length
      expect(listing.complaints).toEqual(faulty === 0 ? [] : [`${faulty} of its tools are not well described`])
    }),
    { numRuns: 100 },
  )
})

test('an explanation never holds an address, a key or more than a few lines', () => {
  const errors = fc.oneof(
    fc.anything(),
    fc.webUrl().map((url) => new Error(`fetch to ${url}?key=hunter2 failed`)),
    fc.webUrl().map((url) => new TypeError(`bad header`, { cause: new Error(url) })),
    fc.integer().map((code) => Object.assign(new Error('hunter2'), { code })),
  )
  fc.assert(
    fc.property(errors, (error) => {
      const text = explainFailure(error)
      expect(text).not.toMatch(/hunter2|:\/\//)
      expect(text.length).toBeLessThan(200)
    }),
  )
})

test('no servers, and servers that only a process could be, take no request', async () => {
  const door = () => {
    throw new Error('asked')
  }
  const stdio = [{ name: 'files', command: 'serve-files', args: [], env: {} }]
  expect(await openMcpServers({ sse: [], shttp: [], stdio }, { door, processes: null, conversationId: 'c' })).toEqual({
    tools: [],
    failures: [],
    isIncomplete: false,
  })
})
