// Every page of the console as somebody else sees it: what a checker of accessibility finds in all looks, and what the first visit
// weighs. And by the keyboard alone what is kept of analyses: lists of stocks, their files, reports of before.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Page, Route } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { ROOT } from '../support/source-tree.ts'
import { makeRules } from './alerts-page.ts'
import { browserOr, openPage, overflowOf, sharedService } from './browser.ts'
import { LOOKS, type Look, type Person, personAt, SIZES, seriousFaults } from './person.ts'
import { useCalendar, usePortfolio, useSignals } from './portfolio-steps.ts'
import { keepFigures, screensByKeyboard } from './screening-page.ts'

const FIRST_LOAD = 90 * 1024
const LAZY_PART = 150 * 1024
const shared = sharedService({})

async function someone(skip: (note: string) => never, at: string, look: Look): Promise<Person> {
  const browser = browserOr(skip)
  const { url } = await shared.start()
  const person = await personAt({ browser, origin: url, look })
  await person.open(`${url}${at}`)
  return person
}

test('the first visit loads at most 90 kB of scripts and styles, compressed, and every part that comes later at most 150 kB', async ({
  skip,
}) => {
  const browser = browserOr(skip)
  const { url } = await shared.start()
  const { page } = await openPage({ browser, origin: url, viewport: SIZES.wide })
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

const ANALYSIS = [
  '',
  '/history',
  '/talks',
  '/watchlists',
  '/portfolio',
  '/calendar',
  '/signals',
  '/alerts',
  '/screening',
  '/accuracy',
  '/evidence',
]
const SETTINGS = [
  ...['model', 'agent', 'runtime', 'tool-servers', 'git-hosts', 'secrets', 'notifications'],
  ...['schedules', 'keys', 'limits', 'audit', 'export', 'erase'],
]
const WORKSPACE = ['files', 'changes', 'terminal', 'ports']

/** Something on every page. */
async function filled(): Promise<string[]> {
  const asked = { initial_user_msg: 'echo seen > seen.txt; false' }
  const { conversation_id: id } = await shared.post<{ conversation_id: string }>('/api/conversations', asked)
  const report = await shared.post<{ query_id: string }>('/api/v1/analysis/analyze', { stock_code: '600519' })
  await shared.post('/api/v1/analysis/watchlists', { name: 'Core', stock_codes: ['600519', 'AAPL'] })
  const { id: account } = await shared.post<{ id: number }>('/api/v1/portfolio/accounts', { name: 'Seen' })
  const bought = { account_id: account, side: 'buy', trade_date: '2025-12-02', quantity: 10 }
  for (const symbol of ['600519', 'AAPL'])
    await shared.post('/api/v1/portfolio/trades', { ...bought, symbol, price: 3_000 })
  const rule = { target: '600519', alert_type: 'new_advice', parameters: { actions: ['buy'] }, severity: 'critical' }
  await shared.post('/api/v1/alerts/rules', rule)
  await shared.post('/api/secrets', { name: 'TOKEN', value: 'a-secret-value' })
  return [
    ...['/', `/conversations/${id}`, '/conversations/none', '/nowhere/at/all', `/analysis/${report.query_id}`],
    ...WORKSPACE.map((tab) => `/conversations/${id}/workspace/${tab}`),
    ...ANALYSIS.map((part) => `/analysis${part}`),
    ...SETTINGS.map((section) => `/settings/${section}`),
    ...['/docs', '/offline', '/shared#none'],
  ]
}

/** Opens what a page keeps folded. */
async function unfold(page: Page, { path, language }: { path: string; language: string }): Promise<void> {
  const zh = language === 'zh'
  if (path.endsWith('/workspace/files')) await page.getByRole('treeitem').first().click()
  if (/^\/conversations\/[^/]{20,}$/.test(path)) {
    await page.getByRole('button', { name: zh ? '历史' : 'History', exact: true }).click()
    await page.getByRole('button', { name: zh ? '分享' : 'Share', exact: true }).click()
  }
  if (path === '/analysis/watchlists') {
    const place = page.locator('.import')
    await place.locator('textarea').fill('600519\n贵州茅苔\nzz zz')
    await place.locator('button[type="submit"]').click()
    await place.locator('.import-rows li').nth(2).waitFor()
  }
}

/** Whether the row of the parts of the analysis has to be scrolled. */
const hidesParts = (page: Page): Promise<boolean> =>
  page.locator('.sub-nav').evaluateAll((rows) => rows.some((row) => row.scrollWidth > row.clientWidth))

let paths: Promise<string[]> | null = null
const looks = LOOKS.map((look, turn) => ({ look, turn, name: Object.values(look).join(' ') }))

// Each page in one look, and all of them in each where everything is to be proved.
for (const { look, turn, name } of looks) {
  test(`no page has a serious or critical fault that axe finds, or is wider than its window: ${name}`, async ({
    skip,
  }) => {
    const browser = browserOr(skip)
    const { url } = await shared.start()
    paths ??= filled()
    const here = (await paths).filter((_, place) => inject('isProof') || place % LOOKS.length === turn)
    const { page } = await personAt({ browser, origin: url, look })
    const found: string[] = []
    for (const path of here) {
      await page.goto(`${url}${path}`)
      await page.locator('h1').first().waitFor()
      await expect.poll(() => page.locator('.opening').count()).toBe(0)
      await unfold(page, { path, language: look.language })
      found.push(...(await seriousFaults(page)).map((fault) => `${path}: ${fault}`))
      const overflow = await overflowOf(page)
      if (overflow !== 0) found.push(`${path}: ${overflow} pixels too wide`)
      if (look.size === 'wide' && (await hidesParts(page)))
        found.push(`${path}: a part of the analysis is out of sight`)
    }
    if (inject('isProof')) console.info(`${name}: ${here.length} pages, ${found.length} faults`)
    expect(found).toEqual([])
  })
}

/** Behind other windows, of which a browser without a screen knows nothing, or in front again. */
const turnWindow = (page: Page, state: DocumentVisibilityState): Promise<void> =>
  page.evaluate((now) => {
    Object.defineProperty(document, 'visibilityState', { value: now, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, state)

test('journey: a group is made, noted, ordered and analysed, and history finds its reports', async ({ skip }) => {
  const one = await someone(skip, '/analysis/watchlists', { language: 'en', theme: 'light', size: 'narrow' })
  const { page } = one
  await one.write(one.field('A new list'), 'Mine')
  await page.keyboard.press('Enter')
  const mine = page.getByRole('region', { name: 'Mine' })
  await mine.waitFor()
  // A name without a place to break is no wider than a phone.
  const long = 'W'.repeat(60)
  await shared.post('/api/v1/analysis/watchlists', { name: long, stock_codes: [] })
  await one.reload()
  await page.getByRole('heading', { name: long }).waitFor()
  await one.write(mine.getByLabel('Codes or names'), '600519, Apple')
  await one.press(mine.getByRole('button', { name: 'Add' }))
  await mine.getByRole('button', { name: 'Remove AAPL' }).waitFor()
  await one.write(mine.getByLabel('Note on Mine'), 'weekly')
  await page.keyboard.press('Enter')
  await one.press(mine.getByRole('button', { name: 'Move AAPL up' }))
  await expect.poll(() => mine.locator('.watched .code').allTextContents()).toEqual(['AAPL', '600519'])
  await one.looks('a group of stocks')
  await one.press(mine.getByRole('button', { name: 'Analyse 2' }))
  const codes = one.field('Codes or names')
  await expect.poll(() => codes.inputValue()).toBe('AAPL,600519')
  await turnWindow(page, 'hidden')
  await one.press(one.button('Analyse {count}', { count: 2 }))
  const done = page.locator('.task', { hasText: 'AAPL' }).getByRole('link', { name: 'Open report' }).first()
  await done.waitFor({ timeout: 60_000 })
  // Whoever looks elsewhere meanwhile is told by title and icon of the window, until they are back.
  const icon = page.locator('link[rel="icon"]')
  await expect.poll(() => page.title()).toMatch(/^✓ /)
  expect(await icon.getAttribute('href')).toBe('/favicon-finished.svg')
  await turnWindow(page, 'visible')
  await expect.poll(() => icon.getAttribute('href')).toBe('/favicon.svg')

  // The list comes while somebody types, and leaves what is typed alone.
  const typed = Promise.withResolvers<void>()
  const held = async (route: Route) => {
    await typed.promise
    await route.continue()
  }
  await page.route('**/api/v1/history?*', held, { times: 1 })
  await one.press(one.link('History'))
  await one.write(one.field('Code or name'), 'AAPL')
  typed.resolve()
  await page.locator('.row').first().waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.locator('.row', { hasText: '600519' }).count()).toBe(0)
  await one.pick(one.list('Report'), 'market_review')
  await one.reads('No reports here yet.')
  // What is chosen stands in the address: back goes through it, and a link leads to it.
  expect(new URL(page.url()).search).toBe('?code=AAPL&type=market_review')
  await page.goBack()
  await page.locator('.row', { hasText: 'AAPL' }).first().waitFor()
  expect(await one.list('Report').inputValue()).toBe('')
  await page.goBack()
  await page.locator('.row', { hasText: '600519' }).first().waitFor()
  expect(await one.field('Code or name').inputValue()).toBe('')
  await page.goForward()
  await expect.poll(() => one.field('Code or name').inputValue()).toBe('AAPL')
  // A page that there is none of is the last one.
  await one.open(`${new URL(page.url()).origin}/analysis/history?code=AAPL&page=99&type=nonsense`)
  await page.locator('.row', { hasText: 'AAPL' }).first().waitFor()
  await expect.poll(() => new URL(page.url()).search).toBe('?code=AAPL')
  await one.press(page.locator('.row', { hasText: 'AAPL' }).first())
  await page.getByRole('heading', { level: 1, name: /AAPL/ }).waitFor()
  expect(one.faults).toEqual([])
})

test('journey: trades are booked by hand and from a file, a sum without a rate is left open, and signals of holdings are judged', async ({
  skip,
}) => {
  await shared.post('/api/v1/analysis/analyze', { stock_code: '600519' })
  const one = await someone(skip, '/analysis/portfolio', { language: 'en', theme: 'light', size: 'wide' })
  await usePortfolio(one)
  await useCalendar(one)
  await useSignals(one, '600519')
  expect(one.faults.filter((fault) => !/status of 400/.test(fault))).toEqual([])
})

test('journey: how advice turned out and what the method was worth are read, and what changed over a week', async ({
  skip,
}) => {
  const one = await someone(skip, '/analysis/accuracy', { language: 'zh', theme: 'dark', size: 'narrow' })
  const { page } = one
  await one.reads('Reports made from samples are not measured.')
  await one.press(one.link('Evidence'))
  await one.pick(one.list('Prices'), 'sample')
  await page.locator('.page :is(table, .empty)').first().waitFor()
  await one.looks('what the method was worth')
  await shared.post('/api/v1/analysis/watchlists', { name: 'Week', stock_codes: ['MSFT'] })
  await one.press(one.link('Watchlists'))
  await one.pick(one.list('Since'), '7')
  await page.locator('.changes .hint').waitFor()
  const week = page.getByRole('region', { name: 'Week' })
  await one.press(week.getByRole('button', { name: one.say('Delete the list') }))
  await one.press(week.getByRole('alertdialog').getByRole('button', { name: one.say('Delete the list') }))
  await page.getByRole('region', { name: 'Week' }).waitFor({ state: 'detached' })
  await one.to(one.field('A new list'))
  expect(one.faults).toEqual([])
})

test('journey: a list from a file becomes a group after its rows were looked through, and is taken out again', async ({
  skip,
}) => {
  const one = await someone(skip, '/analysis/watchlists', { language: 'en', theme: 'dark', size: 'wide' })
  const { page } = one
  const place = page.getByRole('region', { name: 'Import' })
  const list = 'code,name,note\n600519,贵州茅台,=mine\n贵州茅苔,,\nzz zz,,\nAAPL,,\n'
  const choose = async (buffer: Buffer) => {
    const button = place.getByRole('button', { name: 'Choose a file' })
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), one.press(button)])
    await chooser.setFiles({ name: 'list.csv', mimeType: 'text/csv', buffer })
  }
  await choose(Buffer.alloc(9, 255))
  await place.getByRole('alert').filter({ hasText: 'neither an XLSX workbook nor text' }).waitFor()
  await choose(Buffer.from(list))
  await place.getByRole('button', { name: 'Import 2' }).waitFor()
  await one.press(place.getByLabel('Which stock is meant in row 3'), 'ArrowDown')
  await one.check(place.getByRole('checkbox', { name: /^row 3/ }))
  expect(await place.getByRole('checkbox', { name: /^row 4/ }).isEnabled()).toBe(false)
  await one.write(place.getByLabel('Into the group'), 'From a file')
  await one.looks('rows that are looked through')
  await one.press(place.getByRole('button', { name: 'Import 3' }))
  const group = page.getByRole('region', { name: 'From a file' })
  await group.getByRole('button', { name: 'Remove AAPL' }).waitFor()
  // A name is the reader's, a file has the one that is stored.
  expect(await group.getByLabel('Note on Kweichow Moutai').inputValue()).toBe('=mine')
  const [taken] = await Promise.all([
    page.waitForEvent('download'),
    one.press(group.getByRole('link', { name: 'Export' })),
  ])
  const text = readFileSync(await taken.path(), 'utf8')
  expect(text).toMatch(/From a file,600519\.SH,贵州茅台,'=mine\r\n/)
  expect(one.faults.filter((fault) => !/status of 400/.test(fault))).toEqual([])
})

test('journey: a rule of alerts is made, tried out, switched off and deleted; what is wrong is said and stays', async ({
  skip,
}) => {
  const one = await someone(skip, '/analysis/alerts', { language: 'en', theme: 'dark', size: 'narrow' })
  await makeRules(one)
  expect(one.faults.filter((fault) => !/status of 4(?:00|22)/.test(fault))).toEqual([])
})

test('journey: listings are screened by their figures, each with its day; a screen is saved, opened, run, switched off and deleted', async ({
  skip,
}) => {
  await shared.start()
  const day = keepFigures(shared.stateDir)
  const one = await someone(skip, '/analysis/screening', { language: 'en', theme: 'light', size: 'wide' })
  await screensByKeyboard(one, day)
  // The browser itself reports the refusal.
  expect(one.faults.filter((fault) => !/status of 400/.test(fault))).toEqual([])
})
