import { expect, test } from 'vitest'
import { fallbackModel } from '../../../src/llm/client.ts'
import type { ModelDelta } from '../../../src/llm/model.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'
import type { ScriptedReply } from '../../support/scripted-model-orders.ts'
import { failureOf, modelAt, PROMPT } from './asking.ts'

const error = (message: string, more: Record<string, unknown> = {}) => ({ error: { message, ...more } })

test('a thousand calls in one answer arrive whole and in order, and equal ids become different', async () => {
  const calls = Array.from({ length: 1000 }, (_, index) => ({
    id: index % 2 === 0 ? `call-${index}` : 'same',
    name: 'execute_bash',
    arguments: { command: `echo ${index}` },
  }))
  for (const dialect of ['openai-chat', 'anthropic'] as const) {
    const server = await scriptedModel({ calls, chunkChars: 1000 })
    const reply = await (await modelAt(server, dialect)).ask(PROMPT)
    expect(reply.calls.map(({ arguments: text }) => JSON.parse(text))).toEqual(calls.map((call) => call.arguments))
    expect(new Set(reply.calls.map(({ id }) => id)).size).toBe(1000)
  }
})

test('calls that are not as they should be reach the caller as they were written', async () => {
  const args = ['{"command": "ls', '[1,2]', '', '{"__proto__": {"admin": true}, "constructor": 1}', 'null']
  const server = await scriptedModel(
    {
      calls: args.map((text, index) => ({
        id: `c${index}`,
        name: index === 0 ? '__proto__' : 'nobody/knows',
        arguments: text,
      })),
    },
    { text: 'I see.' },
  )
  const model = await modelAt(server, 'openai-chat')
  const reply = await model.ask(PROMPT)
  expect(reply.calls.map(({ arguments: text }) => text)).toEqual(args)
  expect(({} as Record<string, unknown>).admin).toBeUndefined()

  const results = reply.calls.map(({ id, name }) => ({
    role: 'tool' as const,
    callId: id,
    name,
    content: [{ type: 'text' as const, text: 'no' }],
  }))
  const messages = [...PROMPT.messages, { role: 'assistant' as const, ...reply }, ...results]
  expect((await model.ask({ ...PROMPT, messages })).text).toBe('I see.')
  const sent = (await server.requests())[1]?.body as {
    messages: { tool_calls?: { function: { name: string; arguments: string } }[] }[]
  }
  const given = sent.messages[1]?.tool_calls ?? []
  expect(given.every(({ function: { name } }) => /^[\w-]{1,64}$/.test(name))).toBe(true)
  expect(given.map(({ function: call }) => typeof JSON.parse(call.arguments))).toEqual(args.map(() => 'object'))
  expect(given[0]?.function.arguments).toContain('ls')
})

test('arguments of five megabytes arrive, a line of ten and an answer of seventy are refused', async () => {
  const command = 'x'.repeat(5 * 1024 * 1024)
  const big = await scriptedModel({
    calls: [{ id: 'a', name: 'execute_bash', arguments: { command } }],
    chunkChars: 65_536,
  })
  const reply = await (await modelAt(big, 'openai-chat')).ask(PROMPT)
  expect(JSON.parse(reply.calls[0]?.arguments ?? '')).toEqual({ command })

  const line = `data: {"choices":[{"delta":{"content":"${'y'.repeat(10 * 1024 * 1024)}"}}]}\n\n`
  const long = await scriptedModel({ frames: [line] })
  expect((await failureOf((await modelAt(long, 'openai-chat')).ask(PROMPT))).kind).toBe('unusable_reply')

  const piece = `data: {"choices":[{"delta":{"content":"${'z'.repeat(1024 * 1024)}"}}]}\n\n`
  const endless = await scriptedModel({ frames: Array.from({ length: 70 }, () => piece) })
  expect((await failureOf((await modelAt(endless, 'openai-chat')).ask(PROMPT))).kind).toBe('unusable_reply')
})

