// The console as a person uses it: a real browser against a real server with sample prices.

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { type Service, startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'
import { browserOr, openPage, overflowOf } from './browser.ts'

const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 375, height: 720 }
const HOSTILE = '<img src=x onerror=alert(1)>'
/** What the person who runs the tests has set must not decide them. */
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))

async function serve(env: Record<string, string>): Promise<Service> {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-console-'))
  const service = await startService({ stateDir, env: { ...CLEAN, ...env } })
  onTestFinished(async () => {
    await service.stop()
    rmSync(stateDir, { recursive: true, force: true })
  })
  return service
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.getByLabel('Message', { exact: true }).press('Enter')
}

const outputs = (page: Page) => page.getByRole('log').locator('.output')
const commands = (page: Page, text: string) => page.getByRole('log').locator('.line', { hasText: text })

test('a person talks to the shell and reads a report in the console, through a crash of the service, and nothing hostile runs', async ({
  skip,
}) => {
  const browser = browserOr(skip)
  const service = await serve({ MARKET_DATA: 'sample' })
  const { page, faults } = await openPage({ browser, origin: service.url, viewport: DESKTOP })

  await talk(page, service.url)
  expect(faults).toEqual([])

  await surviveCrash(page, service)
  // The browser itself reports each attempt to reach a service that is down.
  const outage = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|WebSocket connection|50[23]/
  expect(faults.filter((fault) => !outage.test(fault))).toEqual([])
  faults.length = 0

  await analyse(page)
  await readReport(page)
  await readReview(page, service.url)
  expect(faults).toEqual([])

  await submitNonsense(page)
  expect(faults).toEqual([])

  await readReference(page, service.url)
  // The browser itself reports the request that the form sent to be refused.
  expect(faults.filter((fault) => !/status of 400/.test(fault))).toEqual([])
})

async function readReference(page: Page, url: string): Promise<void> {
  const served = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> }
  const count = Object.values(served.paths).reduce((sum, path) => sum + Object.keys(path).length, 0)
  await page.goto(`${url}/docs`)
  await page.getByText(`${count} endpoints`, { exact: true }).waitFor()
  expect(await page.locator('.endpoint').count()).toBe(count)

  await page.getByLabel('Filter').fill('post analysis/analyze')
  await page.getByText('1 endpoint', { exact: true }).waitFor()
  await page.getByText('/api/v1/analysis/analyze', { exact: true }).click()
  await page.getByRole('button', { name: 'Try it' }).click()
  await page.getByLabel('Body application/json').fill('{"stock_code": "no such code!"}')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('region', { name: 'Answer', exact: true }).getByText('400 Bad Request').waitFor()
  await page.getByRole('region', { name: 'Body of the answer' }).getByText('validation_error').waitFor()
}

async function talk(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.getByRole('button', { name: 'Start a conversation' }).click()
  await say(page, 'echo hello > a.txt && cat a.txt')
  await outputs(page).getByText('hello', { exact: true }).waitFor()
  await page.getByRole('log').getByText('exit code 0').waitFor()

  await page.getByRole('button', { name: 'a.txt' }).click()
  await page.getByRole('region', { name: 'a.txt' }).getByText('hello').waitFor()

  await page.reload()
  await outputs(page).getByText('hello', { exact: true }).waitFor()
  expect(await outputs(page).count()).toBe(1)

  await say(page, `echo '${HOSTILE}'`)
  await outputs(page).getByText(HOSTILE).waitFor()
  const upload = { name: 'notes & more.txt', mimeType: 'text/plain', buffer: Buffer.from(`${HOSTILE} uploaded`) }
  await page.getByLabel('Upload').setInputFiles(upload)
  await page.getByRole('button', { name: /^notes/ }).click()
  await page.getByText(`${HOSTILE} uploaded`).waitFor()
  expect(await page.locator('img').count()).toBe(0)

  await say(page, 'sleep 60')
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('log').getByText('Stopped.', { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(0)

  await page.setViewportSize(PHONE)
  expect(await overflowOf(page)).toBe(0)
  expect(await page.getByLabel('Message', { exact: true }).isVisible()).toBe(true)
}

async function surviveCrash(page: Page, service: Service): Promise<void> {
  expect(service.kill9Runtime()).toBeGreaterThan(0)
  await page.getByText('Connection lost').waitFor({ timeout: 60_000 })
  await say(page, 'echo said while it was down')
  await outputs(page).getByText('said while it was down', { exact: true }).waitFor({ timeout: 60_000 })
  await page.getByText('Connection lost').waitFor({ state: 'detached' })
  // Sent again after the reconnect, it still counts once; and the replay repeats nothing.
  expect(await commands(page, 'said while it was down').count()).toBe(1)
  expect(await commands(page, 'echo hello').count()).toBe(1)
  await page.reload()
  await commands(page, 'said while it was down').waitFor()
  expect(await outputs(page).allTextContents()).toEqual(['hello', HOSTILE, 'said while it was down'])
}

async function analyse(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Analysis' }).click()
  const states = page.evaluate(watchTasks)
  await page.getByLabel('Codes or names').fill('600519, AAPL')
  await page.getByRole('button', { name: 'Analyse 2' }).click()
  for (const code of ['600519', 'AAPL']) {
    await page
      .locator('.task', { hasText: code })
      .getByRole('link', { name: 'Open report' })
      .waitFor({ timeout: 60_000 })
  }
  expect(await states, 'a task shows its progress before its report').toBe(true)
  expect(await overflowOf(page)).toBe(0)
}

/** Resolves in the page once a progress bar was shown. Sample analyses are quick: looking from outside may come too late. */
const watchTasks = (): Promise<boolean> =>
  new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (document.querySelector('.task progress') === null) return
      observer.disconnect()
      resolve(true)
    })
    observer.observe(document.body, { childList: true, subtree: true })
    setTimeout(() => resolve(false), 60_000)
  })

