// The way of a newcomer by the keyboard alone: what is missing, a first answer of a model, every part of the settings.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { browserOr, sharedService } from './browser.ts'
import { type Look, type Person, personAt } from './person.ts'

const shared = sharedService({ ALLOW_PRIVATE_NETWORK: '127.0.0.1' })
let model: ScriptedModel
beforeAll(async () => {
  model = await startScriptedModel()
})
afterAll(() => model.close())

const PLAIN: Look = { language: 'en', theme: 'light', size: 'wide' }

/** Somebody at a path of the console, after the key that was stored before is gone. */
async function someone(skip: (note: string) => never, { at, look = PLAIN }: { at: string; look?: Look }) {
  const browser = browserOr(skip)
  const { url } = await shared.start()
  await shared.post('/api/settings', { llm_base_url: '', llm_api_key: '' })
  const person = await personAt({ browser, origin: url, look })
  await person.open(`${url}${at}`)
  return person
}

const save = async (person: Person) => {
  await person.press(person.button('Save'))
  await person.page.getByRole('status').getByText(person.say('Saved.'), { exact: true }).waitFor()
}

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

test('journey: a newcomer is told what is missing, runs a command without a model, tests and stores a model, and reads its Markdown', async ({
  skip,
}) => {
  const one = await someone(skip, { at: '/' })
  const { page } = one
  const log = page.getByRole('log')
  model.setScript('first', { replies: [{ text: 'ready' }, { text: ANSWER }] })
  await one.reads('No model is chosen: messages run as shell commands.')
  await one.looks('the start page, without a model')
  await watchExample(one)
  await one.write(page.getByLabel('First message'), 'echo $((6 * 7))')
  await one.press(one.button('Start a conversation'))
  await log.locator('.output', { hasText: '42' }).waitFor()
  await one.press(one.link('All conversations'))
  await one.press(one.link('Choose a model'))

  await one.write(one.field('Model'), 'openai/gpt-5')
  await one.press(one.button('Test'))
  await page.getByRole('alert').getByText('needs an API key').waitFor()
  await one.looks('the model, with a key that is missing')
  await one.write(one.field('Model'), 'openai/scripted')
  await one.write(one.field('API key'), 'sk-0123456789')
  await one.write(one.field('Address of the model server'), `${model.url}/first/v1`)
  await one.press(one.button('Test'))
  await page.getByText(/openai\/scripted answered after \d/).waitFor()
  await save(one)
  await one.reload()
  await page.getByPlaceholder('A key is stored').waitFor()
  expect([await one.field('Model').inputValue(), await one.field('API key').inputValue()]).toEqual([
    'openai/scripted',
    '',
  ])

  await one.press(one.link('Conversations'))
  await one.write(page.getByLabel('First message'), 'do it')
  await one.press(one.button('Start a conversation'))
  await log.locator('strong', { hasText: 'done' }).waitFor()
  await log.locator('.code .hljs-keyword', { hasText: 'const' }).waitFor()
  expect(await log.locator('ol > li').allTextContents()).toEqual(['one', 'two'])
  expect(await log.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href')))).toEqual([
    'https://example.com/',
  ])
  await log.getByText('<img src=x onerror=alert(1)>').waitFor()
  expect(await page.locator('img').count()).toBe(0)
  await one.looks('an answer in Markdown')
  await one.press(log.getByRole('button', { name: 'Copy' }))
  expect(one.faults).toEqual([])
})

/** Plays without a model; its panels stand one at a time, and there is a copy to keep. */
async function watchExample(one: Person): Promise<void> {
  const { page } = one
  const log = page.getByRole('log')
  await one.press(one.button('Watch an example'))
  await log.getByText('The median is right now.').waitFor({ state: 'attached' })
  await log.locator('.edit .diff-line.added[data-line="3"]').waitFor({ state: 'attached' })
  await one.press(one.button('History'))
  await one.press(one.button('Share'))
  expect(await page.getByRole('region', { name: 'History' }).count()).toBe(0)
  const [copy] = await Promise.all([page.waitForEvent('download'), one.press(one.link('Events as JSON'))])
  expect(readFileSync(await copy.path(), 'utf8')).toContain('Sort numbers as numbers')
  await one.looks('an example, with its copies')
  await page.keyboard.press('Escape')
  await page.getByRole('region', { name: 'Share' }).waitFor({ state: 'detached' })
  await one.press(one.link('All conversations'))
  // What was deleted goes although the list is left before the time to take it back is over.
  await one.press(page.getByRole('button', { name: /^Delete/ }))
}

