// The way of a newcomer: what is missing, the settings, a first answer of a model, the other language.

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'
import { startScriptedModel } from '../support/scripted-model.ts'
import { browserOr, openPage, overflowOf } from './browser.ts'

const DESKTOP = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 800 }
/** What the person who runs the tests has set must not decide them. */
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))

const ANSWER = [
  'It is **done**. See [the page](https://example.com/) and not [this](javascript:alert(1)).',
  '',
  '1. `one`',
  '2. two',
  '',
  '```ts',
  'const answer = 42',
  '```',
  '',
  '<img src=x onerror=alert(1)>',
].join('\n')

async function opened(skip: (note: string) => never, env: Record<string, string> = {}) {
  const browser = browserOr(skip)
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-settings-'))
  const service = await startService({ stateDir, env: { ...CLEAN, MARKET_DATA: 'sample', ...env } })
  onTestFinished(async () => {
    await service.stop()
    rmSync(stateDir, { recursive: true, force: true })
  })
  return { service, ...(await openPage({ browser, origin: service.url, viewport: DESKTOP })) }
}

/** Lets acknowledgements of messages wait on their way to the page. */
async function heldAcknowledgements(page: Page) {
  let held: (() => void)[] | null = null
  const came = Promise.withResolvers<void>()
  await page.routeWebSocket(/\/ws\?after=/, (socket) => {
    socket.connectToServer().onMessage((message) => {
      if (held === null || !String(message).startsWith('{"type":"ack"')) return socket.send(message)
      held.push(() => socket.send(message))
      came.resolve()
    })
  })
  return {
    hold: () => {
      held = []
    },
    release: async () => {
      await came.promise
      for (const pass of held ?? []) pass()
      held = null
    },
  }
}

const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click()
const saved = (page: Page) => page.getByRole('status').getByText('Saved.', { exact: true }).waitFor()

test('a newcomer is told what is missing, tests and stores a model, and reads its Markdown as what it means', async ({
  skip,
}) => {
  const { service, page, faults } = await opened(skip)
  const model = await startScriptedModel()
  onTestFinished(() => model.close())
  model.setScript('first', { replies: [{ text: 'ready' }, { text: ANSWER }] })
  await page.goto(service.url)
  await page.getByText('No model is chosen').waitFor()
  await watchExample(page)
  await page.getByRole('link', { name: 'Choose a model' }).click()

  await page.getByLabel('Model', { exact: true }).fill('openai/gpt-5')
  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByRole('alert').getByText('needs an API key').waitFor()
  await page.getByLabel('Model', { exact: true }).fill('openai/scripted')
  await page.getByLabel('API key').fill('sk-0123456789')
  await page.getByLabel('Address of the model server').fill(`${model.url}/first/v1`)
  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByText(/openai\/scripted answered after \d/).waitFor()
  await save(page)
  await saved(page)
  await page.reload()
  expect(await page.getByLabel('Model', { exact: true }).inputValue()).toBe('openai/scripted')
  expect(await page.getByLabel('API key').inputValue()).toBe('')
  await page.getByPlaceholder('A key is stored').waitFor()

  await page.getByRole('link', { name: 'Conversations' }).click()
  await page.getByLabel('First message').fill('do it')
  await page.getByRole('button', { name: 'Start a conversation' }).click()
  const log = page.getByRole('log')
  await log.locator('strong', { hasText: 'done' }).waitFor({ timeout: 60_000 })
  await log.locator('.code .hljs-keyword', { hasText: 'const' }).waitFor()
  expect(await log.locator('ol > li').allTextContents()).toEqual(['one', 'two'])
  expect(await log.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href')))).toEqual([
    'https://example.com/',
  ])
  await log.getByText('<img src=x onerror=alert(1)>').waitFor()
  expect(await page.locator('img').count()).toBe(0)
  expect(faults).toEqual([])
})

