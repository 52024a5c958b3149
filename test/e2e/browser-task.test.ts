// The browser as an agent uses it: a service as `npm start` makes it, a runner with its sandbox, a real Chromium, a shop that
// runs in the workspace, and a model that goes by what it is shown.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test as plain } from 'vitest'
import { ROOT } from '../../scripts/start/paths.ts'
import { findChromium } from '../support/chromium.ts'
import { LentMachine, missingForBrowser } from '../support/lent-machine.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import type { ScriptedReply } from '../support/scripted-model-orders.ts'
import { openPage } from './browser.ts'
import { seriousFaults } from './person.ts'

const isMissing = missingForBrowser() !== null
const test = isMissing ? plain.skip : plain

let machine: LentMachine
let model: ScriptedModel
/** What the model says to each request, by the answers that it has given before and what it is shown. */
let steps: ((shown: string) => ScriptedReply)[] = []

beforeAll(async () => {
  if (isMissing) return
  model = await startScriptedModel({
    respond: ({ body, answersSoFar }) => (steps[answersSoFar] ?? (() => ({ text: 'at the end' })))(shownIn(body)),
  })
  machine = await LentMachine.start()
})
afterAll(async () => {
  await model?.close()
  await machine?.stop()
})

/** The newest result of a tool. */
function shownIn(body: unknown): string {
  const { messages } = body as { messages: { role: string; content: unknown }[] }
  return JSON.stringify(messages.findLast(({ role }) => role === 'tool')?.content ?? '')
}

const use = (...lines: string[]): ScriptedReply => ({
  calls: [{ id: `c${lines.join('').length}-${counter++}`, name: 'browser', arguments: { code: lines.join('\n') } }],
})
let counter = 0
/** The id of the element that has these words. */
const bid = (shown: string, words: string): string => {
  const found = new RegExp(`\\[(\\w+)\\] \\w+ \\\\"${words}`).exec(shown)
  return `'${found?.[1] ?? 'e0'}'`
}
const onElement = (what: (bid: string) => string, words: string) => (shown: string) => use(what(bid(shown, words)))
const click = (words: string) => onElement((id) => `click(${id})`, words)

async function shopIn(path: string): Promise<void> {
  const text = readFileSync(join(ROOT, 'test/support/loopback-shop.cjs')).toString('base64')
  const wait = 'until curl -so /dev/null localhost:3000; do :; done'
  const started = await machine.run(
    path,
    `echo ${text} | base64 -d > shop.cjs; node shop.cjs > shop.log 2>&1 & sleep 0; ${wait}; echo dear shop > letter.txt`,
  )
  expect(started.extras.metadata?.exit_code).toBe(0)
}

async function withModel(path: string, task: string): Promise<void> {
  const body = { llm_model: 'openai/scripted', llm_base_url: `${model.url}/shop/v1`, llm_api_key: 'sk-0123456789' }
  await machine.call('/api/settings', { method: 'POST', body })
  await machine.call(`${path}/events`, { method: 'POST', body: { action: 'message', args: { content: task } } })
}

const browsed = async (path: string) =>
  (await machine.events(path)).filter(
    ({ observation, action }) => observation === 'browse' || (observation === 'error' && action === undefined),
  )

