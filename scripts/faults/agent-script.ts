// What the scripted model does with a task. A task has a name; each call in its plan leaves a token behind that no other
// call leaves, so that whatever runs twice can be counted. The answer follows from the history alone, so a question that is
// asked again is answered the same; how the answer comes, and whether, is left to chance.

import type { ScriptedCall, ScriptedReply } from '../../test/support/scripted-model-orders.ts'

export type Task = { name: string; steps: number }

const TASK = /Task (\S+) has (\d+) steps/

export const taskText = ({ name, steps }: Task): string => `Task ${name} has ${steps} steps. Begin.`

/** Where the tokens go. */
export const PLACES = ['tokens.txt', 'notes.txt', 'commits'] as const
export type TokenTarget = (typeof PLACES)[number]

type Planned = { token: string; place: TokenTarget; call: ScriptedCall }

type Body = { messages?: { role: string; content?: unknown }[]; tools?: unknown[] }

/** The answer that the history calls for. */
export function answerTo(body: unknown): ScriptedReply {
  const { messages = [], tools } = body as Body
  if (tools === undefined) return { text: 'The earlier tasks were done.' }
  const at = messages.findLastIndex(({ role, content }) => role === 'user' && TASK.test(JSON.stringify(content)))
  const [, name = '', steps = '0'] = TASK.exec(JSON.stringify(messages[at]?.content ?? '')) ?? []
  const step = messages.slice(at + 1).filter(({ role }) => role === 'assistant').length
  if (step < Number(steps)) {
    const calls = plan(name, step).map(({ call }) => call)
    return { text: `Step ${step} of ${name} is under way. ${'More words. '.repeat(step * 3)}`, calls }
  }
  const message = `Task ${name} is done.`
  return Number(steps) % 2 === 0 ? { text: message } : { calls: [{ name: 'finish', arguments: { message } }] }
}

/** The calls of one step. */
export function plan(name: string, step: number): Planned[] {
  const token = (call: number) => `${name}.${step}.${call}`
  const bash = (call: number, after = ''): Planned => {
    const command = `echo ${token(call)} >> /workspace/tokens.txt${after}`
    return { token: token(call), place: 'tokens.txt', call: { name: 'execute_bash', arguments: { command } } }
  }
  switch (step % 5) {
    case 0:
      return [bash(0)]
    case 1:
      return [bash(0), bash(1, '; sleep 0.1')]
    case 2: {
      const args = { command: 'insert', path: '/workspace/notes.txt', insert_line: 0, new_str: `${token(0)}\n` }
      return [{ token: token(0), place: 'notes.txt', call: { name: 'str_replace_editor', arguments: args } }]
    }
    case 3:
      return [bash(0, '; for i in 1 2 3; do echo $i; sleep 0.1; done')]
    default: {
      const command = `cd /workspace && git add -A && git commit -q -m ${token(0)}`
      return [{ token: token(0), place: 'commits', call: { name: 'execute_bash', arguments: { command } } }]
    }
  }
}

/** All that a task is to leave behind. */
export function planned({ name, steps }: Task): Planned[] {
  return Array.from({ length: steps }, (_, step) => plan(name, step)).flat()
}

export type Mishap = 'none' | 'slow' | 'rate limit' | 'server error' | 'cut off' | 'silent end'

/** The same answer with a random fault. */
export function onABadDay(reply: ScriptedReply, random: () => number): { reply: ScriptedReply; mishap: Mishap } {
  const dice = random()
  if (dice < 0.08) return { reply: { status: 429, headers: { 'retry-after-ms': '80' } }, mishap: 'rate limit' }
  if (dice < 0.16) return { reply: { status: dice < 0.12 ? 500 : 529 }, mishap: 'server error' }
  const breakAfter = Math.floor(random() * 8)
  if (dice < 0.24) {
    return { reply: { ...reply, breakAfter, breakHow: dice < 0.2 ? 'reset' : 'half' }, mishap: 'cut off' }
  }
  if (dice < 0.28) return { reply: { ...reply, breakAfter, breakHow: 'end' }, mishap: 'silent end' }
  const slow = { firstDelayMs: Math.floor(random() * 200), chunkDelayMs: 5 + Math.floor(random() * 30) }
  if (dice < 0.5) return { reply: { ...reply, ...slow }, mishap: 'slow' }
  return { reply, mishap: 'none' }
}
