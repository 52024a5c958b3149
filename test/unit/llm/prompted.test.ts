import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LanguageModel, ModelDelta, ModelReply, Prompt } from '../../../src/llm/model.ts'
import { callText, promptedModel, toolless } from '../../../src/llm/prompted.ts'

const TOOLS = [
  {
    name: 'execute_bash',
    description: 'Runs a command.',
    parameters: { type: 'object', properties: { command: { type: 'string' } } },
  },
]
const ASKED: Prompt = {
  system: 'Be brief.',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }],
  tools: TOOLS,
}

/** A model that says these pieces, one delta each. */
function speaking(pieces: readonly string[], seen: Prompt[] = []): LanguageModel {
  return {
    id: 'plain/model',
    contextWindow: 8192,
    seesImages: false,
    ask: (prompt, options) => {
      seen.push(prompt)
      for (const text of pieces) options?.onDelta?.({ kind: 'text', text })
      const reply: ModelReply = {
        text: pieces.join(''),
        calls: [],
        usage: { promptTokens: 1, completionTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
        cost: 0,
        responseId: 'r',
        finish: 'stop',
        latencyMs: 1,
      }
      return Promise.resolve(reply)
    },
  }
}

async function said(pieces: readonly string[]) {
  const deltas: ModelDelta[] = []
  const reply = await promptedModel(speaking(pieces)).ask(ASKED, { onDelta: (delta) => deltas.push(delta) })
  return { reply, shown: deltas.flatMap((delta) => (delta.kind === 'text' ? [delta.text] : [])).join(''), deltas }
}

const chopped = (text: string, cuts: readonly number[]): string[] => {
  const at = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].sort((a, b) => a - b)
  return at.slice(1).map((end, index) => text.slice(at[index], end))
}

test('however an answer is cut into pieces, its calls come out whole and not a letter of their form is shown', async () => {
  const word = fc.constantFrom('a', 'b c', '<', '<tool', '< tool_call', '"', '>', '\n', '你好', '</', '`')
  const words = fc.array(word, { maxLength: 6 }).map((parts) => parts.join(' '))
  const call = fc.record({ name: fc.constantFrom('execute_bash', 'think'), command: fc.string({ maxLength: 20 }) })
  await fc.assert(
    fc.asyncProperty(
      words,
      fc.array(call, { maxLength: 3 }),
      fc.array(fc.nat(400), { maxLength: 12 }),
      async (text, calls, cuts) => {
        const written = calls.map(({ name, command }) => callText({ name, arguments: JSON.stringify({ command }) }))
        const { reply, shown, deltas } = await said(chopped([text, ...written].join('\n\n'), cuts))
        expect(reply.text).toBe(text.trimEnd())
        expect(shown.trimEnd()).toBe(reply.text)
        expect(reply.calls.map((made) => [made.name, JSON.parse(made.arguments)])).toEqual(
          calls.map(({ name, command }) => [name, { command }]),
        )
        expect(reply.finish).toBe(calls.length > 0 ? 'calls' : 'stop')
        expect(deltas.filter(({ kind }) => kind === 'call')).toHaveLength(calls.length)
      },
    ),
    { numRuns: 300 },
  )
})

test('calls in the forms that models fall into are understood, and a call without its end is not lost', async () => {
  const call = { name: 'execute_bash', arguments: '{"command":"ls"}' }
  const forms = [
    'Look.\n<tool_call>\n{"name": "execute_bash", "arguments": {"command":"ls"}}\n</tool_call>',
    'Look.\n<tool_call name="execute_bash">\n```json\n{"command":"ls"}\n```\n</tool_call>',
    'Look.\n<tool_call name="execute_bash">\n{"command":"ls"}',
    'Look.\n<tool_call name="execute_bash">{"command":"ls"}</tool_call>\n\n',
    'Look.\n<tool_call>{"name":"execute_bash","parameters":{"command":"ls"}}</tool_call>',
  ]
  for (const form of forms) {
    const { reply, shown } = await said([...form])
    expect(reply.calls).toEqual([{ id: 'call_1', ...call }])
    expect(reply.text).toBe('Look.')
    expect(shown).toBe('Look.')
  }
  const broken = await said(['<tool_call>{"name": "execute_bash", "arguments": {oops}</tool_call>'])
  expect(broken.reply.calls).toMatchObject([
    { name: 'execute_bash', arguments: '{"name": "execute_bash", "arguments": {oops}' },
  ])
  const markup = await said(['Use <tool_', 'box> or <b>bold</b>.'])
  expect(markup.reply).toMatchObject({ text: 'Use <tool_box> or <b>bold</b>.', calls: [], finish: 'stop' })
})

test('the conversation that such a model sees has no tools in it, and turns that alternate', () => {
  const prompt: Prompt = {
    ...ASKED,
    messages: [
      ...ASKED.messages,
      {
        role: 'assistant',
        text: 'First.',
        calls: [
          { id: '1', name: 'execute_bash', arguments: '{"command":"ls"}' },
          { id: '2', name: 'execute_bash', arguments: '{}' },
        ],
      },
      { role: 'tool', callId: '1', name: 'execute_bash', content: [{ type: 'text', text: 'README' }] },
      { role: 'tool', callId: '2', name: 'execute_bash', content: [{ type: 'text', text: 'no command' }] },
      { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
    ],
  }
  const plain = toolless(prompt)
  expect(plain.tools).toEqual([])
  expect(plain.system).toMatch(/^Be brief\..*execute_bash.*Runs a command\..*"command"/s)
  // A model that has never seen a tool must be told the whole form.
  expect(plain.system).toContain('write a call in exactly this form, the arguments as one JSON object')
  expect(plain.system).toContain('<tool_call name="tool_name">\n{"argument": "value"}\n</tool_call>')
  expect(plain.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  expect(plain.messages[1]).toMatchObject({
    text: expect.stringContaining('<tool_call name="execute_bash">\n{"command":"ls"}\n</tool_call>'),
    calls: [],
  })
  expect(JSON.stringify(plain.messages[2])).toMatch(/Result of execute_bash:.*README.*no command.*And now\?/)
})