test('journey: the agent asks from a risk on, has a limit of steps, and runs at the edge', async ({ skip }) => {
  const one = await someone(skip, { at: '/settings/agent', look: { language: 'zh', theme: 'dark', size: 'narrow' } })
  onTestFinished(() => shared.post('/api/settings', { confirmation_mode: false, max_iterations: null }))
  await one.check(one.box('Ask me before risky actions'))
  await one.pick(one.field('Ask from this risk on'), '1')
  await one.write(one.field('Most steps of a turn'), '40')
  await save(one)
  await one.looks('the agent, saved')
  await one.press(one.link('Runtime and runners'))
  await one.pick(one.field('Where commands of new conversations run'), 'edge')
  await save(one)
  expect(await shared.get('/api/settings')).toMatchObject({
    confirmation_mode: true,
    security_analyzer: 'invariant',
    max_iterations: 40,
    runtime: 'edge',
  })
  expect(one.faults).toEqual([])
})

test('journey: secrets, tool servers and tokens of git hosts are added, and what is deleted is asked for twice', async ({
  skip,
}) => {
  const one = await someone(skip, { at: '/settings/secrets', look: { language: 'en', theme: 'dark', size: 'wide' } })
  const { page } = one
  await one.write(one.field('Name'), '1bad')
  await one.write(one.field('Value'), 'a-secret-value')
  await one.press(one.button('Save'))
  await one.isMarked(one.field('Name'), 'Letters, digits and _ are wanted, and no digit first')
  await one.looks('a secret that was refused')
  await one.write(one.field('Name'), 'NPM_TOKEN')
  await one.isUnmarked()
  await save(one)
  await page.getByRole('listitem').getByText('NPM_TOKEN').waitFor()
  await one.press(one.button('Delete'))
  const question = page.getByRole('alertdialog', { name: 'Delete this secret?' })
  await expect.poll(() => question.evaluate((box) => box.contains(document.activeElement))).toBe(true)
  await one.looks('a question before a deletion')
  await page.keyboard.press('Escape')
  await expect.poll(() => one.button('Delete').evaluate((button) => button === document.activeElement)).toBe(true)
  await one.press(one.button('Delete'))
  await one.press(question.getByRole('button', { name: 'Delete' }))
  await one.reads('No secrets yet.')

  await one.press(one.link('Tool servers'))
  await one.write(one.field('Address'), 'ftp://tools.example.com/mcp')
  await one.press(one.button('Save'))
  await one.isMarked(one.field('Address'), 'URL must have a host')
  await one.write(one.field('Address'), 'https://tools.example.com/mcp')
  await one.press(one.button('Save'))
  await page.getByRole('listitem').getByText('https://tools.example.com/mcp').waitFor()
  await one.press(one.button('Remove'))
  await one.press(page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }))
  await one.reads('No tool servers yet.')

  await one.press(one.link('Git hosts'))
  const host = page.getByRole('region', { name: 'GitLab' })
  await one.write(host.getByLabel('Token'), 'glpat-not-a-token')
  await one.write(host.getByLabel('Host'), '127.0.0.1:1')
  await one.press(host.getByRole('button', { name: 'Save' }))
  await host.getByRole('alert').waitFor()
  await one.looks('a token that was refused')
  // The browser itself reports what was refused.
  expect(one.faults.filter((fault) => !/status of (?:4\d\d|50\d)/.test(fault))).toEqual([])
})

async function sink() {
  const received: string[] = []
  const server = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (text: string) => received.push(text))
    request.on('end', () => response.setHeader('content-type', 'application/json').end('{"ok":true}'))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

