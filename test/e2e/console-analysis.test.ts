// Stock analysis in the console by the keyboard alone: from a name that is typed to a report that is read, compared, taken along
// and asked about, on sample prices.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { startScriptedModel } from '../support/scripted-model.ts'
import { browserOr, sharedService } from './browser.ts'
import { type Answer, type Recorded, withBoards, withEverything } from './full-report.ts'
import { type Look, type Person, personAt, SIZES } from './person.ts'

const shared = sharedService({})

async function someone(skip: (note: string) => never, at: string, look: Look): Promise<Person> {
  const browser = browserOr(skip)
  const { url } = await shared.start()
  const person = await personAt({ browser, origin: url, look })
  await person.open(`${url}${at}`)
  return person
}

const reported = async (code: string): Promise<string> =>
  (await shared.post<{ query_id: string }>('/api/v1/analysis/analyze', { stock_code: code, report_language: 'en' }))
    .query_id
const task = (page: Page, code: string) => page.locator('.task', { hasText: code })

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

test('journey: entries are read while they are typed, one that is not clear is asked about, and a batch goes its way in sight', async ({
  skip,
}) => {
  const one = await someone(skip, '/analysis', { language: 'en', theme: 'light', size: 'narrow' })
  const { page } = one
  const sent: unknown[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/analyze')) sent.push(request.postDataJSON())
  })
  const codes = one.field('Codes or names')
  const send = page.getByRole('button', { name: /^Analyse/ })
  await one.write(codes, '６００５１９, 茅台(600519)\n贵州茅苔\nApple, Inc.\nNVIDA')
  const read = page.getByRole('region', { name: 'Read as' })
  await read.getByText('茅台(600519) → Kweichow Moutai').waitFor()
  await read.getByText('Apple, Inc. → Apple').waitFor()
  // The ticker that no list knows goes as it is unless another is chosen; the wrong character has to be answered for.
  await expect.poll(() => read.getByRole('radio', { name: /^NVIDA/ }).isChecked()).toBe(true)
  await one.to(read.getByRole('radio', { name: /NVIDIA/ }))
  await one.looks('entries that are read')
  await one.press(send)
  const question = read.getByRole('group', { name: 'Which stock do you mean by “贵州茅苔”?' })
  await expect.poll(() => question.evaluate((group) => group.contains(document.activeElement))).toBe(true)
  await page.getByRole('status').filter({ hasText: 'One entry needs your answer.' }).waitFor()
  expect(sent).toEqual([])
  await page.keyboard.press('Space')
  await expect.poll(() => question.getByRole('radio', { name: /600519/ }).isChecked()).toBe(true)
  const progress = page.evaluate(watchTasks)
  await one.press(send)
  await task(page, 'NVDA').getByRole('link', { name: 'Open report' }).waitFor({ timeout: 60_000 })
  expect(await progress, 'a task shows its progress before its report').toBe(true)
  expect(sent).toMatchObject([{ stock_codes: ['600519', 'AAPL', 'NVDA'] }])
  await one.looks('tasks that are done')

  await one.write(codes, 'tencen')
  await one.press(
    page
      .getByRole('group', { name: 'Suggestions' })
      .getByRole('button', { name: /Tencent/ })
      .first(),
  )
  expect(await codes.inputValue()).toMatch(/00700.*, $/)
  await one.write(codes, 'AAPL\n<script>\nno&thing')
  await one.press(send)
  await read.locator('.problem').getByText('<script>').waitFor()
  await expect.poll(() => read.locator('.problem').count()).toBe(2)
  // Nothing was sent: the entries stay where they can be mended.
  await expect.poll(() => codes.evaluate((field) => field === document.activeElement)).toBe(true)
  expect(await codes.inputValue()).toContain('no&thing')
  await partsOfABatch(one, sent)
  await one.pick(one.list('Language of the report'), 'zh')
  await one.write(codes, '腾讯\n113050.SH\n龘龘龘')
  await page.getByRole('region', { name: '识别结果' }).getByText('腾讯控股').waitFor()
  await page.getByText('113050.SH: 该号码不是股票').waitFor()
  await page.getByText('未找到“龘龘龘”').waitFor()
  // The browser itself reports the request that was refused.
  expect(one.faults.filter((fault) => !/status of 400/.test(fault))).toEqual([])
})

