import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agentMessage, condensation, runAction, userMessage } from '../../../src/agent/actions.ts'
import { LOOP_WINDOW, type LoopEntry, loopEntry, loopIn } from '../../../src/agent/context/limits.ts'
import type { NewEvent } from '../../../src/agent/events.ts'
import { errorObservation, runObservation } from '../../../src/agent/observations.ts'

/** The story of a turn, an event at a time, as the log would number it. */
class Story {
  readonly events: NewEvent[] = []

  add(...events: NewEvent[]): this {
    this.events.push(...events)
    return this
  }

  run(command: string, output: string, exitCode = 0): this {
    this.add(runAction('agent', command, { thought: `thought ${this.events.length}` }))
    const result = { command, output, exitCode, workingDir: '/workspace', hidden: false }
    return this.add(runObservation('agent', this.events.length - 1, result))
  }

  fails(command: string, error: string): this {
    this.add(runAction('agent', command))
    return this.add(errorObservation('agent', error, { cause: this.events.length - 1 }))
  }

  entries(): LoopEntry[] {
    let entries: LoopEntry[] = []
    for (const [id, event] of this.events.entries()) {
      const entry = loopEntry(event, id)
      if (entry === 'user') entries = []
      else if (entry !== null) entries.push(entry)
    }
    return entries
  }

  get loop() {
    return loopIn(this.entries())
  }
}

const times = (count: number, story: Story, step: (story: Story, i: number) => void) => {
  for (let i = 0; i < count; i++) step(story, i)
  return story
}
const forget = condensation({ ids: { start: 1, end: 2 }, summary: null })

test('each pattern is found at its length and not one step before', () => {
  const table: [number, string, (story: Story, i: number) => void][] = [
    [4, 'repeated-pair', (story) => story.run('ls', 'a')],
    // The time in the output makes no difference, nor does what the model thought.
    [4, 'repeated-pair', (story, i) => story.run('date', `10:0${i}`)],
    [3, 'repeated-error', (story, i) => story.fails('frob', `error ${i}`)],
    // A call that could not be made.
    [3, 'repeated-error', (story) => story.add(errorObservation('agent', 'There is no tool "x".'))],
    [3, 'monologue', (story) => story.add(agentMessage('Shall I go on?'))],
    [3, 'alternation', (story) => story.run('a', '1').run('b', '2', 1)],
    [10, 'condensation', (story) => story.add(forget)],
  ]
  for (const [count, pattern, step] of table) {
    expect([pattern, times(count - 1, new Story(), step).loop]).toEqual([pattern, null])
    expect([pattern, times(count, new Story(), step).loop]).toEqual([pattern, pattern])
  }
})

test('what differs, what the user said in between and what is hidden is no loop', () => {
  expect(times(8, new Story(), (story, i) => story.run('npm test', 'x', i)).loop).toBe(null)
  expect(times(8, new Story(), (story, i) => story.run(`cat ${i}`, 'x')).loop).toBe(null)
  expect(
    times(3, new Story(), (story) => story.run('ls', 'a'))
      .add(userMessage('go on', null, null))
      .run('ls', 'a').loop,
  ).toBe(null)
  const think = (thought: string): NewEvent => ({ source: 'agent', message: '', action: 'think', args: { thought } })
  expect(times(8, new Story(), (story, i) => story.add(think(`${i}`))).loop).toBe(null)
  expect(times(9, new Story(), (story) => story.add(runAction('agent', 'x', { hidden: true }))).loop).toBe(null)
  // The user's own commands, however often.
  expect(times(9, new Story(), (story) => story.add(runAction('user', 'ls'))).loop).toBe(null)
  const broken = errorObservation('agent', 'The answer broke off.', { errorId: 'AGENT_NOTE$USER_ONLY' })
  expect(times(9, new Story(), (story) => story.add(broken)).loop).toBe(null)
  expect(
    times(9, new Story(), (story) => story.add(forget))
      .run('a', '')
      .add(forget).loop,
  ).toBe(null)
})

test('several calls in one answer, whose observations come later, are paired by what they answer', () => {
  const story = new Story()
  for (let round = 0; round < 2; round++) {
    const at = story.events.length
    story.add(runAction('agent', 'ls'), runAction('agent', 'ls'))
    for (const cause of [at, at + 1]) {
      const result = { command: 'ls', output: 'a', exitCode: 0, workingDir: '/workspace', hidden: false }
      story.add(runObservation('agent', cause, result))
    }
  }
  expect(story.loop).toBe('repeated-pair')
})

test('only the last of a confirmed action counts, and the window is enough for every pattern', () => {
  const story = new Story()
  for (let i = 0; i < 3; i++) {
    const waiting = runAction('agent', 'ls')
    story.add({ ...waiting, args: { ...waiting.args, confirmation_state: 'awaiting_confirmation' } })
    story.run('ls', 'a')
  }
  expect(story.loop).toBe(null)
  expect(story.run('ls', 'a').loop).toBe('repeated-pair')
})

test('whatever came before, a repeated pair is found; and an agent that never repeats itself is never stopped', () => {
  const step = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(2))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), step, (before, [command, code]) => {
      const story = new Story()
      for (const [name, exitCode] of before) story.run(name, 'x', exitCode)
      times(4, story, () => story.run(command, 'x', code))
      expect(story.loop).not.toBe(null)
      expect(loopIn(story.entries().slice(-LOOP_WINDOW))).not.toBe(null)
    }),
  )
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { maxLength: 40 }), (commands) => {
      const story = new Story()
      for (const command of commands) {
        story.run(command, 'same')
        expect(story.loop).toBe(null)
      }
    }),
  )
})