test('journey: a channel is added, tried and switched off; a schedule is made and deleted; the audit log has all of it', async ({
  skip,
}) => {
  const hook = await sink()
  const one = await someone(skip, {
    at: '/settings/notifications',
    look: { language: 'en', theme: 'light', size: 'narrow' },
  })
  const { page } = one
  await one.pick(one.field('Kind'), 'webhook')
  await one.write(one.field('Name'), 'hook')
  await one.write(page.getByLabel('url', { exact: true }), hook.url)
  await one.press(one.button('Save'))
  await one.press(one.button('Send a test message'))
  await one.reads('Sent. Look whether it has arrived.')
  expect(hook.received.join('')).toContain('hook')
  await one.looks('a channel that was tried')
  await one.press(one.button('Switch off'))
  await one.button('Switch on').waitFor()

  await one.press(one.link('Schedules'))
  await one.write(one.field('Name'), 'Evening')
  await one.write(one.field('Codes or names'), '600519, 12ab!')
  await one.write(one.field('Minutes after the close'), '-5')
  await one.press(one.button('Save'))
  await one.isMarked(one.field('Minutes after the close'), 'It must be at least 0.')
  await one.looks('a schedule that was refused')
  await one.write(one.field('Minutes after the close'), '5')
  await one.isUnmarked()
  await one.press(one.button('Save'))
  await one.isMarked(one.field('Codes or names'), '12ab!')
  await one.write(one.field('Codes or names'), '600519, AAPL')
  await one.check(one.box('After the close of each market'), false)
  await one.write(one.field('Time of day'), '19:30')
  await save(one)
  await page.getByText(/^600519, AAPL · 19:30/).waitFor()
  await one.looks('a schedule')
  await one.press(one.button('Switch off'))
  await one.button('Switch on').waitFor()
  await one.press(one.button('Delete'))
  await one.press(page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }))
  await expect.poll(() => page.getByText(/^600519, AAPL/).count()).toBe(0)

  await one.press(one.link('Audit log'))
  for (const action of ['Notification channel saved', 'Secret deleted'] as const) await one.reads(action)
  await one.looks('the audit log')
  // The browser itself reports the refusals.
  expect(one.faults.filter((fault) => !/status of 4(?:00|22)/.test(fault))).toEqual([])
})

test('journey: a key is issued, shown once and revoked; the limits tell how much of them is used', async ({ skip }) => {
  const one = await someone(skip, { at: '/settings/keys', look: { language: 'zh', theme: 'light', size: 'wide' } })
  const { page } = one
  await one.write(one.field('Name'), 'laptop')
  await one.pick(one.field('What it may do'), 'analysis')
  // Beyond every calendar.
  await one.write(one.field('Days until it ends'), '1e12')
  await one.press(one.button('Issue'))
  await one.isMarked(one.field('Days until it ends'), '应为时间')
  await one.write(one.field('Days until it ends'), '7')
  await one.press(one.button('Issue'))
  await page.locator('.issued-key').waitFor()
  await one.looks('a key, shown once')
  const row = page.locator('.settings-row', { hasText: 'laptop' })
  await one.press(row.getByRole('button', { name: one.say('Revoke') }))
  await one.press(page.getByRole('alertdialog').getByRole('button', { name: one.say('Revoke') }))
  await one.reads('Revoked. What was open on it is closed.')
  await one.press(one.link('Limits'))
  await page.getByRole('progressbar', { name: one.say('Conversations') }).waitFor()
  await one.looks('the limits')
  // The browser itself reports the refusals.
  expect(one.faults.filter((fault) => !/status of 4(?:00|22)/.test(fault))).toEqual([])
})