/** What is clear goes at once, and what the service does not take after all becomes a question with its candidates. */
async function partsOfABatch(one: Person, sent: unknown[]): Promise<void> {
  const { page } = one
  const field = one.field('Codes or names')
  await one.write(field, 'TSLA, 龘龘龘, tesla')
  await one.press(page.getByRole('button', { name: 'Submit the 1 that are clear' }))
  await task(page, 'TSLA').waitFor()
  await expect.poll(() => field.inputValue()).toBe('龘龘龘')
  const candidates = [
    { stock_code: 'HK00700', stock_name: 'Tencent Holdings', market: 'hk', market_label: 'Hong Kong' },
  ]
  const detail = { invalid: [{ input: 'MSFT', message: 'MSFT is not traded here', candidates }] }
  const refusal = { status: 400, json: { error: 'validation_error', detail } }
  await page.route('**/analyze', (route) => route.fulfill(refusal), { times: 1 })
  await one.write(field, 'MSFT, 600519')
  await one.press(page.getByRole('button', { name: 'Analyse 2' }))
  const question = page.getByRole('group', { name: 'Which stock do you mean by “MSFT”?' })
  await one.press(question.getByRole('radio', { name: /Tencent/ }), 'Space')
  await expect.poll(() => sent.slice(-2)).toMatchObject([{ stock_codes: ['MSFT', '600519'] }, { stock_code: '600519' }])
  await one.press(one.button('Analyse'))
  await task(page, 'HK00700').waitFor()
  expect(await field.inputValue()).toBe('')
}

test('journey: a report is read to its end, and its chart by sessions, panes, scale, comparison and span', async ({
  skip,
}) => {
  const id = await reported('600519')
  const one = await someone(skip, `/analysis/${id}`, { language: 'en', theme: 'dark', size: 'wide' })
  const { page } = one
  await page.getByRole('heading', { level: 1, name: /600519/ }).waitFor()
  await page.locator('.notice.warning', { hasText: /sample/i }).waitFor()
  await page.getByRole('img', { name: /^Score \d+ of 100/ }).waitFor()
  const levels = await page.locator('.level-card dd').allTextContents()
  // A report that advises no purchase has no level to buy at.
  expect(levels.length).toBeGreaterThanOrEqual(2)
  for (const level of levels) expect(level).toMatch(/\d/)
  const parts = ['Plan', 'Trend by horizon', 'Performance', 'Beside the market', 'What the method was worth'] as const
  for (const name of [...parts, 'How the score came about'] as const) await one.heading(name).waitFor()
  await comesBack(one)
  expect(await page.locator('.figures dd').allTextContents()).toEqual(
    expect.arrayContaining([expect.stringMatching(/%$/)]),
  )
  expect(await page.locator('.score-parts li').count()).toBeGreaterThanOrEqual(5)

  await page.getByRole('img', { name: 'Daily prices of 600519' }).locator('canvas').first().waitFor()
  for (const pane of ['MACD', 'RSI', 'KDJ', 'Log scale']) await one.check(page.getByRole('checkbox', { name: pane }))
  await page.locator('.readout', { hasText: /DIF .*RSI6 .*K / }).waitFor()
  const date = page.locator('.readout strong')
  const newest = await date.textContent()
  await one.press(one.field('Session'), 'ArrowLeft')
  await expect.poll(() => date.textContent()).not.toBe(newest)
  // Every average has its value from the first session on.
  await page.keyboard.press('Home')
  await expect.poll(() => page.locator('.readout').textContent()).toMatch(/MA60 [\d,.]+/)
  await one.press(page.locator('summary', { hasText: 'The last 20 sessions as a table' }))
  await one.check(page.getByRole('checkbox', { name: 'Log scale' }), false)
  await one.write(one.field('Compare with another stock'), '000001')
  await page.keyboard.press('Enter')
  await one.press(page.getByRole('button', { name: /Remove the comparison/ }))
  await one.to(one.field('1 year'))
  await expect.poll(() => one.field('Session').getAttribute('max').then(Number)).toBeGreaterThan(200)
  await one.press(page.locator('summary', { hasText: 'How this report was made' }))
  await page.locator('.flow-node').nth(3).waitFor()
  await one.press(page.locator('.details summary').first())
  await one.looks('a report with everything open')
  expect(one.faults).toEqual([])
})

