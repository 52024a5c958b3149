// Every page of the console as somebody else sees it: what a checker of accessibility finds, what the first visit weighs, and
// the ways about it: links to conversations, the list of commands, watchlists, two tabs.

import { Buffer } from 'node:buffer'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, expect, inject, test } from 'vitest'
import { type Service, startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'
import { startScriptedModel } from '../support/scripted-model.ts'
import { ROOT } from '../support/source-tree.ts'
import { browserOr, openPage, overflowOf } from './browser.ts'

const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const DESKTOP = { width: 1440, height: 900 }
const FIRST_LOAD = 90 * 1024
const LAZY_PART = 150 * 1024

/** One service for all of them; nothing of one is looked for by another. */
let started: Promise<Service> | null = null
const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-pages-'))
const service = (): Promise<Service> => {
  started ??= startService({ stateDir, env: { ...CLEAN, MARKET_DATA: 'sample' } })
  return started
}
afterAll(async () => {
  await (await started)?.stop()
  rmSync(stateDir, { recursive: true, force: true })
})

async function post<T>(path: string, body: object): Promise<T> {
  const { url } = await service()
  const reply = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(reply.ok).toBe(true)
  return (await reply.json()) as T
}

const conversation = async (said: string) =>
  (await post<{ conversation_id: string }>('/api/conversations', { initial_user_msg: said })).conversation_id

test('the first visit loads at most 90 kB of scripts and styles, compressed, and every part that comes later at most 150 kB', async ({
  skip,
}) => {
  const browser = browserOr(skip)
  const { url } = await service()
  const { page } = await openPage({ browser, origin: url, viewport: DESKTOP })
  const loaded = new Set<string>()
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (pathname.startsWith('/assets/')) loaded.add(pathname)
  })
  await page.goto(url)
  await page.getByLabel('First message').waitFor()
  const folder = join(ROOT, 'dist/web')
  const weight = (path: string) => gzipSync(readFileSync(join(folder, path)), { level: 9 }).byteLength
  const first = [...loaded].reduce((sum, path) => sum + weight(path), 0)
  console.info(`first load: ${(first / 1024).toFixed(1)} kB in ${loaded.size} files`)
  expect(loaded.size).toBeGreaterThan(2)
  expect(first).toBeLessThanOrEqual(FIRST_LOAD)
  for (const name of readdirSync(join(folder, 'assets'))) {
    expect([name, weight(join('assets', name)) <= LAZY_PART]).toEqual([name, true])
  }
})

const PAGES = [
  '/',
  '/analysis',
  '/analysis/history',
  '/analysis/talks',
  '/analysis/watchlists',
  '/analysis/accuracy',
  '/analysis/evidence',
]
const SETTINGS = [
  'model',
  'agent',
  'runtime',
  'tool-servers',
  'git-hosts',
  'secrets',
  'notifications',
  'schedules',
  'keys',
]

test('no page has a serious or critical fault that axe finds, whatever theme, language and width', async ({ skip }) => {
  const browser = browserOr(skip)
  const { url } = await service()
  const id = await conversation('echo seen; false')
  const { query_id: report } = await post<{ query_id: string }>('/api/v1/analysis/analyze', { stock_code: '600519' })
  await post('/api/v1/analysis/watchlists', { name: 'Core', stock_codes: ['600519', 'AAPL'] })
  const paths = [
    ...PAGES,
    `/conversations/${id}`,
    `/analysis/${report}`,
    ...[...SETTINGS, 'limits', 'audit'].map((section) => `/settings/${section}`),
    '/docs',
    '/offline',
    '/shared#none',
  ]
  const { page } = await openPage({ browser, origin: url, viewport: DESKTOP })
  const looks = inject('isProof')
    ? ['light', 'dark'].flatMap((theme) =>
        ['en', 'zh'].flatMap((language) => [1440, 390].map((width) => [theme, language, width] as const)),
      )
    : ([
        ['light', 'en', 1440],
        ['dark', 'zh', 390],
      ] as const)
  const found: string[] = []
  for (const [theme, language, width] of looks) {
    const context = await (page.context().browser() as Browser).newContext({
      colorScheme: theme as 'light' | 'dark',
      locale: language === 'zh' ? 'zh-CN' : 'en-GB',
      viewport: { width, height: 900 },
    })
    const seen = await context.newPage()
    for (const path of paths) {
      await seen.goto(`${url}${path}`)
      await seen.locator('h1').first().waitFor()
      await expect.poll(() => seen.locator('.opening').count()).toBe(0)
      if (path.startsWith('/conversations/')) await seen.getByRole('button', { name: /History|历史/ }).click()
      const place = `${path.replace(id, 'id').replace(report, 'report')} ${theme} ${language} ${width}`
      found.push(...(await seriousFaults(seen)).map((fault) => `${place}: ${fault}`))
      expect([place, await overflowOf(seen)]).toEqual([place, 0])
    }
    await context.close()
  }
  expect(found).toEqual([])
})