async function submitNonsense(page: Page): Promise<void> {
  await page.getByLabel('Codes or names').fill('AAPL\n<script>\nno&thing')
  await page.getByRole('button', { name: 'Analyse 3' }).click()
  const problems = page.getByRole('region', { name: 'Read as' }).locator('.problem')
  await problems.getByText('<script>').waitFor()
  expect(await problems.count()).toBe(2)
  // Nothing was sent: the entries stay where they can be mended.
  await expect
    .poll(() => page.getByLabel('Codes or names').evaluate((field) => field === document.activeElement))
    .toBe(true)
  expect(await page.getByLabel('Codes or names').inputValue()).toContain('no&thing')
}

/** Tables, a picture and words, and nothing of the Markdown they were written in. */
async function readReview(page: Page, url: string): Promise<void> {
  const data = { region: 'cn', report_language: 'en' }
  const accepted = await page.request.post(`${url}/api/v1/analysis/market-review`, { data })
  const { task_id } = (await accepted.json()) as { task_id: string }
  await page.goto(`${url}/analysis/${task_id}`)
  await page.getByRole('heading', { level: 2, name: /China A-shares$/ }).waitFor({ timeout: 60_000 })
  await page.getByRole('columnheader', { name: 'Index', exact: true }).waitFor()
  await page.locator('.index-card').nth(1).waitFor()
  const chart = page.locator('.markdown img[src*="/chart.svg"]')
  await chart.scrollIntoViewIfNeeded()
  await expect.poll(() => chart.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0)
  expect(await page.locator('.markdown').textContent()).not.toMatch(/data:image|\*\*|##|\| ---/)
  expect(await overflowOf(page)).toBe(0)
  await page.getByRole('link', { name: 'All tasks' }).click()
  await page.locator('.task', { hasText: 'Market Review CN' }).waitFor()
}

async function readReport(page: Page): Promise<void> {
  await page.setViewportSize(DESKTOP)
  await page.locator('.task', { hasText: '600519' }).getByRole('link', { name: 'Open report' }).click()
  await page.getByRole('heading', { level: 1, name: /600519/ }).waitFor()
  await page.locator('.notice.warning', { hasText: /sample|样本|示例|샘플/i }).waitFor()
  await page.getByRole('img', { name: /^Score \d+ of 100/ }).waitFor()
  const levels = await page.locator('.level-card dd').allTextContents()
  // A report that advises no purchase has no level to buy at.
  expect(levels.length).toBeGreaterThanOrEqual(2)
  for (const level of levels) expect(level).toMatch(/\d/)

  for (const name of ['Plan', 'Trend by horizon', 'Performance', 'Beside the market', 'What the method was worth'])
    await page.getByRole('heading', { level: 2, name }).waitFor()
  expect(await page.locator('.figures dd').allTextContents()).toEqual(
    expect.arrayContaining([expect.stringMatching(/%$/)]),
  )

  const chart = page.getByRole('img', { name: 'Daily prices of 600519' })
  await chart.waitFor()
  await chart.locator('canvas').first().waitFor()
  const date = page.locator('.readout strong')
  const newest = await date.textContent()
  await page.getByLabel('Session').press('ArrowLeft')
  await expect.poll(() => date.textContent()).not.toBe(newest)
  // Every average has its value from the first session on.
  await page.getByLabel('Session').press('Home')
  await expect.poll(() => date.textContent()).not.toBe(newest)
  expect(await page.locator('.readout').textContent()).toMatch(/MA60 [\d,.]+$/)
  for (const pane of ['MACD', 'RSI', 'KDJ', 'Log scale']) await page.getByRole('checkbox', { name: pane }).check()
  await page.locator('.readout', { hasText: /DIF .*RSI6 .*K / }).waitFor()
  await page.getByLabel('Compare with another stock').fill('000001')
  await page.getByLabel('Compare with another stock').press('Enter')
  await page.getByRole('button', { name: /Remove the comparison/ }).click()
  await page.getByRole('heading', { level: 2, name: 'How the score came about' }).waitFor()
  expect(await page.locator('.score-parts li').count()).toBeGreaterThanOrEqual(5)
  await page.getByText('How this report was made').click()
  await page.locator('.flow-node').nth(3).waitFor()
  await page.getByLabel('1 year').check()
  await expect.poll(() => page.getByLabel('Session').getAttribute('max').then(Number)).toBeGreaterThan(200)

  await page.setViewportSize(PHONE)
  await expect.poll(() => overflowOf(page)).toBe(0)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download Markdown' }).click()
  const file = await download
  expect(file.suggestedFilename()).toMatch(/^600519-\d{4}-\d\d-\d\d\.md$/)
  expect(await readFile(await file.path(), 'utf8')).toContain('600519')
}

test('the form shows how each entry is read, asks about those that are not clear, and sends the codes', async ({
  skip,
}) => {
  const browser = browserOr(skip)
  const service = await serve({ MARKET_DATA: 'sample' })
  const { page, faults } = await openPage({ browser, origin: service.url, viewport: PHONE })
  const sent: unknown[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/analyze')) sent.push(request.postDataJSON())
  })
  await page.goto(`${service.url}/analysis`)
  await page.getByLabel('Codes or names').fill('６００５１９, 茅台(600519)\n贵州茅苔\nApple, Inc.\nNVIDA')
  const read = page.getByRole('region', { name: 'Read as' })
  await read.getByText('茅台(600519) → Kweichow Moutai').waitFor()
  await read.getByText('Apple, Inc. → Apple').waitFor()
  // The ticker that no list knows goes as it is unless another is chosen; the wrong character has to be answered for.
  expect(await read.getByRole('radio', { name: /^NVIDA/ }).isChecked()).toBe(true)
  await read.getByText('NVIDIA').click()
  await page.getByLabel('Codes or names').press('Tab')
  await page.getByRole('button', { name: /^Analyse/ }).click()
  const question = read.getByRole('group', { name: 'Which stock do you mean by “贵州茅苔”?' })
  await expect.poll(() => question.evaluate((group) => group.contains(document.activeElement))).toBe(true)
  expect(await page.getByRole('status').filter({ hasText: 'One entry needs your answer.' }).count()).toBe(1)
  expect(sent).toEqual([])
  expect(await overflowOf(page)).toBe(0)
  await page.keyboard.press('Space')
  expect(await question.getByRole('radio', { name: /600519/ }).isChecked()).toBe(true)
  await page.getByRole('button', { name: /^Analyse/ }).click()
  await page.locator('.task', { hasText: 'NVDA' }).waitFor({ timeout: 30_000 })
  expect(sent).toMatchObject([{ stock_codes: ['600519', 'AAPL', 'NVDA'] }])
  await partsOfABatch(page, sent)

  await page.getByLabel('Language of the report').selectOption('zh')
  await page.getByLabel('Codes or names').fill('腾讯\n113050.SH\n龘龘龘')
  await page.getByRole('region', { name: '识别结果' }).getByText('腾讯控股').waitFor()
  await page.getByText('113050.SH: 该号码不是股票').waitFor()
  await page.getByText('未找到“龘龘龘”').waitFor()
  // The browser itself reports the request that was refused.
  expect(faults.filter((fault) => !/status of 400/.test(fault))).toEqual([])
})

