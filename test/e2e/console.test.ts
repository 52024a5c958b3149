// The console as a person without a pointer uses it: a conversation through a crash of the service, links to it, the ways about the
// pages, the reference of the API, and the sign-in.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { type Service, startService } from '../../scripts/start/service.ts'
import { browserOr, CLEAN, sharedService } from './browser.ts'
import { type Look, type Person, personAt, SIZES } from './person.ts'

const HOSTILE = '<img src=x onerror=alert(1)>'
const shared = sharedService({})

async function someone(skip: (note: string) => never, at: string, look: Look): Promise<Person> {
  const browser = browserOr(skip)
  const { url } = await shared.start()
  const person = await personAt({ browser, origin: url, look })
  await person.open(`${url}${at}`)
  return person
}

const conversation = async (said: string) =>
  (await shared.post<{ conversation_id: string }>('/api/conversations', { initial_user_msg: said })).conversation_id

async function say(one: Person, text: string): Promise<void> {
  await one.write(one.field('Message'), text)
  await one.page.keyboard.press('Enter')
}

const outputs = (page: Page) => page.getByRole('log').locator('.output')
const commands = (page: Page, text: string) => page.getByRole('log').locator('.line', { hasText: text })

test('journey: somebody talks to the shell, opens files and brings one, through a crash of the service, and nothing hostile runs', async ({
  skip,
}) => {
  const one = await someone(skip, '/', { language: 'en', theme: 'light', size: 'wide' })
  const { page } = one
  await one.press(one.button('Start a conversation'))
  await say(one, 'echo hello > a.txt && cat a.txt')
  await outputs(page).getByText('hello', { exact: true }).waitFor()
  await page.getByRole('log').getByText('exit code 0').waitFor()
  await one.press(page.getByRole('button', { name: 'a.txt' }))
  await page.getByRole('region', { name: 'a.txt' }).getByText('hello').waitFor()
  await page.keyboard.press('Enter')
  await one.to(page.getByRole('button', { name: 'a.txt' }))
  await one.reload()
  await outputs(page).getByText('hello', { exact: true }).waitFor()
  expect(await outputs(page).count()).toBe(1)
  await say(one, `echo '${HOSTILE}'`)
  await outputs(page).getByText(HOSTILE).waitFor()
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), one.press(one.field('Upload'))])
  const buffer = Buffer.from(`${HOSTILE} uploaded`)
  await chooser.setFiles({ name: 'notes & more.txt', mimeType: 'text/plain', buffer })
  await one.press(page.getByRole('button', { name: /^notes/ }))
  await page.getByText(`${HOSTILE} uploaded`).waitFor()
  await one.looks('a file beside a conversation')
  expect(await page.locator('img').count()).toBe(0)
  const [zip] = await Promise.all([
    page.waitForEvent('download'),
    page.keyboard.press('Enter').then(() => one.press(one.link('Download as ZIP'))),
  ])
  expect(zip.suggestedFilename()).toMatch(/\.zip$/)
  expect(one.faults).toEqual([])

  await surviveCrash(one, await shared.start())
  // The browser itself reports each attempt to reach a service that is down.
  const outage = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|WebSocket connection|50[23]/
  expect(one.faults.filter((fault) => !outage.test(fault))).toEqual([])
})

async function surviveCrash(one: Person, service: Service): Promise<void> {
  const { page } = one
  expect(service.kill9Runtime()).toBeGreaterThan(0)
  await page.getByText('Connection lost').waitFor({ timeout: 60_000 })
  await say(one, 'echo said while it was down')
  await outputs(page).getByText('said while it was down', { exact: true }).waitFor({ timeout: 60_000 })
  await page.getByText('Connection lost').waitFor({ state: 'detached' })
  // Sent again after the reconnect, it still counts once; and the replay repeats nothing.
  expect(await commands(page, 'said while it was down').count()).toBe(1)
  expect(await commands(page, 'echo hello').count()).toBe(1)
  await one.reload()
  await commands(page, 'said while it was down').waitFor()
  expect(await outputs(page).allTextContents()).toEqual(['hello', HOSTILE, 'said while it was down'])
}

