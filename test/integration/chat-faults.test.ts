// A talk whose object goes away at any moment of a turn: its question is answered once, and the stream that waits is told.

import { abortAllDurableObjects, evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, inject, test } from 'vitest'
import { conversation, talkId } from '../../src/bindings.ts'
import { call, framesOf, lastOf, type Talker, talker } from '../helpers/chat.ts'

const asked = async ({ model }: Talker) => (await model.requests()).filter(({ method }) => method === 'POST').length
const texts = async (who: Talker) => (await who.messages()).map(({ role, content }) => [role, content])

const BY_HISTORY = [
  { calls: [call('get_quote', { code: '600519' })] },
  { calls: [call('get_daily_bars', { code: '600519', days: 5 }), call('list_reports', {})] },
  { text: 'the answer', chunkChars: 2, chunkDelayMs: 3 },
]

/** What has to have happened before the object goes away. */
const MOMENTS: [moment: string, (who: Talker) => Promise<unknown>][] = [
  ['as soon as the stream is open', async () => {}],
  ['when the model is asked first', (who) => expect.poll(() => asked(who), { interval: 2 }).toBeGreaterThan(0)],
  ['when it is asked again, with a result', (who) => expect.poll(() => asked(who), { interval: 2 }).toBeGreaterThan(1)],
  ['while it writes the answer', (who) => expect.poll(() => asked(who), { interval: 2 }).toBeGreaterThan(2)],
  [
    'when the answer is stored',
    (who) => expect.poll(async () => (await who.messages()).length, { interval: 2 }).toBe(2),
  ],
]

test('a turn that is killed at any moment gives its answer once, and the stream that waits ends with it', async () => {
  for (const [moment, reached] of inject('isProof') ? MOMENTS : MOMENTS.slice(2)) {
    const ann = await talker([])
    await ann.model.set({ replies: BY_HISTORY, by: 'history' })
    const response = await ann.post('600519?')
    const told = response.text()
    await reached(ann)
    await abortAllDurableObjects()
    expect([moment, lastOf(framesOf(await told))]).toEqual([
      moment,
      expect.objectContaining({ type: 'done', success: true, content: 'the answer' }),
    ])
    expect([moment, await texts(ann)]).toEqual([
      moment,
      [
        ['user', '600519?'],
        ['assistant', 'the answer'],
      ],
    ])
  }
})

test('a talk that was evicted or killed between two questions goes on where it was', async () => {
  const ann = await talker([{ text: 'first' }, { text: 'second' }, { text: 'third' }])
  await ann.chat('one')
  await evictDurableObject(conversation(env, ann.owner, await talkId(ann.owner, ann.session)))
  await ann.chat('two')
  await abortAllDurableObjects()
  expect(lastOf(await ann.chat('three'))).toMatchObject({ success: true, content: 'third' })
  expect((await texts(ann)).map(([, content]) => content)).toEqual(['one', 'first', 'two', 'second', 'three', 'third'])
})

test('a talk that is deleted while it is answered ends its stream, and no answer comes back to it', async () => {
  const ann = await talker([{ text: 'the answer', chunkChars: 1, heldAfter: 3 }])
  const response = await ann.post('go')
  await expect.poll(() => asked(ann)).toBe(1)
  expect(await ann.json(`/api/v1/agent/chat/sessions/${ann.session}`, { method: 'DELETE' })).toEqual({ deleted: 1 })
  await ann.model.release()
  expect(lastOf(framesOf(await response.text())).type).toBe('error')
  expect(await ann.messages()).toEqual([])
})

test('a model that makes hundreds of calls, broken and unknown ones among them, is told so, and the stream tells each', async () => {
  const many = [...Array(61).keys()].map((n) => call('list_reports', { limit: (n % 30) + 1 }))
  const odd = [
    { name: 'get_quote', arguments: '{"code": "600' },
    call('execute_bash', { command: 'rm -rf /' }),
    call('get_quote', { code: "600519'; DROP TABLE talk_turns; --" }),
    call('get_quote', { code: '600519' }),
    call('get_quote', { code: '600519' }),
  ]
  const ann = await talker([{ calls: [...odd, ...many] }, { text: 'the answer' }])
  const frames = framesOf(await (await ann.post('600519?')).text())
  expect(lastOf(frames)).toMatchObject({ type: 'done', success: true, content: 'the answer' })
  const of = (type: string) => frames.filter((frame) => frame.type === type)
  // 64 calls of an answer are run.
  expect([of('tool_start').length, of('tool_done').length]).toEqual([64, 64])
  expect(
    of('tool_done')
      .slice(0, 5)
      .map(({ tool, success }) => [tool, success]),
  ).toEqual([
    ['get_quote', false],
    ['execute_bash', false],
    ['get_quote', false],
    ['get_quote', true],
    ['get_quote', true],
  ])
  const ids = frames.filter(({ type }) => type === 'thinking').map(({ step }) => step)
  expect(ids).toEqual([1, 2])
})
