import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { StreamFrame } from '../../../src/agent/events.ts'
import { HIDDEN, Mask } from '../../../src/agent/masking.ts'
import { DeltaStream } from '../../../src/agent/model-step.ts'
import type { ModelDelta } from '../../../src/llm/model.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function stream() {
  const frames: StreamFrame[] = []
  const deltas = new DeltaStream(
    { stream: (frame) => void frames.push(frame), secrets: new Mask(['keyx']) },
    { answer: 3, attempt: 2 },
  )
  return { deltas, frames }
}

const text = (words: string): ModelDelta => ({ kind: 'text', text: words })
const frame = (delta: ModelDelta) => ({ type: 'delta', answer: 3, attempt: 2, ...delta })

test('the first piece leaves at once, what follows within 8 ms together, and after a pause the next one at once again', () => {
  const { deltas, frames } = stream()
  deltas.push(text('a'))
  expect(frames).toEqual([frame(text('a'))])
  deltas.push(text('b'))
  deltas.push(text('c'))
  vi.advanceTimersByTime(7)
  expect(frames.length).toBe(1)
  vi.advanceTimersByTime(1)
  expect(frames.slice(1)).toEqual([frame(text('bc'))])
  vi.advanceTimersByTime(100)
  deltas.push(text('d'))
  expect(frames.slice(2)).toEqual([frame(text('d'))])
  deltas.end()
  expect([deltas.text, deltas.shown, vi.getTimerCount(), frames.length]).toEqual(['abcd', 'abcd', 0, 3])
})

test('pieces of different kinds, and of different calls, stay apart and in order', () => {
  const call = (index: number, words: string): ModelDelta => ({
    kind: 'call',
    index,
    id: `c${index}`,
    name: 'run',
    text: words,
  })
  const { deltas, frames } = stream()
  deltas.push(text('a'))
  for (const delta of [text('b'), call(0, ''), call(0, '{'), call(0, '}'), call(1, ''), call(1, '[]')])
    deltas.push(delta)
  deltas.push(text('c'))
  deltas.end()
  expect(frames).toEqual([text('a'), text('b'), call(0, '{}'), call(1, '[]'), text('c')].map(frame))
  expect(deltas.text).toBe('abc')
})

test('a call is told of by its name as soon as it begins; a text without characters is not told', () => {
  const { deltas, frames } = stream()
  const begun: ModelDelta = { kind: 'call', index: 0, id: 'c', name: 'run', text: '' }
  deltas.push(begun)
  deltas.end()
  expect(frames).toEqual([frame(begun)])
  const other = stream()
  other.deltas.push(text(''))
  other.deltas.end()
  expect(other.frames).toEqual([])
})

test('a secret is found across the pieces of its own text only, and what was kept back is shown at the end', () => {
  const { deltas, frames } = stream()
  deltas.push(text('a k'))
  deltas.push({ kind: 'call', index: 0, id: 'c', name: 'run', text: 'eyx' })
  deltas.push(text('eyx b k'))
  deltas.end()
  expect(frames).toEqual(
    [
      text('a '),
      { kind: 'call', index: 0, id: 'c', name: 'run', text: 'eyx' } as const,
      text(`${HIDDEN} b `),
      text('k'),
    ].map(frame),
  )
  expect([deltas.text, deltas.shown]).toEqual(['a keyx b k', `a ${HIDDEN} b k`])
})