test('journey: a link shows a conversation to who has no key, until it is taken back', async ({ skip }) => {
  const id = await conversation('echo for everybody > shown.txt; cat shown.txt')
  const one = await someone(skip, `/conversations/${id}`, { language: 'en', theme: 'dark', size: 'narrow' })
  const { page } = one
  await page.getByRole('log').locator('.output', { hasText: 'for everybody' }).waitFor()
  await one.press(one.button('Share'))
  await one.pick(one.list('Ends after'), '24')
  await one.check(one.box('with files'))
  await one.press(one.button('Make a link'))
  const address = await one.field('The link').inputValue()
  expect(address).toMatch(/\/shared#bwl_[\w-]{43}$/)
  await one.looks('a link that was made')

  const visitor = await personAt({ browser: browserOr(skip), origin: (await shared.start()).url })
  const asked: string[] = []
  visitor.page.on('request', (request) => asked.push(request.url()))
  await visitor.open(address)
  await visitor.page.getByRole('log').locator('.output', { hasText: 'for everybody' }).waitFor()
  await visitor.reads('Read only')
  await visitor.press(visitor.page.getByRole('button', { name: 'shown.txt' }))
  await visitor.page.getByRole('complementary', { name: 'Files' }).getByText('for everybody').waitFor()
  await visitor.press(visitor.page.getByRole('button', { name: /shown\.txt/ }))
  await visitor.to(visitor.page.getByRole('button', { name: 'shown.txt' }))
  await visitor.looks('a shared conversation')
  expect(await visitor.field('Message').count()).toBe(0)
  // The token is in no address that anybody is asked for.
  expect(asked.filter((each) => each.includes('bwl_') && !each.includes('#'))).toEqual([])
  expect(asked.filter((each) => /\/api\/(?!shared)/.test(each))).toEqual([])
  expect(visitor.faults).toEqual([])
  const other = await visitor.page.context().newPage()
  await other.goto(`${address}x`)
  await other.getByRole('alert').getByText('This link is not valid.').waitFor()
  // Only the token is another one: the browser takes it for the same page.
  await other.goto(address)
  await other.getByRole('log').locator('.output', { hasText: 'for everybody' }).waitFor()
  await other.close()

  await one.press(one.button('Take back'))
  await one.button('Take back').waitFor({ state: 'detached' })
  await one.to(one.button('Make a link'))
  await visitor.reload()
  await visitor.page.getByRole('alert').getByText('This link is not valid.').waitFor()
  expect(one.faults).toEqual([])
})

/** Asks the list of commands. */
async function command(one: Person, text: string): Promise<void> {
  await one.page.keyboard.press('Control+k')
  await one.to(one.list('Go to a page, a conversation or a stock'))
  await one.page.keyboard.insertText(text)
}

/** How many of them are not in the window. */
const outside = (page: Page, selector: string): Promise<number> =>
  page.locator(selector).evaluateAll(
    (all) =>
      all.filter((one) => {
        const { right, bottom } = one.getBoundingClientRect()
        return right > innerWidth || bottom > innerHeight
      }).length,
  )

test('journey: a few keys lead to every page, to a conversation and to a stock, a second tab follows, and the keys are shown', async ({
  skip,
}) => {
  const one = await someone(skip, '/', { language: 'zh', theme: 'dark', size: 'wide' })
  const { page } = one
  const first = page.getByLabel(one.say('First message'))
  await first.waitFor()
  const other = await page.context().newPage()
  await other.goto(page.url())
  await page.bringToFront()
  await one.write(first, 'echo told to all tabs')
  await one.press(one.button('Start a conversation'))
  // What the agent does stands in the list of the other tab, and changes there.
  await other.getByRole('link', { name: new RegExp(`told to all tabs.*${one.say('Waiting for you')}`) }).waitFor()
  await other.close()
  await page.getByRole('log').locator('.output', { hasText: 'told to all tabs' }).waitFor()

  await page.evaluate(() => dispatchEvent(new CustomEvent('bellwether:limited', { detail: 2 })))
  await one.reads('Too many requests.')
  // Whatever stands above the talk, its field stays in the window; and on a phone every page can be reached.
  expect(await outside(page, '.composer')).toBe(0)
  await page.setViewportSize(SIZES.narrow)
  expect(await outside(page, '.bar nav a, .bar button, .composer')).toBe(0)
  await page.setViewportSize(SIZES.wide)

  const chosen = (name: RegExp) => page.getByRole('option', { name, selected: true })
  await command(one, one.say('Watchlists'))
  await chosen(new RegExp(one.say('Watchlists'))).waitFor()
  await one.looks('the list of commands')
  await page.keyboard.press('Enter')
  await one.heading('Watchlists').waitFor()
  // The last of a long list is brought into sight.
  await page.keyboard.press('Control+k')
  await page.getByRole('option', { name: /\/docs/ }).waitFor()
  await one.to(one.list('Go to a page, a conversation or a stock'))
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => outside(page, '[role="option"][aria-selected="true"]')).toBe(0)
  // Keys that follow each other at once mean what they say, and the list starts afresh.
  for (let round = 0; round < 5; round++) {
    await one.to(one.list('Go to a page, a conversation or a stock'))
    await page.keyboard.insertText(`round ${round}`)
    await Promise.all([page.keyboard.press('Escape'), page.keyboard.press('Control+k')])
    await expect.poll(() => one.list('Go to a page, a conversation or a stock').inputValue()).toBe('')
  }
  await page.keyboard.press('Escape')
  await page.context().grantPermissions(['notifications'])
  for (const name of ['Turn on notifications of this browser', 'Turn off notifications of this browser'] as const) {
    await command(one, one.say(name))
    await chosen(new RegExp(one.say(name))).waitFor()
    await page.keyboard.press('Enter')
  }
  await command(one, 'told to')
  await chosen(/told to all tabs/).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/conversations\//)
  const path = `/api${new URL(page.url()).pathname}/events?limit=50`
  const { events } = await shared.get<{ events: { id: number; action?: string }[] }>(path)
  await one.open(`${page.url()}?event=${events.find(({ action }) => action === 'run')?.id}`)
  await page.locator('.focused', { hasText: 'told to all tabs' }).waitFor()
  // An event that is not there yet leads to the newest ones.
  const asked: string[] = []
  page.on('response', (response) => asked.push(response.url()))
  await one.open(page.url().replace(/event=.*/, 'event=999999999'))
  const jumped = () => {
    const at = asked.findIndex((url) => url.includes('start_id=999999979'))
    return at >= 0 && asked.slice(at).some((url) => url.includes('reverse=true'))
  }
  await expect.poll(jumped, { timeout: 60_000 }).toBe(true)
  await page.getByRole('log').locator('.output', { hasText: 'told to all tabs' }).waitFor()
  await command(one, '茅台')
  await page.getByRole('option', { name: /600519/ }).waitFor()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/analysis\?codes=600519/)
  await one.press(one.button('Analyse'), '?')
  await page
    .getByRole('dialog')
    .getByRole('heading', { name: one.say('Keys') })
    .waitFor()
  await one.looks('the keys')
  await page.keyboard.press('Escape')
  // Whoever closes it is where they were.
  await expect.poll(() => one.button('Analyse').evaluate((button) => button === document.activeElement)).toBe(true)
  await one.open(`${(await shared.start()).url}/conversations/none/workspace/constructor`)
  await one.heading('No such conversation').waitFor()
  await one.open(`${(await shared.start()).url}/nowhere/at/all`)
  await one.press(one.link('Go to the conversations'))
  await first.waitFor()
  // A conversation that cannot be opened takes no message, and opens by itself when it can.
  const log = '**/events?reverse=true&limit=100'
  await page.route(log, (route) => route.fulfill({ status: 503, json: { error: 'away for a moment' } }))
  await one.press(page.getByRole('link', { name: /told to all tabs/ }))
  await page.getByRole('alert').getByText('away for a moment').waitFor()
  expect(await one.field('Message').count()).toBe(0)
  await page.unroute(log)
  await page.getByRole('log').locator('.output', { hasText: 'told to all tabs' }).waitFor()
  await one.to(one.field('Message'))
  expect(one.faults.filter((fault) => !/status of (?:404|503)/.test(fault))).toEqual([])
})