/** What is clear goes at once, and what the service does not take after all becomes a question with its candidates. */
async function partsOfABatch(page: Page, sent: unknown[]): Promise<void> {
  const field = page.getByLabel('Codes or names')
  await field.fill('TSLA, 龘龘龘, tesla')
  await page.getByRole('button', { name: 'Submit the 1 that are clear' }).click()
  await page.locator('.task', { hasText: 'TSLA' }).waitFor()
  expect(await field.inputValue()).toBe('龘龘龘')
  const candidates = [
    { stock_code: 'HK00700', stock_name: 'Tencent Holdings', market: 'hk', market_label: 'Hong Kong' },
  ]
  const detail = { invalid: [{ input: 'MSFT', message: 'MSFT is not traded here', candidates }] }
  await page.route(
    '**/analyze',
    (route) => route.fulfill({ status: 400, json: { error: 'validation_error', detail } }),
    {
      times: 1,
    },
  )
  await field.fill('MSFT, 600519')
  await page.getByRole('button', { name: 'Analyse 2' }).click()
  const question = page.getByRole('group', { name: 'Which stock do you mean by “MSFT”?' })
  await question.getByRole('radio', { name: /Tencent/ }).click()
  expect(sent.slice(-2)).toMatchObject([{ stock_codes: ['MSFT', '600519'] }, { stock_code: '600519' }])
  await page.getByRole('button', { name: 'Analyse', exact: true }).click()
  await page.locator('.task', { hasText: 'HK00700' }).waitFor()
  expect(await field.inputValue()).toBe('')
}

