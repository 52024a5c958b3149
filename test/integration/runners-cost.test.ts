// What a command on a runner costs at a platform that counts messages and rows: the numbers that docs/runners.md reckons with.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { countRows } from '../helpers/counted-rows.ts'
import { lentConversation, outcome } from '../helpers/lent-conversation.ts'

type Cost = { messages: number; rows: number }

test('a command costs the messages and rows that the sums of the documents reckon with', async () => {
  const { chat, runner } = await lentConversation((call, tree) => {
    if (call.text === 'write') tree.set('made', { kind: 'file', text: String(call.key) })
    return { output: call.text === ':' ? '' : 'done\n' }
  })
  let commands = 0
  const run = async (command: string) => {
    await chat.post('run', { command })
    await outcome(chat, ++commands)
    await chat.settled()
  }
  await run(':')
  const rows = await countRows(conversation(env, chat.owner.owner, chat.id))
  const costOf = async (command: string): Promise<Cost> => {
    const before = { messages: runner.line?.sent ?? 0, rows: rows() }
    await run(command)
    return { messages: (runner.line?.sent ?? 0) - before.messages, rows: rows() - before.rows }
  }
  const costs = { empty: await costOf(':'), printing: await costOf('print'), writing: await costOf('write') }
  // The answer to its start, and its end; a frame of output; a transfer's begin and its frame.
  const messages = [costs.empty.messages, costs.printing.messages, costs.writing.messages]
  expect(messages).toEqual([2, 3, 5])
  for (const [{ rows: written }, most] of [
    [costs.empty, 20],
    [costs.printing, 25],
    [costs.writing, 45],
  ] as const) {
    expect(written).toBeGreaterThan(most / 3)
    expect(written).toBeLessThanOrEqual(most)
  }
})