/** Plays without a model; its panels stand one at a time, and there is a copy to keep. */
async function watchExample(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Watch an example' }).click()
  await page.getByRole('log').getByText('The median is right now.').waitFor({ timeout: 60_000 })
  await page.getByRole('log').locator('.edit .diff-line.added[data-line="3"]').waitFor()
  await page.getByRole('button', { name: 'History' }).click()
  await page.getByRole('button', { name: 'Share' }).click()
  expect(await page.getByRole('region', { name: 'History' }).count()).toBe(0)
  const copy = await page.getByRole('link', { name: 'Events as JSON' }).getAttribute('href')
  expect(JSON.stringify(await (await page.request.get(new URL(copy ?? '', page.url()).href)).json())).toContain(
    'Sort numbers as numbers',
  )
  await page.keyboard.press('Escape')
  await page.getByRole('region', { name: 'Share' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'All conversations' }).click()
  // What was deleted goes although the list is left before the time to take it back is over.
  await page.getByRole('button', { name: /^Delete/ }).click()
}

test('an edit is a diff, a command shows what it prints while it runs, and a conversation is renamed, paused and deleted', async ({
  skip,
}) => {
  const { service, page, faults } = await opened(skip)
  const model = await startScriptedModel()
  onTestFinished(() => model.close())
  const edit = { command: 'create', path: '/workspace/a.ts', file_text: 'const a = 1\nconst b = 2\n' }
  const change = { command: 'str_replace', path: '/workspace/a.ts', old_str: 'const b = 2', new_str: 'const b = 3' }
  const slow = 'echo begun; until [ -e go ]; do sleep 0.2; done; echo over'
  model.setScript('cards', {
    replies: [
      { calls: [{ id: '1', name: 'str_replace_editor', arguments: edit }] },
      { calls: [{ id: '2', name: 'str_replace_editor', arguments: change }] },
      { calls: [{ id: '3', name: 'execute_bash', arguments: { command: slow } }] },
      { text: `all done\n\n${'a line\n\n'.repeat(80)}` },
    ],
  })
  const post = (path: string, body: object) =>
    page.request.post(`${service.url}${path}`, { data: body }).then((reply) => expect(reply.ok()).toBe(true))
  await post('/api/settings', { llm_model: 'openai/x', llm_base_url: `${model.url}/cards/v1`, llm_api_key: 'k' })
  await page.goto(service.url)
  await page.getByLabel('First message').fill('edit it')
  await page.getByRole('button', { name: 'Start a conversation' }).click()
  const log = page.getByRole('log')
  await log.locator('.edit .diff-line.added', { hasText: 'const b = 3' }).waitFor({ timeout: 60_000 })
  const changed = log.locator('.edit').nth(1)
  expect(await changed.locator('.diff-line.removed').allTextContents()).toEqual(['-const b = 2\n'])
  await changed.getByRole('button', { name: 'Side by side' }).click()
  const cell = changed.locator('td.added', { hasText: 'const b = 3' })
  expect(await cell.evaluate((one) => [getComputedStyle(one).textAlign, one.getAttribute('data-line')])).toEqual([
    'start',
    '2',
  ])

  await log.locator('.live', { hasText: 'begun' }).waitFor({ timeout: 60_000 })
  // Whoever comes in the middle of a command is told what it has printed so far.
  await page.reload()
  await log.locator('.live', { hasText: 'begun' }).waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Go on' }).click()
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  const form = { files: { name: 'go', mimeType: 'text/plain', buffer: Buffer.from('x') } }
  await page.request.post(`${service.url}/api/conversations/${id}/upload-files`, { multipart: form })
  await log.getByText('all done').waitFor({ state: 'attached', timeout: 60_000 })
  // A long answer that comes at once is drawn only where it is seen: its end is to be.
  await expect.poll(() => log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)).toBeLessThan(2)
  expect(await log.locator('.live').count()).toBe(0)

  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByLabel('Title').fill('The edit')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'The edit' }).waitFor()
  await page.getByRole('link', { name: 'All conversations' }).click()
  await page.getByRole('button', { name: 'Delete “The edit”' }).click()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('link', { name: /The edit/ }).waitFor()
  await page.getByRole('button', { name: 'Delete “The edit”' }).click()
  await page.getByText('None yet.').waitFor({ timeout: 30_000 })
  await expect
    .poll(async () => (await page.request.get(`${service.url}/api/conversations/${id}`)).json(), { timeout: 30_000 })
    .toBeNull()
  expect(faults).toEqual([])
})