test('a task that waits and one that runs are cancelled from the list', async ({ skip }) => {
  const browser = browserOr(skip)
  // A model that never answers keeps the tasks that run where they are.
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  onTestFinished(() => {
    silent.closeAllConnections()
    silent.close()
  })
  await once(silent, 'listening')
  const model = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`
  const env = { MARKET_DATA: 'sample', LLM_MODEL: 'openai/silent', LLM_BASE_URL: model, LLM_API_KEY: 'none' }
  const service = await serve({ ...env, MAX_RUNNING_TASKS: '1' })
  const { page, faults } = await openPage({ browser, origin: service.url, viewport: PHONE })
  await page.goto(`${service.url}/analysis`)
  await page.getByLabel('Codes or names').fill('600519, AAPL')
  await page.getByRole('button', { name: 'Analyse 2' }).click()
  await page.locator('.task', { hasText: '68 %' }).waitFor({ timeout: 60_000 })
  for (const code of ['AAPL', '600519']) {
    const task = page.locator('.task', { hasText: code })
    await task.getByRole('button', { name: `Cancel ${code}` }).click()
    await task.getByText('Cancelled', { exact: true }).waitFor({ timeout: 30_000 })
    expect(await task.getByRole('button').count()).toBe(0)
  }
  expect(await overflowOf(page)).toBe(0)
  expect(faults).toEqual([])
})

test('with keys required, the console asks for one, keeps it out of scripts, and forgets it at sign-out', async ({
  skip,
}) => {
  const browser = browserOr(skip)
  const rootKey = 'root-key-for-the-console-journey-0123456789'
  const secretsKey = Buffer.alloc(32, 7).toString('base64')
  const env = { AUTH_MODE: 'keys', ROOT_API_KEY: rootKey, SECRETS_KEY: secretsKey, MARKET_DATA: 'sample' }
  const service = await serve(env)
  const key = await issueKey(service.url, rootKey)
  const { page, faults } = await openPage({ browser, origin: service.url, viewport: PHONE })

  await page.goto(`${service.url}/conversations`)
  await page.getByLabel('API key').fill('not-a-key')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('not valid').waitFor()
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()

  await page.getByLabel('First message').fill('echo signed in')
  await page.getByRole('button', { name: 'Start a conversation' }).click()
  await outputs(page).getByText('signed in', { exact: true }).waitFor()
  expect(await page.evaluate(() => document.cookie)).toBe('')
  expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0)

  await page.getByRole('link', { name: 'Analysis' }).click()
  await page.getByText('No access').waitFor()

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
  await page.reload()
  await page.getByLabel('API key').waitFor()
  // The browser itself reports the 401 that tells the console to ask for a key.
  expect(faults.filter((fault) => !/status of 401/.test(fault))).toEqual([])
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
