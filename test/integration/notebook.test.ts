// Cells of a notebook on a stand-in runner: offered where it has a kernel, told as clients know them, and never run twice.

import { abortAllDurableObjects } from 'cloudflare:test'
import { expect, test } from 'vitest'
import { inState, startAgent, untilSaid } from '../helpers/agent.ts'
import { client } from '../helpers/app.ts'
import { type Behaviour, joinedRunner } from '../helpers/stand-in-runner.ts'
import type { ScriptedReply } from '../support/scripted-model-orders.ts'

const KERNEL = { tools: [{ name: 'ipykernel', version: '6.17.0' }] }
const cell = (id: string, args: Record<string, unknown>): ScriptedReply => ({
  calls: [{ id, name: 'execute_ipython_cell', arguments: args }],
})
const lines = (...pieces: object[]) => pieces.map((piece) => `${JSON.stringify(piece)}\n`).join('')

async function lent(behaviour: Behaviour, replies: ScriptedReply[], description: Record<string, unknown> = KERNEL) {
  const owner = await client()
  const runner = await joinedRunner(owner.owner, behaviour, description)
  return { owner, runner, chat: await startAgent({ owner, replies, body: { initial_user_msg: 'plot' } }) }
}

test('a cell is a run_ipython action, and its outcome has the pictures as the notebook of a client reads them', async () => {
  const picture = { t: 'picture', mime: 'image/png', data: 'iVBORw0KGgo=' }
  const output = lines({ t: 'text', text: '\u001b[0;31m21\u001b[0m\n' }, picture, {
    t: 'picture',
    mime: 'image/png',
    data: 'no base64!',
  })
  const { chat, runner } = await lent(() => ({ output }), [cell('a', { code: 'x + 1' }), { text: 'done' }])
  await untilSaid(chat, 'done')
  expect(runner.started.map(({ kind, text }) => [kind, text])).toEqual([['cell', 'x + 1']])
  const events = await chat.events()
  expect(events.find(({ action }) => action === 'run_ipython')).toMatchObject({
    message: 'Running Python code interactively: x + 1',
    args: { code: 'x + 1', include_extra: true, kernel_init_code: '' },
  })
  expect(events.find(({ observation }) => observation === 'run_ipython')).toMatchObject({
    content:
      '21\n[picture 1 of 1]\n[Jupyter current working directory: /workspace]\n[Jupyter Python interpreter: /usr/bin/python3]',
    extras: { code: 'x + 1', image_urls: ['data:image/png;base64,iVBORw0KGgo='] },
    success: true,
  })
})

test('a restart of the object in a cell costs nothing: it is followed, and not begun again', async () => {
  const { chat, runner } = await lent(() => null, [cell('a', { code: 'slow()' }), { text: 'done' }])
  await expect.poll(() => runner.started.length).toBe(1)
  const key = String(runner.started[0]?.key)
  runner.output(key, lines({ t: 'text', text: 'one ' }))
  await expect.poll(() => runner.acks).toContain(`output:${key} 0`)
  await abortAllDurableObjects()
  await runner.reconnect()
  await runner.finish(key, { output: lines({ t: 'text', text: 'two' }) })
  await untilSaid(chat, 'done')
  await inState(chat, 'awaiting_user_input')
  const told = (await chat.events()).filter(({ observation }) => observation === 'run_ipython')
  expect(told.map(({ content }) => String(content).split('\n')[0])).toEqual(['one two'])
  expect(runner.started).toHaveLength(1)
})

test('a cell that still runs says how to go on, and arguments of the kernel are its kinds of call', async () => {
  const behaviour: Behaviour = ({ kind }) => (kind === 'cell' ? { state: 'quiet', exitCode: -1 } : { output: '' })
  const replies = [
    cell('a', { code: 'slow()' }),
    cell('b', { code: '', kernel: 'interrupt' }),
    cell('c', { code: 'y', kernel: 'restart' }),
  ]
  const { chat, runner } = await lent(behaviour, [...replies, { text: 'done' }])
  await untilSaid(chat, 'done')
  expect(runner.started.map(({ kind }) => kind)).toEqual(['cell', 'interrupt', 'restart'])
  const told = (await chat.events()).flatMap(({ observation, content }) =>
    observation === 'run_ipython' ? [String(content)] : [],
  )
  expect(told[0]).toContain('kernel="interrupt"')
  // It has not come to its end, so it is not called successful.
  expect(told.map((text) => text.includes('executed successfully'))).toEqual([false, true, true])
})

test('a kernel that a machine cannot have told of, as it was started anew or is another one, is told', async () => {
  const kernels = [
    { id: 'a'.repeat(16), isFirst: true },
    { id: 'a'.repeat(16), isFirst: true },
    { id: 'b'.repeat(16), isFirst: true },
    // The machine has told why itself.
    { id: 'c'.repeat(16), isFirst: false },
  ]
  const behaviour: Behaviour = () => ({
    output: lines({ t: 'kernel', ...kernels.shift() }, { t: 'text', text: 'out' }),
  })
  const replies = ['1', '2', '3', '4'].map((code) => cell(code, { code }))
  const { chat } = await lent(behaviour, [...replies, { text: 'done' }])
  await untilSaid(chat, 'done')
  const told = (await chat.events()).flatMap(({ observation, content }) =>
    observation === 'run_ipython' ? [String(content).split('\n')[0]] : [],
  )
  expect(told).toEqual(['out', 'out', expect.stringMatching(/^\[This is a new kernel: .* all variables/), 'out'])
})

test('without a kernel the model is offered no notebook', async () => {
  const { chat, runner } = await lent(() => ({ output: '' }), [cell('a', { code: '1' }), { text: 'done' }], {})
  await untilSaid(chat, 'done')
  expect(runner.started).toEqual([])
  const errors = (await chat.events()).flatMap(({ observation, content }) =>
    observation === 'error' ? [String(content)] : [],
  )
  expect(errors).toEqual([expect.stringContaining('There is no tool "execute_ipython_cell"')])
})

test('a secret that a notebook prints is masked in its outcome', async () => {
  const owner = await client()
  const value = 'very-secret-value-8842'
  const made = await owner.ask('/api/secrets', {
    method: 'POST',
    body: { name: 'TOKEN', value },
  })
  expect(made.status).toBeLessThan(300)
  const behaviour: Behaviour = ({ env: given }) => ({ output: lines({ t: 'text', text: `got ${given.TOKEN}` }) })
  await joinedRunner(owner.owner, behaviour, KERNEL)
  const replies = [cell('a', { code: 'import os; print(os.environ["TOKEN"])' }), { text: 'done' }]
  const chat = await startAgent({ owner, replies, body: { initial_user_msg: 'print' } })
  await untilSaid(chat, 'done')
  const told = (await chat.events()).find(({ observation }) => observation === 'run_ipython')
  expect(String(told?.content)).toMatch(/^got /)
  expect(JSON.stringify(await chat.events())).not.toContain(value)
})