test('journey: the language is changed and stays; without a network the page says so, and without the service another stands in', async ({
  skip,
}) => {
  const one = await someone(skip, '/analysis', { language: 'zh', theme: 'light', size: 'narrow' })
  const { page } = one
  const { url } = await shared.start()
  await one.press(one.list('Language'), 'ArrowUp')
  await page.getByRole('heading', { level: 1, name: 'Analysis' }).waitFor()
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('en')
  await page.context().setOffline(true)
  await page.getByText('You are offline.').waitFor()
  await one.looks('a page without a network')
  await page.context().setOffline(false)
  await page.getByText('You are offline.').waitFor({ state: 'detached' })
  await page.evaluate(async () => {
    const { active, installing, waiting } = await navigator.serviceWorker.ready
    const worker = active ?? waiting ?? installing
    if (worker?.state === 'activated') return
    await new Promise<void>((resolve) => {
      worker?.addEventListener('statechange', () => worker.state === 'activated' && resolve())
    })
  })
  // The worker answers for pages that were opened after it.
  await one.reload()
  await page.context().setOffline(true)
  await one.open(`${url}/analysis`)
  await page.getByRole('heading', { name: 'The service cannot be reached' }).waitFor()
  await one.looks('the page that stands in')
  // What was asked for comes by itself.
  await page.context().setOffline(false)
  await page.getByRole('heading', { level: 1, name: 'Analysis' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/analysis')
  const manifest = (await (await fetch(`${url}/manifest.webmanifest`)).json()) as Record<string, unknown>
  expect(manifest).toMatchObject({ start_url: '/', display: 'standalone', icons: [{ src: '/favicon.svg' }] })
  expect(one.faults.filter((fault) => !/ERR_INTERNET_DISCONNECTED|WebSocket/.test(fault))).toEqual([])
})

test('journey: the reference has every endpoint, is filtered, and sends a request', async ({ skip }) => {
  const served = await shared.get<{ paths: Record<string, object> }>('/openapi.json')
  const count = Object.values(served.paths).reduce((sum, path) => sum + Object.keys(path).length, 0)
  const one = await someone(skip, '/docs', { language: 'en', theme: 'dark', size: 'wide' })
  const { page } = one
  await page.getByText(`${count} endpoints`, { exact: true }).waitFor()
  expect(await page.locator('.endpoint').count()).toBe(count)
  await one.press(page.getByRole('link', { name: 'Skip to the endpoints' }))
  await one.write(page.getByLabel('Filter'), 'post analysis/analyze')
  await page.getByText('1 endpoint', { exact: true }).waitFor()
  await one.press(page.locator('.endpoint summary').first())
  await one.press(page.getByRole('button', { name: 'Try it here' }))
  await one.write(page.getByLabel('Body application/json'), '{"stock_code": "no such code!"}')
  await one.press(page.getByRole('button', { name: 'Send' }))
  await page.getByRole('region', { name: 'The answer', exact: true }).getByText('400 Bad Request').waitFor()
  await one.to(page.getByRole('region', { name: 'Body of the answer' }))
  await page.getByRole('region', { name: 'Body of the answer' }).getByText('validation_error').waitFor()
  await one.looks('an answer in the reference')
  await one.press(one.list('Language'), 'ArrowDown')
  await page.getByText(`${count} 个接口`, { exact: true }).waitFor()
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-CN')
  // What the document says stays English, and says so.
  expect(await page.locator('.endpoint-summary > [lang="en"]').count()).toBe(count)
  await one.looks('the reference in Chinese')
  // The browser itself reports the request that the form sent to be refused.
  expect(one.faults.filter((fault) => !/status of 400/.test(fault))).toEqual([])
})

test('journey: with keys required the console asks for one, keeps it out of scripts, and forgets it at sign-out', async ({
  skip,
}) => {
  const browser = browserOr(skip)
  const rootKey = 'root-key-for-the-console-journey-0123456789'
  const env = { AUTH_MODE: 'keys', ROOT_API_KEY: rootKey, SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') }
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-console-'))
  const service = await startService({ stateDir, env: { ...CLEAN, MARKET_DATA: 'sample', ...env } })
  onTestFinished(async () => {
    await service.stop()
    rmSync(stateDir, { recursive: true, force: true })
  })
  const key = await issueKey(service.url, rootKey)
  const look: Look = { language: 'en', theme: 'light', size: 'narrow' }
  const one = await personAt({ browser, origin: service.url, look })
  const { page } = one
  await one.open(`${service.url}/conversations`)
  await one.write(one.field('API key'), 'not-a-key')
  await one.press(one.button('Sign in'))
  await page.getByRole('alert').getByText('not valid').waitFor()
  await one.looks('a key that is not valid')
  await one.write(one.field('API key'), key)
  await one.press(one.button('Sign in'))
  await one.write(page.getByLabel('First message'), 'echo signed in')
  await one.press(one.button('Start a conversation'))
  await outputs(page).getByText('signed in', { exact: true }).waitFor()
  expect(await page.evaluate(() => document.cookie)).toBe('')
  // A session that ends by itself takes nothing along that was written.
  await one.write(one.field('Message'), 'echo kept')
  await page.context().clearCookies()
  await one.press(one.button('Share'))
  await page
    .getByRole('dialog')
    .getByRole('heading', { name: one.say('Your session has ended') })
    .waitFor()
  await page.keyboard.press('Escape')
  await one.looks('a session that has ended')
  await one.write(one.field('API key'), key)
  await one.press(one.button('Sign in'))
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await one.field('Message').inputValue()).toBe('echo kept')
  await one.press(one.field('Message'))
  await outputs(page).getByText('kept', { exact: true }).waitFor()
  expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0)
  await one.press(one.link('Analysis'))
  await one.heading('No access').waitFor()
  await one.looks('a page that the key does not cover')
  await one.press(one.button('Sign out'))
  await one.to(one.field('API key'))
  await one.reload()
  await one.to(one.field('API key'))
  // The browser itself reports the 401 that tells the console to ask for a key.
  expect(one.faults.filter((fault) => !/status of 401/.test(fault))).toEqual([])
})

async function issueKey(url: string, rootKey: string): Promise<string> {
  const reply = await fetch(`${url}/api/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-session-api-key': rootKey },
    body: JSON.stringify({ owner: 'ann', name: 'console', scopes: ['conversations'] }),
  })
  expect(reply.status).toBe(201)
  return ((await reply.json()) as { key: string }).key
}
