// What is easily told wrong and hardly noticed: figures on a chart, how full a context is, what an agent says beside its steps, names
// of files, files of the past on a small screen, and where a file lands that somebody drops.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import type { Script } from '../support/scripted-model-orders.ts'
import { browserOr, sharedService } from './browser.ts'
import { type Look, type Person, personAt, SIZES } from './person.ts'

const shared = sharedService({})
let model: ScriptedModel
beforeAll(async () => {
  model = await startScriptedModel()
})
afterAll(() => model.close())

async function someone(skip: (note: string) => never, look: Look): Promise<Person> {
  const browser = browserOr(skip)
  return personAt({ browser, origin: (await shared.start()).url, look })
}

/** What is written into a canvas is nowhere else to be read. */
const noteTexts = () => {
  const texts: string[] = []
  Object.assign(window, { texts })
  const write = CanvasRenderingContext2D.prototype.fillText
  CanvasRenderingContext2D.prototype.fillText = function (...all: Parameters<typeof write>) {
    texts.push(all[0])
    return write.apply(this, all)
  }
}
const textsOf = (page: Page) => page.evaluate(() => [...new Set(Reflect.get(window, 'texts') as string[])])

const percent = (price: number, base: number): string => `${((price / base - 1) * 100).toFixed(2)} %`.replace('-', '−')

test('journey: beside the index of its market a chart tells true percentages of prices and levels, and indicators in their own unit', async ({
  skip,
}) => {
  const one = await someone(skip, { language: 'zh', theme: 'dark', size: 'narrow' })
  const { page } = one
  await page.addInitScript(noteTexts)
  // The first has risen over the year and the second has fallen, and of the second one's days the index has none.
  for (const code of ['600000', '600519']) {
    const asked = { stock_code: code, report_language: 'en' }
    const { query_id: id } = await shared.post<{ query_id: string }>('/api/v1/analysis/analyze', asked)
    const path = `/api/v1/stocks/${code}/history?days=365&limit=365`
    const { data } = await shared.get<{ data: { close: number }[] }>(path)
    await one.open(`${(await shared.start()).url}/analysis/${id}`)
    for (const pane of ['RSI', 'KDJ']) await one.check(page.getByRole('checkbox', { name: pane }))
    await one.to(one.field('1 year'))
    await expect.poll(() => one.field('Session').getAttribute('max').then(Number)).toBe(249)
    await one.press(one.button('Compare with {name}', { name: 'CSI 300' }))
    await page.getByRole('button', { name: /CSI 300 Index/ }).waitFor()
    const { strategy } = await shared.get<{ strategy: { stop_loss: string } }>(`/api/v1/history/${id}`)
    const [base, newest] = [data.at(-250)?.close ?? Number.NaN, data.at(-1)?.close ?? Number.NaN]
    const wanted = [newest, Number.parseFloat(strategy.stop_loss.replaceAll(',', ''))].map((price) =>
      percent(price, base),
    )
    await expect.poll(() => textsOf(page)).toEqual(expect.arrayContaining([...wanted, '50.00']))
    if (code === '600519') await one.reads('{name} has no session in common with these.', { name: 'CSI 300 Index' })
    await one.looks(`a chart of ${code} beside an index`)
  }
  expect(one.faults).toEqual([])
})

const edit = (path: string) => ({
  name: 'str_replace_editor',
  arguments: { command: 'create', path, file_text: 'x\n' },
})

/** At a conversation that the agent has finished with; the name that it gave a file shows less than it says. */
async function talk(one: Person): Promise<string> {
  const path = '/workspace/in/voice\u202egpj.txt'
  const replies: Script['replies'] = [
    { text: 'First I *write* a file.', calls: [edit(path)], usage: { prompt: 9_000, completion: 100 } },
    ...['1', '2', '3', '4', '5', '6'].map((id) => ({
      text: 'a line\n\n'.repeat(12),
      calls: [{ id, name: 'execute_bash', arguments: { command: `seq ${id}0` } }],
    })),
    { text: 'All is written.', usage: { prompt: 64_000, completion: 500 } },
  ]
  const name = `script-${crypto.randomUUID()}`
  model.setScript(name, { replies })
  const settings = { llm_model: 'openai/gpt-4o', llm_base_url: `${model.url}/${name}/v1`, llm_api_key: 'k' }
  await shared.post('/api/settings', { ...settings, confirmation_mode: false })
  const { conversation_id: id } = await shared.post<{ conversation_id: string }>('/api/conversations', {
    initial_user_msg: 'write it',
  })
  await one.open(`${(await shared.start()).url}/conversations/${id}`)
  await one.page.getByRole('log').getByText('All is written.').waitFor()
  return id
}

const SHOWN = 'voice⟨U+202E⟩gpj.txt'