test('servers of the chat dialect that do it their own way are understood', async () => {
  const chunk = (delta: unknown, finish: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ delta, finish_reason: finish }] })}\n\n`
  const call = (more: Record<string, unknown>, text: string, name?: string) => ({
    tool_calls: [{ ...more, function: { ...(name === undefined ? {} : { name }), arguments: text } }],
  })
  const ways: ScriptedReply[] = [
    // No [DONE], a comment, a blank line with a return, a byte-order of fields of its own.
    {
      frames: [
        ': hello\n\n',
        'event: x\r\ndata:',
        chunk({ content: 'ok' }).slice(5).replaceAll('\n', '\r\n'),
        chunk({}, 'stop'),
      ],
    },
    // [DONE] without a reason to stop.
    { frames: [chunk({ content: 'ok' }), 'data: [DONE]\n\n'] },
    // Not a stream at all.
    {
      body: {
        id: 'whole',
        choices: [{ message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 1 },
      },
    },
    // Parts instead of text, thoughts beside them.
    {
      frames: [
        chunk({
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
            { type: 'text', text: 'ok' },
          ],
        }),
        chunk({}, 'end_turn'),
        'data: [DONE]\n\n',
      ],
    },
  ]
  for (const way of ways) {
    const server = await scriptedModel(way)
    expect((await (await modelAt(server, 'openai-chat')).ask(PROMPT)).text).toBe('ok')
  }
  const numbering = [
    [call({ id: 'a' }, '{"x":1}', 'one'), call({ id: 'b' }, '{"x":2}', 'two')],
    [call({ index: 0, id: 'a' }, '{"x":1}', 'one'), call({ index: 0, id: 'b' }, '{"x":2}', 'two')],
    [
      call({ index: 0, id: 'a' }, '{"x"', 'one'),
      call({ index: 1, id: 'b' }, '{"x"', 'two'),
      call({ index: 0 }, ':1}'),
      call({ index: 1, id: '' }, ':2}'),
    ],
  ]
  for (const pieces of numbering) {
    const server = await scriptedModel({
      frames: [...pieces.map((piece) => chunk(piece)), chunk({}, 'stop'), 'data: [DONE]\n\n'],
    })
    const reply = await (await modelAt(server, 'openai-chat')).ask(PROMPT)
    expect(reply.calls).toEqual([
      { id: 'a', name: 'one', arguments: '{"x":1}' },
      { id: 'b', name: 'two', arguments: '{"x":2}' },
    ])
    expect(reply.finish).toBe('calls')
  }
})

test('what a vendor turns out not to take is left out, and a model that calls no tools is driven by the prompt', async () => {
  const server = await scriptedModel(
    { status: 422, body: { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] } },
    { status: 400, body: error("Unsupported value: 'temperature' does not support 0 with this model.") },
    { status: 400, body: error('registry/gemma:2b does not support tools') },
    { text: 'Looking.\n\n<tool_call name="execute_bash">\n{"command": "ls"}\n</tool_call>', chunkChars: 7 },
    { text: 'Done.' },
  )
  const model = await modelAt(server, 'openai-chat')
  const deltas: ModelDelta[] = []
  const reply = await model.ask(PROMPT, { onDelta: (delta) => deltas.push(delta) })
  expect(reply).toMatchObject({
    text: 'Looking.',
    finish: 'calls',
    calls: [{ name: 'execute_bash', arguments: '{"command": "ls"}' }],
  })
  expect(deltas.flatMap((delta) => (delta.kind === 'text' ? [delta.text] : [])).join('')).toBe('Looking.')
  // What was learnt is remembered.
  expect((await model.ask(PROMPT)).text).toBe('Done.')
  const bodies = (await server.requests()).map(({ body }) => body as Record<string, unknown>)
  expect(bodies.map((body) => ['stream_options', 'temperature', 'tools'].filter((name) => name in body))).toEqual([
    ['stream_options', 'temperature', 'tools'],
    ['temperature', 'tools'],
    ['tools'],
    [],
    [],
  ])
})

test('a picture that a vendor cannot read is left out of the question, and the answer comes', async () => {
  const refused = { status: 400, body: error('Invalid image_url: failed to download the image') }
  const image = { type: 'image' as const, url: 'https://nobody.invalid/x.png' }
  const text = { type: 'text' as const, text: 'what is this?' }
  const prompt = { ...PROMPT, messages: [{ role: 'user' as const, content: [text, image] }] }
  for (const dialect of ['openai-chat', 'anthropic'] as const) {
    const server = await scriptedModel(refused, { text: 'I cannot see it.' }, refused, refused)
    const model = await modelAt(server, dialect)
    expect((await model.ask(prompt)).text).toBe('I cannot see it.')
    const bodies = (await server.requests()).map(({ body }) => JSON.stringify(body))
    expect(bodies.map((body) => body.includes('nobody.invalid'))).toEqual([true, false])
    expect(bodies[1]).toContain('which the model server refused')
    // Without a picture it is about something else.
    expect((await failureOf(model.ask(PROMPT))).kind).toBe('bad_request')
    expect(await server.requests()).toHaveLength(3)
  }
})

test('a fallback answers when the first model cannot, but not after a word was shown, and not for what all would refuse', async () => {
  const asked = async (first: ScriptedReply, second: ScriptedReply) => {
    const servers = [await scriptedModel(first), await scriptedModel(second)] as const
    const [one, two] = await Promise.all(servers.map((server) => modelAt(server, 'openai-chat')))
    if (one === undefined || two === undefined) throw new Error('two were made')
    const answer = await fallbackModel(one, [two])
      .ask(PROMPT)
      .catch((thrown: unknown) => thrown)
    return { answer, requests: (await servers[1].requests()).length }
  }
  const down = { status: 503, body: error('down') }
  expect(await asked(down, { text: 'Here.' })).toMatchObject({ answer: { text: 'Here.' }, requests: 1 })
  expect(await asked({ status: 402, body: '' }, { text: 'Here.' })).toMatchObject({ answer: { text: 'Here.' } })
  const limited = { status: 429, headers: { 'retry-after': '9' }, body: error('slow') }
  expect(await asked(limited, { status: 401, body: '' })).toMatchObject({
    answer: { kind: 'rate_limit', retryAfterMs: 9000 },
  })
  const broken = { text: 'Half of an answer that breaks.', chunkChars: 5, breakAfter: 3, breakHow: 'end' } as const
  expect(await asked(broken, { text: 'Here.' })).toMatchObject({ answer: { kind: 'broken_stream' }, requests: 0 })
  const overlong = { status: 400, body: error('maximum context length is 8192 tokens') }
  expect(await asked(overlong, { text: 'Here.' })).toMatchObject({ answer: { kind: 'context_too_long' }, requests: 0 })
})