test('a confirmation waits in the title, is answered by the keyboard, and a pasted picture goes with a message', async ({
  skip,
}) => {
  const { service, page, faults } = await opened(skip)
  const model = await startScriptedModel()
  onTestFinished(() => model.close())
  const call = (id: string, command: string) => ({ calls: [{ id, name: 'execute_bash', arguments: { command } }] })
  model.setScript('ask', {
    replies: [
      call('1', 'echo allowed > yes.txt; cat yes.txt'),
      call('2', 'echo refused > no.txt'),
      { text: 'as you wish' },
    ],
  })
  const settings = {
    llm_model: 'openai/x',
    llm_base_url: `${model.url}/ask/v1`,
    llm_api_key: 'k',
    confirmation_mode: true,
  }
  expect((await page.request.post(`${service.url}/api/settings`, { data: settings })).ok()).toBe(true)
  const acknowledgements = await heldAcknowledgements(page)
  await page.goto(service.url)
  await page.getByLabel('First message').fill('do both')
  await page.getByRole('button', { name: 'Start a conversation' }).click()
  const asked = page.getByRole('group', { name: /^May this action run/ })
  await asked.getByText('echo allowed > yes.txt').waitFor({ timeout: 60_000 })
  await expect.poll(() => page.title()).toMatch(/^⚠ /)
  expect(await page.locator('link[rel="icon"]').getAttribute('href')).toBe('/favicon-waiting.svg')
  await page.keyboard.press('Alt+y')
  await page.getByRole('log').locator('.output', { hasText: 'allowed' }).waitFor()
  await asked.getByText('echo refused > no.txt').waitFor()
  await page.keyboard.press('Alt+n')
  await asked.waitFor({ state: 'detached' })
  await page.getByRole('log').locator('article', { hasText: 'no.txt' }).getByText('You rejected it.').waitFor()
  await expect.poll(() => page.title()).not.toMatch(/⚠/)
  expect(await page.getByRole('log').locator('.output', { hasText: 'refused' }).count()).toBe(0)

  await page.getByLabel('Message', { exact: true }).evaluate(pastePicture)
  await page.locator('.attached img').waitFor()
  await page.getByLabel('Message', { exact: true }).fill('look at this')
  acknowledgements.hold()
  await page.getByLabel('Message', { exact: true }).press('Enter')
  const sent = page.getByRole('log').locator('article', { hasText: 'look at this' })
  await sent.locator('time').waitFor()
  await sent.locator('img').waitFor()
  // The event is there and its acknowledgement is not: the message stands once all the same, and after it too.
  expect(await sent.count()).toBe(1)
  await acknowledgements.release()
  expect(await sent.count()).toBe(1)
  expect(await page.locator('.attached').count()).toBe(0)

  // A limit that is reached is told with the seconds until it is over.
  await page.route('**/api/conversations?limit=20', (route) =>
    route.fulfill({ status: 429, headers: { 'retry-after': '2' }, json: { detail: 'Too many requests' } }),
  )
  await page.getByRole('link', { name: 'All conversations' }).click()
  await page.getByText(/The service answers again in [12] s\./).waitFor()
  await page.unroute('**/api/conversations?limit=20')
  await page.getByText('The service answers again').waitFor({ state: 'detached' })
  expect(faults.filter((fault) => !/status of 429/.test(fault))).toEqual([])
})

/** A picture of one pixel, as the clipboard has it. */
function pastePicture(box: Element): void {
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const bytes = Uint8Array.from(atob(pixel), (letter) => letter.charCodeAt(0))
  const clipboardData = new DataTransfer()
  clipboardData.items.add(new File([bytes], 'pixel.png', { type: 'image/png' }))
  box.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
}

