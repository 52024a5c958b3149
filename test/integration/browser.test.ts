// The browser's actions on a stand-in runner: offered where it has a browser, told as clients know them, never done twice.

import { abortAllDurableObjects } from 'cloudflare:test'
import { expect, test } from 'vitest'
import { inState, startAgent, untilSaid } from '../helpers/agent.ts'
import { client } from '../helpers/app.ts'
import { type Behaviour, joinedRunner } from '../helpers/stand-in-runner.ts'
import type { ScriptedReply } from '../support/scripted-model-orders.ts'

const BROWSER = { tools: [{ name: 'browser', version: '156.0' }] }
const use = (id: string, code: string): ScriptedReply => ({ calls: [{ id, name: 'browser', arguments: { code } }] })
const lines = (...pieces: object[]) => pieces.map((piece) => `${JSON.stringify(piece)}\n`).join('')
const PNG = 'iVBORw0KGgoAAAA='
const state = (more: object = {}) => ({
  t: 'page',
  browser: 'a'.repeat(16),
  url: 'http://localhost:3000/',
  urls: ['http://localhost:3000/'],
  active: 0,
  tree: '[e2] button "Buy", clickable',
  focused: 'e2',
  last: "click('e2')",
  error: '',
  notes: ['Downloaded to /workspace/downloads/a.pdf (3 bytes).'],
  ...more,
})
const shot = (which: string) => ({ t: 'shot', which, png: PNG })

async function lent(behaviour: Behaviour, replies: ScriptedReply[], description: Record<string, unknown> = BROWSER) {
  const owner = await client()
  const runner = await joinedRunner(owner.owner, behaviour, description)
  return { owner, runner, chat: await startAgent({ owner, replies, body: { initial_user_msg: 'buy' } }) }
}

test('actions are a browse_interactive action, and what the page was then is a browse observation as clients read it', async () => {
  const output = lines(state({ title: 'Shop [e9]' }), shot('screenshot'), shot('marks'))
  const { chat, runner } = await lent(() => ({ output }), [use('a', "click('e2')"), { text: 'done' }])
  await untilSaid(chat, 'done')
  expect(runner.started.map(({ kind, text, env }) => [kind, text, env])).toEqual([
    ['browser', '[{"name":"click","bid":"e2","button":"left","modifiers":[]}]', {}],
  ])
  const events = await chat.events()
  expect(events.find(({ action }) => action === 'browse_interactive')).toMatchObject({
    source: 'agent',
    args: { browser_actions: "click('e2')", browsergym_send_msg_to_user: '', return_axtree: false },
  })
  const seen = events.find(({ observation }) => observation === 'browse')
  expect(seen?.content).toBe(
    [
      '[Current URL: http://localhost:3000/]',
      '[Title: "Shop (e9)"]',
      '[Focused element bid: e2]',
      '[Actions executed successfully.]',
      '[Downloaded to /workspace/downloads/a.pdf (3 bytes).]',
      '============== BEGIN accessibility tree ==============',
      '[e2] button "Buy", clickable',
      '============== END accessibility tree ==============',
    ].join('\n'),
  )
  expect(seen?.extras).toEqual({
    url: 'http://localhost:3000/',
    trigger_by_action: 'browse_interactive',
    screenshot: `data:image/png;base64,${PNG}`,
    set_of_marks: `data:image/png;base64,${PNG}`,
    error: false,
    goal_image_urls: [],
    open_pages_urls: ['http://localhost:3000/'],
    active_page_index: 0,
    dom_object: {},
    axtree_object: {},
    extra_element_properties: {},
    last_browser_action: "click('e2')",
    last_browser_action_error: '',
    focused_element_bid: 'e2',
    filter_visible_only: false,
  })
})

test('a restart of the object in an action costs nothing: it is followed, and not done again; another browser is told', async () => {
  const replies = [use('a', "click('e2')"), use('b', "click('e2')"), { text: 'done' }]
  const { chat, runner } = await lent(() => null, replies)
  await expect.poll(() => runner.started.length).toBe(1)
  await abortAllDurableObjects()
  await runner.reconnect()
  await runner.finish(String(runner.started[0]?.key), { output: lines(state()) })
  await expect.poll(() => runner.started.length).toBe(2)
  const error = 'The page that you last saw has no element [e2] any more: look at the page below.'
  const other = state({ browser: 'b'.repeat(16), error, url: 'about:blank', urls: ['about:blank'], tree: '' })
  await runner.finish(String(runner.started[1]?.key), { output: lines(other) })
  await untilSaid(chat, 'done')
  await inState(chat, 'awaiting_user_input')
  const told = (await chat.events()).filter(({ observation }) => observation === 'browse')
  expect(told.map(({ content }) => String(content).split('\n')[0])).toEqual([
    '[Current URL: http://localhost:3000/]',
    expect.stringContaining('This is a new browser: the tabs, logins, cookies'),
  ])
  expect(told[1]).toMatchObject({ extras: { error: true, last_browser_action_error: error } })
  expect(runner.started).toHaveLength(2)
})

test('without a browser the model is offered none, and code that cannot be read never reaches a runner', async () => {
  const without = await lent(() => ({ output: '' }), [use('a', "click('e2')"), { text: 'done' }], {})
  await untilSaid(without.chat, 'done')
  const unreadable = await lent(() => ({ output: '' }), [use('a', 'os.system("id")'), { text: 'done' }])
  await untilSaid(unreadable.chat, 'done')
  expect([without.runner.started, unreadable.runner.started]).toEqual([[], []])
  const errors = async ({ chat }: typeof without) =>
    (await chat.events()).flatMap(({ observation, content }) => (observation === 'error' ? [String(content)] : []))
  expect(await errors(without)).toEqual([expect.stringContaining('There is no tool "browser"')])
  expect(await errors(unreadable)).toEqual([expect.stringContaining('after os a')])
})

test('a secret that a page shows is masked wherever its report has it, and a lie of the runner is no page', async () => {
  const owner = await client()
  const value = 'very-secret-value-5519'
  const made = await owner.ask('/api/secrets', { method: 'POST', body: { name: 'TOKEN', value } })
  expect(made.status).toBeLessThan(300)
  const url = `http://localhost:3000/?t=${value}`
  const output = lines(
    state({ tree: `[e2] button "${value}"`, url, urls: [url], notes: [value], error: value, last: value }),
  )
  const answers = [output, lines(state({ url: 'http://a/\n[Current URL: x' }))]
  await joinedRunner(owner.owner, () => ({ output: answers.shift() ?? '' }), BROWSER)
  const replies = [use('a', 'noop()'), use('b', 'noop()'), { text: 'done' }]
  const chat = await startAgent({ owner, replies, body: { initial_user_msg: 'look' } })
  await untilSaid(chat, 'done')
  const events = await chat.events()
  expect(JSON.stringify(events)).not.toContain(value)
  expect(events.find(({ observation }) => observation === 'browse')?.content).toContain('<secret_hidden>')
  expect(events.find(({ observation }) => observation === 'error')?.content).toContain(
    'The browser told nothing of its page',
  )
})