/** Back and a reload lead to where the reader was in a long page, another page begins at its top. */
async function comesBack(one: Person): Promise<void> {
  const { page } = one
  const top = () => page.evaluate(() => scrollY)
  const noted = () => page.evaluate(() => Reflect.get(history.state ?? {}, 'scrolled'))
  await page.evaluate(() => scrollTo(0, 700))
  await expect.poll(noted).toBe(700)
  await page.keyboard.press('Control+k')
  await one.to(one.list('Go to a page, a conversation or a stock'))
  await page.keyboard.insertText(one.say('Watchlists'))
  await page.getByRole('option', { name: one.say('Watchlists'), selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await one.heading('Watchlists').waitFor()
  expect(await top()).toBe(0)
  await page.goBack()
  await expect.poll(top).toBe(700)
  await one.reload()
  await expect.poll(top).toBe(700)
}

test('journey: a report with words of a model, news, doubts and strategies is read, and one whose figures are withheld', async ({
  skip,
}) => {
  const id = await reported('600519')
  const one = await someone(skip, '/analysis', { language: 'zh', theme: 'dark', size: 'wide' })
  const { page } = one
  for (const isWithheld of [false, true]) {
    await page.route('**/api/v1/analysis/status/*', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: withEverything((await response.json()) as Answer, isWithheld) })
    })
    await one.open(`${(await shared.start()).url}/analysis/${id}`)
    await page.locator('.notice', { hasText: 'The model would rather sell.' }).waitFor()
    await page.getByRole('link', { name: /goes on for longer/ }).waitFor()
    await page.locator('.verdict .by-horizon').waitFor()
    expect(await page.locator('.gate, .model-sentences .mark, .cards-grid > li').count()).toBe(6)
    expect(await page.locator('.verdict .mark').count()).toBe(isWithheld ? 2 : 3)
    if (isWithheld) expect(await page.locator('.plot').count()).toBe(0)
    else await page.locator('.plot canvas').first().waitFor()
    await one.looks(isWithheld ? 'a report whose figures are withheld' : 'a report with everything in it')
    await page.unrouteAll({ behavior: 'wait' })
  }
  expect(one.faults).toEqual([])
})

test('journey: a report is taken along as Markdown, as a picture and on paper', async ({ skip }) => {
  const id = await reported('AAPL')
  const one = await someone(skip, `/analysis/${id}`, { language: 'zh', theme: 'light', size: 'narrow' })
  const { page } = one
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const taken = async (name: 'Download Markdown' | 'Download picture') => {
    const control = name === 'Download picture' ? one.link(name) : one.button(name)
    const [download] = await Promise.all([page.waitForEvent('download'), one.press(control)])
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) }
  }
  const text = await taken('Download Markdown')
  expect(text.name).toMatch(/^AAPL-\d{4}-\d\d-\d\d\.md$/)
  expect(text.bytes.toString()).toContain('AAPL')
  const picture = await taken('Download picture')
  expect([picture.bytes.readUInt32BE(0), picture.bytes.readUInt32BE(16)]).toEqual([0x89504e47, 1080])
  await one.press(one.button('Copy Markdown'))
  await one.button('Copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('AAPL')
  // Of the dialog for printers, only that it is asked for.
  await page.evaluate(() => {
    window.print = () => document.body.setAttribute('data-printed', 'yes')
  })
  await one.press(one.button('Print'))
  expect(await page.locator('body[data-printed]').count()).toBe(1)
  await one.looks('a report on a phone')
  await page.emulateMedia({ media: 'print' })
  expect(await one.button('Print').isVisible()).toBe(false)
  await page.emulateMedia({ media: null, colorScheme: 'dark' })
  await page.locator('.plot canvas').first().waitFor({ state: 'attached' })
  for (const size of Object.values(SIZES)) {
    await page.setViewportSize(size)
    await onPaper(page)
  }
  expect(one.faults).toEqual([])
})

