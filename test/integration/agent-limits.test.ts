import { expect, test } from 'vitest'
import { type AgentChat, bash, inState, startAgent, untilSaid } from '../helpers/agent.ts'

const reasonOf = async (chat: AgentChat) => (await chat.events()).at(-1)?.extras?.reason

const step = (n: number) => ({ calls: [bash(`echo ${n}`)], usage: { prompt: 1000, completion: 100, cost: 0.5 } })

test('at the highest number of iterations the agent stops; a message extends the limit by as much as it was', async () => {
  const chat = await startAgent({
    replies: [step(1), step(2), step(3), { text: 'done' }],
    settings: { max_iterations: 2 },
    body: { initial_user_msg: 'go' },
  })
  await inState(chat, 'error')
  expect(await reasonOf(chat)).toBe(
    'RuntimeError: Agent reached maximum iteration. Current iteration: 2, max iteration: 2',
  )
  expect((await chat.events()).at(-2)).toMatchObject({
    observation: 'error',
    content: 'The limit of 2 answers is reached. Send a message to let the agent go on for 2 more.',
  })
  await chat.post('message', { content: 'go on' })
  await untilSaid(chat, 'done')
  const metrics = (await chat.events()).findLast((event) => 'llm_metrics' in event) as unknown as {
    llm_metrics: { accumulated_token_usage: Record<string, number> }
  }
  expect(metrics.llm_metrics.accumulated_token_usage).toMatchObject({
    prompt_tokens: 3100,
    completion_tokens: 320,
  })
})

test('a budget that is spent stops the agent; a message lets it spend as much again', async () => {
  const chat = await startAgent({
    replies: [step(1), step(2), { ...step(3), text: 'third' }, step(4), { text: 'not reached' }],
    settings: { max_budget_per_task: 1 },
    body: { initial_user_msg: 'go' },
  })
  await inState(chat, 'error')
  expect(await reasonOf(chat)).toBe(
    'RuntimeError: Agent reached maximum budget for conversation. Current budget: 1.0000, max budget: 1',
  )
  const advice = 'The budget of $1 is spent. Send a message to let the agent spend $1 more.'
  expect((await chat.events()).at(-2)).toMatchObject({ observation: 'error', content: advice })
  await chat.post('message', { content: 'go on' })
  await expect.poll(async () => (await chat.model.requests()).length).toBe(4)
  await inState(chat, 'error')
  expect(await reasonOf(chat)).toContain('Current budget: 2.0000, max budget: 2')
  expect((await chat.model.requests()).length).toBe(4)
})

test('a changed setting holds from the next step on', async () => {
  const chat = await startAgent({
    replies: [{ ...step(1), heldAfter: 0 }, step(2), { text: 'not reached' }],
    body: { initial_user_msg: 'go' },
  })
  await expect.poll(async () => (await chat.model.requests()).length).toBe(1)
  await chat.owner.ask('/api/settings', { method: 'POST', body: { confirmation_mode: true } })
  await chat.model.release()
  await inState(chat, 'awaiting_user_confirmation')
  const runs = (await chat.events()).filter(({ action }) => action === 'run')
  expect(runs.at(-1)?.args?.confirmation_state).toBe('awaiting_confirmation')
})

const FAILURES: readonly (readonly [name: string, reply: object, reason: RegExp])[] = [
  ['a key that is not valid', { status: 401 }, /^STATUS\$ERROR_LLM_AUTHENTICATION$/],
  [
    'no credits',
    { status: 429, body: { error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } } },
    /^STATUS\$ERROR_LLM_OUT_OF_CREDITS$/,
  ],
  ['a rate limit that does not end', { status: 429 }, /^CHAT_INTERFACE\$AGENT_RATE_LIMITED_STOPPED_MESSAGE$/],
  ['a server that does not come back', { status: 503 }, /^STATUS\$ERROR_LLM_SERVICE_UNAVAILABLE$/],
  ['an internal error of the vendor', { status: 500 }, /^STATUS\$ERROR_LLM_INTERNAL_SERVER_ERROR$/],
]

test.each(FAILURES)(
  '%s ends in an error state with its reason, and a sentence that says what to do',
  async (...row) => {
    const [, reply, reason] = row
    const chat = await startAgent({ replies: [], body: {} })
    await chat.model.set({ replies: [reply], atEnd: 'repeat' })
    await chat.post('message', { content: 'go' })
    await inState(chat, 'error')
    expect(await reasonOf(chat)).toMatch(reason)
    const told = (await chat.events()).findLast(({ observation }) => observation === 'error')
    expect(told?.content).toMatch(/^[A-Z].{20,}\.$/s)
    await chat.model.set({ replies: [{ text: 'back' }] })
    await chat.post('message', { content: 'again' })
    await untilSaid(chat, 'back')
  },
)

test('attempts are counted since the last progress: many failures with answers between them end nothing', async () => {
  const pair = [{ status: 503 }, { status: 503 }, step(0)]
  const chat = await startAgent({
    replies: [...pair, ...pair, ...pair, { text: 'the end' }].map((reply, n) => ('calls' in reply ? step(n) : reply)),
    body: { initial_user_msg: 'go' },
  })
  await untilSaid(chat, 'the end')
})

test('a context that is too long is shortened and the model asked again', async () => {
  const tooLong = {
    status: 400,
    body: { error: { code: 'context_length_exceeded', message: 'maximum context length' } },
  }
  const chat = await startAgent({
    replies: [step(1), step(2), step(3), tooLong, { text: 'shorter now' }],
    body: { initial_user_msg: 'the beginning' },
  })
  await untilSaid(chat, 'shorter now')
  const actions = (await chat.events()).map(({ action }) => action)
  expect(actions).toContain('condensation_request')
  expect(actions).toContain('condensation')
  const asked = (await chat.model.requests()).map(({ body }) => JSON.stringify(body))
  expect(asked.at(-1)?.length).toBeLessThan(asked.at(-2)?.length ?? 0)
  expect(asked.at(-1)).toContain('the beginning')
})

test('as many calls of one answer as are allowed run in order, and the model is told of the rest', async () => {
  const thoughts = Array.from({ length: 70 }, (_, n) => `t${n}`)
  const chat = await startAgent({
    replies: [{ calls: thoughts.map((thought) => ({ name: 'think', arguments: { thought } })) }, { text: 'enough' }],
    body: { initial_user_msg: 'go' },
  })
  await expect
    .poll(async () => (await chat.events('?limit=1&reverse=true'))[0]?.extras?.agent_state)
    .toBe('awaiting_user_input')
  const pages = await Promise.all(['?limit=100', '?limit=100&start_id=100'].map((query) => chat.events(query)))
  const thought = pages.flat().flatMap(({ action, args }) => (action === 'think' ? [args?.thought] : []))
  expect(thought).toEqual(thoughts.slice(0, 64))
  expect(JSON.stringify((await chat.model.requests()).at(-1)?.body)).toContain('the last 6 are left out')
})