test('journey: what an agent says beside a step, how full its context is, and the files of the past are shown on a phone as well', async ({
  skip,
}) => {
  const one = await someone(skip, { language: 'zh', theme: 'light', size: 'narrow' })
  const { page } = one
  await talk(one)
  const log = page.getByRole('log')
  expect(await log.locator('.entry em').textContent()).toBe('write')
  // Of the 128,000 tokens of this model.
  const fill = page.getByLabel(one.say('context {share} %', { share: 50 }))
  expect(await fill.evaluate((meter: HTMLMeterElement) => Math.round(meter.value * 100))).toBe(50)
  const files = page.getByRole('complementary', { name: one.say('Files') })
  await one.press(one.button('History'))
  await one.press(one.button('Files as they were here'))
  await files.getByText('in/').waitFor()
  expect(await log.isVisible()).toBe(false)
  await one.press(files.getByRole('button', { name: 'in/' }))
  await one.press(files.getByRole('button', { name: SHOWN }))
  await files.getByText(`in/${SHOWN}`).waitFor()
  await one.looks('a file of the past')
  await one.press(one.button('Files as they are now'))
  await log.waitFor()
  await one.press(one.button('History'))
  await one.press(one.button('Share'))
  await one.check(one.field('with files'))
  await one.press(one.button('Make a link'))
  const link = await one.field('The link').inputValue()
  await one.open(link)
  await log.getByText('All is written.').waitFor()
  await expect.poll(() => log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)).toBeLessThan(2)
  await one.press(files.getByRole('button', { name: 'in/' }))
  await files.getByText(SHOWN).waitFor()
  await one.looks('names of files behind a link')
  expect(one.faults).toEqual([])
})

type DropResult = { isTaken: boolean; effect: string }

/** Lets go of a file over an element, as a hand with a pointer would. */
const drop = (page: Page, selector: string): Promise<DropResult> =>
  page
    .locator(selector)
    .first()
    .evaluate((target) => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File(['told'], 'told.txt', { type: 'text/plain' }))
      const init = { dataTransfer, bubbles: true, cancelable: true }
      target.dispatchEvent(new DragEvent('dragover', init))
      const isTaken = !target.dispatchEvent(new DragEvent('drop', init))
      return { isTaken, effect: dataTransfer.dropEffect }
    })

test('journey: a file that is dropped anywhere in a conversation goes with the message, and elsewhere does not take the page away', async ({
  skip,
}) => {
  const one = await someone(skip, { language: 'en', theme: 'dark', size: 'wide' })
  const { page } = one
  await talk(one)
  expect(await drop(page, '.log')).toMatchObject({ isTaken: true })
  await page.locator('.attached').getByText('told.txt').waitFor()
  await page.getByRole('complementary', { name: 'Files' }).getByText('told.txt').waitFor()
  await one.press(one.button('Remove'))
  // What was copied from a table has a picture of itself along: the text is meant. A picture alone is.
  const paste = (text: string | null) =>
    page.getByLabel('Message', { exact: true }).evaluate((box, text) => {
      const clipboardData = new DataTransfer()
      clipboardData.items.add(new File(['x'], 'image.png', { type: 'image/png' }))
      clipboardData.setData('text/html', '<table><tr><td>1</td></tr></table>')
      if (text !== null) clipboardData.setData('text/plain', text)
      return box.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
    }, text)
  expect([await paste('1\t2'), await paste(null)]).toEqual([true, false])
  await page.locator('.attached img').waitFor()
  expect(await page.locator('.attached img').count()).toBe(1)
  for (const at of ['/', '/settings/model', '/docs']) {
    await one.open(`${(await shared.start()).url}${at}`)
    await one.page.locator('main').waitFor()
    expect([at, await drop(page, 'main')]).toEqual([at, { isTaken: true, effect: 'none' }])
  }
  expect(one.faults).toEqual([])
})

const linesOf = (text: Element): number => {
  const range = document.createRange()
  range.selectNodeContents(text)
  return range.getClientRects().length
}

test('journey: whoever comes back to a list in which something is being deleted is told when it is gone, and sums of twelve digits stay whole', async ({
  skip,
}) => {
  const one = await someone(skip, { language: 'en', theme: 'light', size: 'narrow' })
  const { page } = one
  const id = await talk(one)
  await one.press(one.link('All conversations'))
  await one.press(one.button('Delete “{title}”', { title: 'write it' }).first())
  await one.press(one.link('Analysis'))
  const { id: account } = await shared.post<{ id: number }>('/api/v1/portfolio/accounts', {
    name: 'Large',
    base_currency: 'CNY',
  })
  const paid = { account_id: account, event_date: '2025-01-02', direction: 'in', currency: 'CNY' }
  await shared.post('/api/v1/portfolio/cash-ledger', { ...paid, amount: 123_456_789_012.34 })
  await one.press(one.link('Conversations'))
  // The list itself would hear of it only with its next look.
  await one.button('Undo').waitFor()
  await page.route('**/api/conversations?*', () => {})
  await one.button('Undo').waitFor({ state: 'detached', timeout: 30_000 })
  await expect.poll(() => page.getByText('is being deleted').count()).toBe(0)
  expect(await shared.get(`/api/conversations/${id}`)).toBeNull()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  for (const size of Object.values(SIZES)) {
    await page.setViewportSize(size)
    await one.open(`${(await shared.start()).url}/analysis/portfolio`)
    const sum = page.getByText('123,456,789,012.34', { exact: true }).first()
    await sum.waitFor()
    expect(await sum.evaluate(linesOf)).toBe(1)
    await one.looks('a large sum')
  }
  expect(one.faults).toEqual([])
})