type Sheet = { width: number; height: number; ground: number[]; left: number; right: number; isPlotShown: boolean }

/** The whole of the chart stands on the sheet, in light colours, in the place of that of the screen. */
async function onPaper(page: Page): Promise<void> {
  await page.evaluate(() => {
    // Told while the page has the style and the width of the sheet.
    const look = () => {
      const [picture, plot] = ['.on-paper', '.plot'].map((name) => document.querySelector(name))
      if (!(picture instanceof HTMLCanvasElement) || !plot || !matchMedia('print').matches) return
      const { left, right } = picture.getBoundingClientRect()
      const { width, height } = picture
      const ground = [...(picture.getContext('2d')?.getImageData(2, 2, 1, 1).data ?? [])]
      const isPlotShown = getComputedStyle(plot).display !== 'none'
      Object.assign(window, { sheet: { width, height, ground, left, right, isPlotShown } })
    }
    matchMedia('print').addEventListener('change', look, { once: true })
  })
  const pdf = (await page.pdf({ format: 'A4' })).toString('latin1')
  const sheet = (await page.evaluate(() => Reflect.get(window, 'sheet'))) as Sheet
  expect(sheet).toMatchObject({ ground: [255, 255, 255, 255], isPlotShown: false })
  expect(sheet.left).toBeGreaterThanOrEqual(0)
  expect(sheet.right).toBeLessThanOrEqual(794)
  // It is drawn in the file from its parts, prices beside their scale: as wide as the sheet, not as the screen.
  const widths = [...pdf.matchAll(/\/Subtype \/Image\s+\/Width (\d+)/g)].map(([, width]) => Number(width))
  expect(Math.max(...widths)).toBeGreaterThan(0.8 * sheet.width)
  expect(Math.max(...widths)).toBeLessThanOrEqual(sheet.width)
  expect(await page.locator('.on-paper').count()).toBe(0)
}

