import { expect, test } from 'vitest'
import { Outgoing } from '../../../durable-objects/conversation/sockets/outgoing.ts'
import type { StoredEvent } from '../../../src/agent/events.ts'

const eventOf = (id: number): StoredEvent => ({ id, kind: 'action:message', source: 'user', text: `{"id":${id}}` })

/** What was sent, frame by frame, while each frame has to be followed by so long a wait. */
function outgoing(waitMs: number) {
  const sent: (number | string)[][] = []
  const way = new Outgoing({
    send: (events) => {
      sent.push(events.map(({ id }) => id))
      return waitMs
    },
  })
  const say = (text: string) => way.after(() => sent.push([text]))
  return { sent, say, add: (...ids: number[]) => way.add(ids.map(eventOf)), flush: () => way.flush() }
}

test('events go at once while the owner keeps to his share, and so does what comes after them', () => {
  const { sent, say, add } = outgoing(0)
  add(0, 1)
  say('ack')
  add(2)
  expect(sent).toEqual([[0, 1], ['ack'], [2]])
})

test('beyond it they go together after a wait, in order, with what belongs behind them', async () => {
  const { sent, say, add } = outgoing(1)
  add(0)
  say('at once')
  add(1)
  say('behind 1')
  add(2, 3)
  say('behind 3')
  expect(sent).toEqual([[0], ['at once']])
  await expect.poll(() => sent.length).toBe(5)
  expect(sent.slice(2)).toEqual([[1, 2, 3], ['behind 1'], ['behind 3']])
})

test('what must come after them sends them first, and more than so many do not wait', () => {
  const { sent, add, flush } = outgoing(60_000)
  add(0)
  add(1)
  flush()
  flush()
  for (let id = 2; id < 600; id++) add(id)
  expect(sent.slice(0, 2)).toEqual([[0], [1]])
  expect(sent[2]).toHaveLength(501)
  expect(sent).toHaveLength(3)
})