test('journey: one conversation has a model, an agent and a runtime of its own; an error that mentions a setting leads to it', async ({
  skip,
}) => {
  const { conversation_id: unnamed } = await shared.post<{ conversation_id: string }>(
    '/api/conversations?agent=ShellAgent',
    {},
  )
  const one = await someone(skip, { at: '/', look: { language: 'zh', theme: 'light', size: 'narrow' } })
  const { page } = one
  await page.getByText(`会话 ${unnamed.slice(0, 5)}`, { exact: true }).waitFor()
  const choices = page.locator('summary', { hasText: one.say('Only for this conversation') })
  const first = page.getByLabel(one.say('First message'))
  await one.write(first, 'echo mine')
  await one.press(choices)
  await one.pick(one.list('Agent'), 'ShellAgent')
  await expect.poll(() => first.getAttribute('placeholder')).toBe('ls -la')
  await one.pick(one.list('Runtime'), 'edge')
  await one.looks('choices for one conversation')
  await one.press(one.button('Start a conversation'))
  await page.getByRole('log').locator('.output', { hasText: 'mine' }).waitFor()
  await one.press(one.link('All conversations'))
  await one.write(first, 'hello')
  await one.press(choices)
  await one.write(one.byRole('textbox', 'Model'), 'openai/gpt-5')
  await one.press(one.button('Start a conversation'))
  const way = page.locator('form').getByRole('link', { name: one.say('Open the settings') })
  await way.waitFor()
  await one.looks('an error that mentions a setting')
  await one.press(way)
  await one.heading('Model').waitFor()
  // The browser itself reports the refusal.
  expect(one.faults.filter((fault) => !/status of 400/.test(fault))).toEqual([])
})

test('journey: everything is taken along as one file, which is prepared while the page waits, and deleted again', async ({
  skip,
}) => {
  const look: Look = { language: 'zh', theme: 'light', size: 'narrow' }
  const one = await someone(skip, { at: '/settings/export', look })
  const { page } = one
  await shared.post('/api/conversations?agent=ShellAgent', { initial_user_msg: 'echo taken along > mine.txt' })
  await one.press(one.button('Prepare the archive'))
  const archive = one.byRole('region', 'The archive')
  await archive.waitFor({ timeout: 120_000 })
  await one.looks('an archive that is ready')
  const [download] = await Promise.all([page.waitForEvent('download'), one.press(archive.getByRole('link'))])
  const bytes = readFileSync(await download.path())
  expect([download.suggestedFilename(), bytes.subarray(257, 262).toString()]).toEqual([
    expect.stringMatching(/^bellwether-.*\.tar$/),
    'ustar',
  ])
  expect(bytes.includes('taken along')).toBe(true)
  await one.press(archive.getByRole('button', { name: one.say('Delete') }))
  await one.press(page.getByRole('alertdialog').getByRole('button', { name: one.say('Delete') }))
  await archive.waitFor({ state: 'detached' })
  await one.to(one.button('Prepare the archive'))
  // The browser itself reports that there is none.
  expect(one.faults.filter((fault) => !/status of 404/.test(fault))).toEqual([])
})

test('journey: everything is deleted after the word for it was typed', async ({ skip }) => {
  const look: Look = { language: 'zh', theme: 'dark', size: 'wide' }
  const one = await someone(skip, { at: '/settings/erase', look })
  const { page } = one
  await shared.post('/api/conversations?agent=ShellAgent', {})
  const rule = { target: '600519', alert_type: 'price_cross', parameters: { direction: 'above', price: 1_700 } }
  await shared.post('/api/v1/alerts/rules', rule)
  await shared.post('/api/v1/screening/screens', { name: 'Mine', screen: {} })
  const word = page.getByLabel('如要删除全部内容，请输入')
  const erase = page.getByRole('button', { name: '删除全部内容' })
  await one.write(word, '删')
  expect(await erase.isDisabled()).toBe(true)
  await one.write(word, '删除')
  await one.looks('everything is about to be deleted')
  await one.press(erase)
  await page.getByText('已全部删除。', { exact: true }).waitFor({ timeout: 120_000 })
  expect(await shared.get('/api/conversations')).toMatchObject({ results: [] })
  expect(await shared.get('/api/v1/alerts/rules')).toMatchObject({ total: 0 })
  expect(await shared.get('/api/v1/screening/screens')).toMatchObject({ total: 0 })
  expect(await shared.get('/api/v1/analysis/schedules')).toMatchObject({ schedules: [] })
  expect(await shared.get('/api/v1/analysis/channels')).toMatchObject({ channels: [] })
  expect(await shared.get('/api/v1/portfolio/accounts')).toMatchObject({ accounts: [] })
  expect(await shared.get('/api/owner')).toMatchObject({ owner: 'local', deletion: null })
  // What else the page asked meanwhile was refused.
  expect(one.faults.filter((fault) => !/status of 503/.test(fault))).toEqual([])
})