test('journey: a market review is tables, cards and a picture, and nothing of the Markdown it was written in', async ({
  skip,
}) => {
  const { task_id } = await shared.post<{ task_id: string }>('/api/v1/analysis/market-review', {
    region: 'cn',
    report_language: 'en',
  })
  const one = await someone(skip, `/analysis/${task_id}`, { language: 'en', theme: 'light', size: 'wide' })
  const { page } = one
  await page.getByRole('heading', { level: 2, name: /China A-shares$/ }).waitFor({ timeout: 60_000 })
  await page.getByRole('columnheader', { name: 'Index', exact: true }).waitFor()
  await page.locator('.index-card').nth(1).waitFor()
  const chart = page.locator('.markdown img[src*="/chart.svg"]')
  await chart.scrollIntoViewIfNeeded()
  const isDrawn = () => chart.evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth > 0)
  await expect.poll(isDrawn).toBe(true)
  // Of the page's own colours.
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('.markdown img[src$="/chart.svg?region=cn&theme=dark"]').waitFor()
  await expect.poll(isDrawn).toBe(true)
  await one.looks('a market review in the dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.route('**/api/v1/history/*', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: withBoards((await response.json()) as Recorded) })
  })
  await one.reload()
  await page.locator('.heat.down-5').first().waitFor()
  expect(await page.locator('.heat').count()).toBe(22)
  expect(await page.locator('.markdown').textContent()).not.toMatch(/data:image|\*\*|##|\| ---/)
  await one.looks('a market review')
  await one.press(page.getByRole('link', { name: 'All tasks' }))
  await page.locator('.task', { hasText: 'Market Review CN' }).waitFor()
  expect(one.faults).toEqual([])
})

test('journey: a task that runs and those that wait are cancelled from the list, and a failed one is tried again', async ({
  skip,
}) => {
  // A model that never answers keeps the tasks that run where they are.
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  onTestFinished(async () => {
    silent.closeAllConnections()
    silent.close()
    await shared.post('/api/settings', { llm_base_url: '', llm_api_key: '' })
  })
  await once(silent, 'listening')
  const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`
  const one = await someone(skip, '/analysis', { language: 'zh', theme: 'dark', size: 'narrow' })
  const { page } = one
  const codes = one.field('Codes or names')
  const sent: unknown[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/analyze')) sent.push(request.postDataJSON())
  })
  await one.pick(one.list('Language of the report'), 'ko')
  await one.pick(one.list('Report'), 'brief')
  await one.write(codes, 'ZZZZ')
  await one.press(page.getByRole('button', { name: /^开始分析/ }))
  await one.press(task(page, 'ZZZZ').getByRole('button', { name: one.say('Try again') }))
  await expect.poll(() => task(page, 'ZZZZ').count()).toBe(2)
  // As it was asked for the first time.
  const asked = { stock_code: 'ZZZZ', report_language: 'ko', report_type: 'brief' }
  expect(sent).toMatchObject([asked, asked])
  await shared.post('/api/settings', { llm_model: 'openai/silent', llm_base_url: address, llm_api_key: 'none' })
  await one.write(codes, '000001, MSFT')
  await one.press(one.button('Analyse {count}', { count: 2 }))
  await task(page, 'MSFT').getByText('68 %').waitFor({ timeout: 60_000 })
  await one.looks('tasks that run')
  for (const code of ['MSFT', '000001']) {
    await one.press(task(page, code).getByRole('button'))
    await task(page, code).getByText(one.say('Cancelled'), { exact: true }).waitFor()
    await expect.poll(() => task(page, code).getByRole('button').count()).toBe(0)
  }
  await one.to(codes)
  expect(one.faults).toEqual([])
})

test('journey: a report is asked about; the page is left in the middle and finds the answer once, and the talk goes on with files', async ({
  skip,
}) => {
  // Before there is a model, which would be asked for its words.
  const report = await reported('600519')
  const model = await startScriptedModel({ keepsProcess: false })
  onTestFinished(async () => {
    await shared.post('/api/settings', { llm_base_url: '', llm_api_key: '' })
    await model.close()
  })
  model.setScript('asked', {
    by: 'history',
    replies: [{ text: 'The price is 1234.5, says **nobody**.', heldAfter: 1 }],
  })
  const settings = { llm_model: 'openai/scripted', llm_base_url: `${model.url}/asked/v1`, llm_api_key: 'sk-asked-01' }
  await shared.post('/api/settings', settings)
  const one = await someone(skip, `/analysis/${report}`, { language: 'en', theme: 'dark', size: 'narrow' })
  const { page } = one
  await one.press(one.link('Ask about this report'))
  await page.getByText(/^About .*600519/).waitFor()
  await one.write(one.field('Question'), 'What is the price?')
  await page.keyboard.press('Enter')
  await page.getByRole('status').waitFor()
  await page.waitForURL(/session=/)
  await expect.poll(() => model.requests('asked').length).toBe(1)
  await one.reload()
  await page.getByRole('status').waitFor()
  await one.looks('a question that is being answered')
  await fetch(`${model.url}/asked/release`, { method: 'PUT' })
  const answer = page.locator('.talk-messages .assistant')
  await answer.getByText('not in the data').waitFor()
  expect([await answer.count(), await page.locator('.talk-messages .user').count()]).toEqual([1, 1])
  const talks = page.getByRole('navigation', { name: 'Talks' })
  await one.to(talks.getByRole('link', { name: /What is the price/ }))
  await one.looks('a talk')
  await one.press(one.button('Continue with files'))
  await page.waitForURL(/\/conversations\//)
  await page.getByText('What is the price?').first().waitFor()
  await one.to(one.field('Message'))
  expect(one.faults.filter((fault) => !/WebSocket|ERR_ABORTED/.test(fault))).toEqual([])
})