test('a task of twelve steps in a shop: search, choose, dialog, tabs, back, invoice, upload, order; kills of service and runner', async () => {
  const path = await machine.conversation()
  await shopIn(path)
  steps = [
    () => use("goto('http://localhost:3000/')"),
    (shown) => use(`fill(${bid(shown, 'Search')}, 'blue')`, `click(${bid(shown, 'Find')})`),
    click('Blue chair'),
    (shown) => use(`select_option(${bid(shown, 'Colour')}, 'gloss')`, `click(${bid(shown, 'Gift wrap')})`),
    click('Add to cart'),
    onElement((id) => `dialog(True)\nclick(${id})`, 'Add to cart'),
    () => use('go_back()'),
    click('Terms of sale'),
    () => use('tab_close()'),
    () => use("goto('http://localhost:3000/cart')"),
    click('Check out'),
    (shown) =>
      use(`fill(${bid(shown, 'Name')}, 'Ann')`, `upload_file(${bid(shown, 'Letter')}, '/workspace/letter.txt')`),
    // The service is killed in this one.
    onElement((id) => `noop(3000)\nclick(${id})`, 'Order now'),
    click('Invoice'),
    () => ({ text: 'ordered' }),
  ]
  await withModel(path, 'Order a blue chair.')
  await expect
    .poll(async () => (await machine.events(path)).filter(({ action }) => action === 'browse_interactive').length)
    .toBe(13)
  await machine.restartService()
  await expect.poll(async () => (await machine.events(path)).some(({ message }) => message === 'ordered')).toBe(true)
  const seen = await browsed(path)
  expect(seen.map(({ extras }) => [extras.last_browser_action, extras.last_browser_action_error])).toEqual(
    seen.map(({ extras }) => [extras.last_browser_action, '']),
  )
  const contents = seen.map(({ content }) => content)
  expect(contents).toHaveLength(14)
  expect(contents[4]).toMatch(/dialog \(confirm\) that says "Put it into the cart\?"\. It was dismissed/)
  expect(contents[5]).toContain('Blue chair, gloss, gift')
  expect(contents[7]).toMatch(/\[Tab 1, the active one: http:\/\/localhost:3000\/terms\][\s\S]*returned within 30 days/)
  expect(contents[11]).toContain('Received 10 bytes')
  expect(contents[12]).toContain('Order 7 for Ann')
  expect(contents[13]).toContain('Downloaded to /workspace/downloads/invoice 7.pdf (27 bytes).')
  for (const { extras } of seen) {
    expect(extras).toMatchObject({ trigger_by_action: 'browse_interactive', error: false })
    for (const picture of [extras.screenshot, extras.set_of_marks]) {
      expect(picture).toMatch(/^data:image\/png;base64,iVBORw0KGgo/)
      expect(String(picture).length).toBeLessThan(700_100)
    }
  }
  expect(await machine.call(`${path}/select-file?file=${encodeURIComponent('downloads/invoice 7.pdf')}`)).toEqual({
    code: '%PDF-1.4 invoice of order 7',
  })
  await seenInConsole(path)
  // In the middle of an action the runner is killed: its outcome is unknown, and the browser a new one.
  const before = counter
  steps = [
    ...Array.from({ length: 15 }, () => () => ({ text: 'never asked' })),
    () => use('noop(10000)'),
    () => use("goto('http://localhost:3000/')"),
    () => ({ text: 'looked' }),
  ]
  await withModel(path, 'Look again.')
  await expect.poll(() => counter).toBe(before + 1)
  await expect
    .poll(async () => (await machine.events(path)).filter(({ action }) => action === 'browse_interactive').length)
    .toBe(15)
  // It is in the log before the runner has begun it, and what no runner has begun is begun by the next one.
  const journal = join(`${machine.folder}-copies`, path.split('/').at(-1) ?? '', 'journal', 'calls.jsonl')
  await expect.poll(() => readFileSync(journal, 'utf8').trimEnd().split('\n').at(-1)).toContain('"state":"started"')
  await machine.restartRunner()
  await expect.poll(async () => (await machine.events(path)).some(({ message }) => message === 'looked')).toBe(true)
  const [lost, again] = (await browsed(path)).slice(-2)
  expect([lost?.observation, lost?.content]).toEqual([
    'error',
    expect.stringMatching(/outcome is unknown|was lost while this ran/),
  ])
  expect(again?.content).toMatch(/^\[This is a new browser[\s\S]*Nothing listens there/)
})

/** The console shows the picture with the marks. */
async function seenInConsole(path: string): Promise<void> {
  const browser = findChromium()
  if (browser === null) return
  const { page, faults } = await openPage({
    browser,
    origin: machine.service.url,
    viewport: { width: 1280, height: 800 },
  })
  await page.goto(`${machine.service.url}/conversations/${path.split('/').at(-1)}`)
  const picture = page.getByRole('img', { name: 'Picture 1' }).last()
  await picture.waitFor()
  expect(await picture.evaluate((image) => (image instanceof HTMLImageElement ? image.naturalWidth : 0))).toBe(1280)
  expect(await seriousFaults(page)).toEqual([])
  expect(faults).toEqual([])
}