type Violation = { id: string; impact: string | null; nodes: { html: string }[] }

async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const { violations } = (await page.evaluate('axe.run()')) as { violations: Violation[] }
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id} at ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`)
}

test('a link shows a conversation to who has no key, until it is taken back', async ({ skip }) => {
  const browser = browserOr(skip)
  const { url } = await service()
  const id = await conversation('echo for everybody > shown.txt; cat shown.txt')
  const { page, faults } = await openPage({ browser, origin: url, viewport: DESKTOP })
  await page.goto(`${url}/conversations/${id}`)
  await page.getByRole('log').locator('.output', { hasText: 'for everybody' }).waitFor()
  await page.getByRole('button', { name: 'Share' }).click()
  await page.getByLabel('with files').check()
  await page.getByRole('button', { name: 'Make a link' }).click()
  const address = await page.getByLabel('The link').inputValue()
  expect(address).toMatch(/\/shared#bwl_[\w-]{43}$/)
  expect(faults).toEqual([])

  const visitor = await (page.context().browser() as Browser).newPage()
  const asked: string[] = []
  visitor.on('request', (request) => asked.push(request.url()))
  await visitor.goto(address)
  await visitor.getByRole('log').locator('.output', { hasText: 'for everybody' }).waitFor()
  await visitor.getByText('Read only').waitFor()
  await visitor.getByRole('button', { name: 'shown.txt' }).click()
  await visitor.getByRole('complementary', { name: 'Files' }).getByText('for everybody').waitFor()
  expect(await visitor.getByLabel('Message', { exact: true }).count()).toBe(0)
  // The token is in no address that anybody is asked for.
  expect(asked.filter((one) => one.includes('bwl_') && !one.includes('#'))).toEqual([])
  expect(asked.filter((one) => /\/api\/(?!shared)/.test(one))).toEqual([])

  await page.getByRole('button', { name: 'Take back' }).click()
  await page.getByRole('button', { name: 'Take back' }).waitFor({ state: 'detached' })
  await visitor.reload()
  await visitor.getByRole('alert').getByText('This link is not valid.').waitFor()
  await visitor.close()
})

test('the keyboard alone leads everywhere, a second tab follows, a watchlist is analysed, and history finds the reports', async ({
  skip,
}) => {
  const browser = browserOr(skip)
  const { url } = await service()
  const { page, faults } = await openPage({ browser, origin: url, viewport: DESKTOP })
  await page.goto(url)
  await page.getByLabel('First message').waitFor()
  const other = await page.context().newPage()
  await other.goto(url)
  await page.getByLabel('First message').fill('echo told to all tabs')
  await page.getByRole('button', { name: 'Start a conversation' }).click()
  await other.getByRole('link', { name: /told to all tabs/ }).waitFor()
  await other.close()

  await page.getByRole('log').locator('.output', { hasText: 'told to all tabs' }).waitFor()
  await page.evaluate(() => dispatchEvent(new CustomEvent('bellwether:limited', { detail: 2 })))
  await page.getByText('Too many requests.').waitFor()
  // Whatever stands above the talk, its field stays in the window; and on a phone every page can be reached.
  const outside = (selector: string) =>
    page.locator(selector).evaluateAll(
      (all) =>
        all.filter((one) => {
          const { right, bottom } = one.getBoundingClientRect()
          return right > innerWidth || bottom > innerHeight
        }).length,
    )
  expect(await outside('.composer')).toBe(0)
  await page.setViewportSize({ width: 390, height: 800 })
  expect(await outside('.bar nav a, .bar button, .composer')).toBe(0)
  await page.setViewportSize(DESKTOP)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /^Go to/ }).waitFor()
  await page.keyboard.type('watchl')
  await page.getByRole('option', { name: /Watchlists/, selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Watchlists' }).waitFor()
  await page.getByLabel('A new list').fill('Mine')
  await page.keyboard.press('Enter')
  const mine = page.getByRole('region', { name: 'Mine' })
  await mine.getByLabel('Codes or names').fill('600519, Apple')
  await page.keyboard.press('Enter')
  await mine.getByRole('button', { name: 'Remove AAPL' }).waitFor()
  await mine.getByRole('button', { name: 'Analyse 2' }).click()
  expect(await page.getByLabel('Codes or names').inputValue()).toBe('600519,AAPL')
  await page.getByRole('button', { name: 'Analyse 2' }).click()
  await page
    .locator('.task', { hasText: 'AAPL' })
    .getByRole('link', { name: 'Open report' })
    .waitFor({ timeout: 60_000 })

  await page.getByLabel('Codes or names').fill('tencen')
  await page
    .getByRole('group', { name: 'Suggestions' })
    .getByRole('button', { name: /Tencent/ })
    .first()
    .click()
  expect(await page.getByLabel('Codes or names').inputValue()).toMatch(/00700.*, $/)

  // The list comes while somebody types, and leaves what is typed alone.
  const typed = Promise.withResolvers<void>()
  const held = async (route: Route) => {
    await typed.promise
    await route.continue()
  }
  await page.route('**/api/v1/history?*', held, { times: 1 })
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByLabel('Code or name').fill('AAPL')
  typed.resolve()
  await page.locator('.row').first().waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.locator('.row', { hasText: '600519' }).count()).toBe(0)
  await page.locator('.row', { hasText: 'AAPL' }).first().click()
  await page.getByRole('heading', { level: 1, name: /AAPL/ }).waitFor()
  await page.locator('body').press('?')
  await page.getByRole('dialog').getByRole('heading', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  await page.context().setOffline(true)
  await page.getByText('You are offline.').waitFor()
  await page.context().setOffline(false)
  await page.getByText('You are offline.').waitFor({ state: 'detached' })
  expect(faults.filter((fault) => !/ERR_INTERNET_DISCONNECTED|WebSocket/.test(fault))).toEqual([])
})

test('a list from a file becomes a group after its rows were looked through, and is taken out again', async ({
  skip,
}) => {
  const browser = browserOr(skip)
  const { url } = await service()
  const { page, faults } = await openPage({ browser, origin: url, viewport: DESKTOP })
  await page.goto(`${url}/analysis/watchlists`)
  const place = page.getByRole('region', { name: 'Import' })
  const list = 'code,name,note\n600519,贵州茅台,=mine\n贵州茅苔,,\nzz zz,,\nAAPL,,\n'
  const file = { name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(list) }
  await place.getByLabel('Choose a file').setInputFiles({ ...file, buffer: Buffer.alloc(9, 255) })
  await place.getByRole('alert').filter({ hasText: 'neither an XLSX workbook nor text' }).waitFor()
  await place.getByLabel('Choose a file').setInputFiles(file)
  await place.getByRole('button', { name: 'Import 2' }).waitFor()
  await place.getByLabel('Which stock is meant in row 3').focus()
  await page.keyboard.press('ArrowDown')
  await place.getByRole('checkbox', { name: /^row 3/ }).check()
  expect(await place.getByRole('checkbox', { name: /^row 4/ }).isEnabled()).toBe(false)
  await place.getByLabel('Into the group').fill('From a file')
  await place.getByRole('button', { name: 'Import 3' }).click()
  const group = page.getByRole('region', { name: 'From a file' })
  await group.getByRole('button', { name: 'Remove AAPL' }).waitFor()
  expect(await group.getByLabel(/^Note on .*茅台/).inputValue()).toBe('=mine')
  await group.getByLabel('Note on From a file').fill('weekly')
  await page.keyboard.press('Enter')
  await group.getByRole('button', { name: 'Move AAPL up' }).press('Enter')
  const moved = () => group.locator('.watched .code').allTextContents()
  await expect.poll(moved).toEqual(['AAPL', '600519'])
  const [taken] = await Promise.all([
    page.waitForEvent('download'),
    group.getByRole('link', { name: 'Export' }).click(),
  ])
  const text = readFileSync(await taken.path(), 'utf8')
  expect(text).toMatch(/From a file,AAPL,.*\r\nFrom a file,600519\.SH,贵州茅台,'=mine\r\n/)
  await page.reload()
  await expect.poll(() => group.getByLabel('Note on From a file').inputValue()).toBe('weekly')
  expect(faults.filter((fault) => !/status of 400/.test(fault))).toEqual([])
})

test('a report is asked about; the page is left in the middle and finds the answer once, and the talk goes on with files', async ({
  skip,
}) => {
  const browser = browserOr(skip)
  const { url } = await service()
  // Before there is a model, which would be asked for its words.
  const { query_id: report } = await post<{ query_id: string }>('/api/v1/analysis/analyze', { stock_code: '600519' })
  const model = await startScriptedModel({ keepsProcess: false })
  model.setScript('asked', {
    by: 'history',
    replies: [{ text: 'The price is 1234.5, says **nobody**.', heldAfter: 1 }],
  })
  const settings = {
    llm_model: 'openai/scripted',
    llm_base_url: `${model.url}/asked/v1`,
    llm_api_key: 'sk-asked-0123456789',
  }
  await post('/api/settings', settings)
  const { page, faults } = await openPage({ browser, origin: url, viewport: DESKTOP })
  await page.goto(`${url}/analysis/${report}`)
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download picture' }).click()
  const picture = readFileSync(await (await download).path())
  expect([picture.readUInt32BE(0), picture.readUInt32BE(16)]).toEqual([0x89504e47, 1080])
  await page.getByRole('link', { name: 'Ask about this report' }).click()
  await page.getByText(/^About .*600519/).waitFor()
  await page.getByLabel('Question').fill('What is the price?')
  await page.keyboard.press('Enter')
  await page.getByRole('status').waitFor()
  await page.waitForURL(/session=/)
  await expect.poll(() => model.requests('asked').length).toBe(1)
  await page.reload()
  await page.getByRole('status').waitFor()
  await fetch(`${model.url}/asked/release`, { method: 'PUT' })
  const answer = page.locator('.talk-messages .assistant')
  await answer.getByText('not in the data').waitFor()
  expect([await answer.count(), await page.locator('.talk-messages .user').count()]).toEqual([1, 1])
  await page
    .getByRole('navigation', { name: 'Talks' })
    .getByRole('link', { name: /What is the price/ })
    .waitFor()
  await page.getByRole('button', { name: 'Continue with files' }).click()
  await page.waitForURL(/\/conversations\//)
  await page.getByText('What is the price?').first().waitFor()
  expect(faults.filter((fault) => !/WebSocket|ERR_ABORTED/.test(fault))).toEqual([])
  await post('/api/settings', { llm_model: null, llm_base_url: null, llm_api_key: null })
  await model.close()
})

test('without the service a page of its own stands in, and the window is installable', async ({ skip }) => {
  const browser = browserOr(skip)
  const { url } = await service()
  const { page } = await openPage({ browser, origin: url, viewport: DESKTOP })
  await page.goto(url)
  await page.evaluate(async () => {
    const { active, installing, waiting } = await navigator.serviceWorker.ready
    const worker = active ?? waiting ?? installing
    if (worker?.state === 'activated') return
    await new Promise<void>((resolve) => {
      worker?.addEventListener('statechange', () => worker.state === 'activated' && resolve())
    })
  })
  // The worker answers for pages that were opened after it.
  await page.reload()
  await page.context().setOffline(true)
  await page.goto(`${url}/analysis`)
  await page.getByRole('heading', { name: 'The service cannot be reached' }).waitFor()
  await page.context().setOffline(false)
  await page.goto(`${url}/analysis`)
  await page.getByRole('heading', { level: 1, name: 'Analysis' }).waitFor()
  const manifest = (await (await fetch(`${url}/manifest.webmanifest`)).json()) as Record<string, unknown>
  expect(manifest).toMatchObject({ start_url: '/', display: 'standalone', icons: [{ src: '/favicon.svg' }] })
})