test('every page of the settings opens in both languages and widths, and what is changed there is stored', async ({
  skip,
}) => {
  const received: string[] = []
  const sink = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (text: string) => received.push(text))
    request.on('end', () => response.setHeader('content-type', 'application/json').end('{"ok":true}'))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    sink.closeAllConnections()
    sink.close()
  })
  await once(sink, 'listening')
  const hook = `http://127.0.0.1:${(sink.address() as AddressInfo).port}/hook`
  const { service, page, faults } = await opened(skip, { ALLOW_PRIVATE_NETWORK: '127.0.0.1' })
  await page.goto(`${service.url}/settings/agent`)
  await page.getByLabel('Ask me before risky actions').check()
  await page.getByLabel('Ask from this risk on').selectOption('1')
  await page.getByLabel('Most steps of a turn').fill('40')
  await save(page)
  await saved(page)

  await page.getByRole('link', { name: 'Runtime and runners' }).click()
  await page.getByLabel('Where commands of new conversations run').selectOption('edge')
  await save(page)
  await saved(page)

  await page.getByRole('link', { name: 'Secrets' }).click()
  await page.getByLabel('Name', { exact: true }).fill('1bad')
  await page.getByLabel('Value').fill('a-secret-value')
  await save(page)
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('NPM_TOKEN')
  await save(page)
  await page.getByRole('listitem').getByText('NPM_TOKEN').waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No secrets yet.').waitFor()

  await page.getByRole('link', { name: 'Tool servers' }).click()
  await page.getByLabel('Address').fill('https://tools.example.com/mcp')
  await save(page)
  await page.getByRole('listitem').getByText('https://tools.example.com/mcp').waitFor()

  await page.getByRole('link', { name: 'Notifications' }).click()
  await page.getByLabel('Kind').selectOption('webhook')
  await page.getByLabel('Name', { exact: true }).fill('hook')
  await page.getByLabel('url', { exact: true }).fill(hook)
  await save(page)
  await page.getByRole('button', { name: 'Send a test message' }).click()
  await page.getByText('Sent. Look whether it has arrived.').waitFor()
  expect(received.join('')).toContain('hook')

  await page.getByRole('link', { name: 'Schedules' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Evening')
  await page.getByLabel('Codes or names').fill('600519, AAPL')
  await save(page)
  await page.getByText('600519, AAPL · 30 minutes after the close').waitFor()

  await page.getByRole('link', { name: 'Audit log' }).click()
  await page.getByText('channel.saved').waitFor()

  const stored = (await (await fetch(`${service.url}/api/settings`)).json()) as Record<string, unknown>
  expect(stored).toMatchObject({
    confirmation_mode: true,
    security_analyzer: 'invariant',
    max_iterations: 40,
    runtime: 'edge',
    mcp_config: { shttp_servers: [{ url: 'https://tools.example.com/mcp' }] },
  })
  // The browser itself reports the refused secret.
  expect(faults.filter((fault) => !/status of 422/.test(fault))).toEqual([])
  faults.length = 0
  await everyPage(page, service.url)
  await eraseAll(page, service.url)
  expect(faults).toEqual([])
})

async function eraseAll(page: Page, url: string): Promise<void> {
  await page.request.post(`${url}/api/conversations`, { data: {} })
  await page.goto(`${url}/settings/erase`)
  const erase = page.getByRole('button', { name: '删除全部内容' })
  await page.getByLabel('如要删除全部内容，请输入').fill('删')
  expect(await erase.isDisabled()).toBe(true)
  await page.getByLabel('如要删除全部内容，请输入').fill('删除')
  await erase.click()
  await page.getByText('已全部删除。').waitFor({ timeout: 60_000 })
  const read = async (path: string) => (await page.request.get(`${url}${path}`)).json()
  expect(await read('/api/conversations')).toMatchObject({ results: [] })
  expect(await read('/api/v1/analysis/schedules')).toMatchObject({ schedules: [] })
  expect(await read('/api/v1/analysis/channels')).toMatchObject({ channels: [] })
  expect(await read('/api/settings')).toMatchObject({ mcp_config: null, runtime: null })
}

const SECTIONS = [
  ...['model', 'agent', 'runtime', 'tool-servers', 'git-hosts', 'secrets', 'notifications'],
  ...['schedules', 'keys', 'limits', 'audit', 'erase'],
]

async function everyPage(page: Page, url: string): Promise<void> {
  await page.getByLabel('Language').selectOption('zh')
  await page.getByRole('link', { name: '审计日志' }).waitFor()
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-CN')
  for (const viewport of [DESKTOP, PHONE]) {
    await page.setViewportSize(viewport)
    for (const section of SECTIONS) {
      await page.goto(`${url}/settings/${section}`)
      await page.locator('.settings-page :is(.card, .rows, .empty)').first().waitFor()
      expect([section, await overflowOf(page)]).toEqual([section, 0])
      expect([section, await page.locator('.settings-page h1').textContent()]).toEqual([
        section,
        expect.stringMatching(/[\u4e00-\u9fff]/),
      ])
    }
  }
}
