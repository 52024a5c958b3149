import { expect, test } from 'vitest'
import { startAgent } from '../helpers/agent.ts'
import { isInState } from '../helpers/conversation.ts'

const short = (event: { action?: string; observation?: string; source: string }) =>
  `${event.source}:${event.action ?? `=${event.observation}`}`

test('a model works through its tools to the end: every call is an action, every action is answered', async () => {
  const chat = await startAgent({
    replies: [
      {
        text: 'I look first.',
        calls: [
          { id: 'c1', name: 'execute_bash', arguments: { command: 'echo hello > a.txt && cat a.txt' } },
          { id: 'c2', name: 'think', arguments: { thought: 'so far so good' } },
        ],
        usage: { prompt: 100, completion: 20 },
      },
      { calls: [{ id: 'c3', name: 'finish', arguments: { message: 'Done: a.txt says hello.' } }] },
    ],
    body: { initial_user_msg: 'make a file' },
  })
  await expect.poll(async () => isInState(await chat.events(), 'finished')).toBe(true)
  const events = await chat.events()
  expect(events.map(short)).toEqual([
    'environment:=agent_state_changed',
    'agent:system',
    'user:message',
    'environment:change_agent_state',
    'user:recall',
    'environment:=agent_state_changed',
    'environment:=recall',
    'agent:run',
    'agent:=run',
    'agent:think',
    'agent:=think',
    'agent:finish',
    'environment:=agent_state_changed',
  ])
  const run = events[7]
  expect(run?.args).toMatchObject({ command: 'echo hello > a.txt && cat a.txt', thought: 'I look first.' })
  expect(run).toMatchObject({
    tool_call_metadata: { function_name: 'execute_bash', tool_call_id: 'c1', total_calls_in_response: 2 },
    llm_metrics: { accumulated_token_usage: { prompt_tokens: 100, completion_tokens: 20 } },
  })
  expect(events[8]).toMatchObject({ cause: 7, content: 'hello', tool_call_metadata: { tool_call_id: 'c1' } })
  const asked = await chat.model.requests()
  const second = asked.at(-1)?.body as { messages: { role: string; content: unknown; tool_call_id?: string }[] }
  expect(second.messages.map(({ role }) => role)).toEqual(['system', 'user', 'user', 'assistant', 'tool', 'tool'])
})
