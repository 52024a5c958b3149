// The pages of the portfolio and of signals, by the keyboard alone.

import { Buffer } from 'node:buffer'
import { expect } from 'vitest'
import type { Person } from './person.ts'

const NAME = 'Steps'

export async function usePortfolio(one: Person): Promise<void> {
  const { page } = one
  const form = page.getByRole('region', { name: 'Book', exact: true })
  await choose(one, 'Account')
  await one.write(form.getByLabel('Name of the account'), NAME)
  await page.keyboard.press('Enter')
  await form.getByText('Booked.').waitFor()
  await one.pickNamed(page.getByRole('combobox', { name: 'Account', exact: true }).first(), `${NAME} (CNY)`)
  const bought = { 'Code or name': '贵州茅台', Day: '2025-12-02', Shares: '100', 'Price of one': '1400.05', Fee: '5' }
  await book(one, 'Trade', bought)
  await page.getByRole('row', { name: /^600519 Kweichow Moutai 100 1,400\.10/ }).waitFor()
  await keepsChoice(one)
  await book(one, 'Trade', { 'Code or name': '600519', Day: '2025-12-06', Shares: '1', 'Price of one': '1' })
  await one.isMarked(form.getByLabel('Day'), '2025-12-06 is no trading day of the market cn')
  expect(await form.getByLabel('Shares').inputValue()).toBe('1')
  await one.looks('a trade that was refused')
  await importFiles(one)
  await withoutRate(one)
}

/** Where a control above the kinds of entries goes away, the focus comes to the kind that is chosen, and not to the first. */
async function keepsChoice(one: Person): Promise<void> {
  await choose(one, 'Payment')
  await one.page.evaluate(() => {
    const [button, kinds] = [document.createElement('button'), document.querySelector('.booking fieldset')]
    kinds?.before(button)
    button.focus()
    requestAnimationFrame(() => button.remove())
  })
  const focused = one.page.locator('.booking [type="radio"]:focus')
  await focused.waitFor()
  expect(await focused.isChecked()).toBe(true)
}

async function choose(one: Person, kind: string): Promise<void> {
  const radio = one.page.getByRole('region', { name: 'Book', exact: true }).getByRole('radio', { name: kind })
  await one.to(radio)
  await expect.poll(() => radio.isChecked()).toBe(true)
}

/** What is not in the form keeps its first choice. */
async function book(one: Person, kind: string, fields: Record<string, string>): Promise<void> {
  const form = one.page.getByRole('region', { name: 'Book', exact: true })
  await choose(one, kind)
  for (const [label, value] of Object.entries(fields)) {
    const field = form.getByLabel(label, { exact: true })
    if (label === 'Day') await one.writeDay(field, value)
    else await one.write(field, value)
  }
  await one.press(form.getByRole('button', { name: 'Book it' }))
}

async function importFiles(one: Person): Promise<void> {
  const { page } = one
  const place = page.getByRole('region', { name: 'Import a broker’s file' })
  const give = async (text: string) => {
    const button = place.locator('button', { hasText: 'Choose a file' })
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), one.press(button)])
    await chooser.setFiles({ name: 'trades.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
  }
  const header = '成交日期,证券代码,买卖标志,成交数量,成交均价,手续费'
  await give(`${header}\n2025-12-03,600519,卖出,-40,1410,5\n`)
  await place.getByText('row 2, column "成交数量": "-40" is not above 0').waitFor()
  expect(await place.getByRole('button', { name: /^Book \d/ }).isEnabled()).toBe(false)
  await give(`${header}\n2025-12-03,600519,卖出,40,1410,5\n2025-12-10,600519,红利入账,0,0,0\n`)
  await place.getByText('Trades: 1, dividends: 0, payments: 0, other rows: 1, rows at fault: 0.').waitFor()
  await one.press(place.getByRole('button', { name: 'Try it' }))
  await place.getByText('A trial: 1 would be booked, 0 are there already, 0 cannot be.').waitFor()
  await one.press(place.getByRole('button', { name: 'Book 1' }))
  await place.getByText('1 were booked, 0 were there already.').waitFor()
  await page.getByRole('row', { name: /^600519 Kweichow Moutai 60 / }).waitFor()
  await one.press(place.getByRole('button', { name: 'Book 1' }))
  await place.getByText('0 were booked, 1 were there already.').waitFor()
  // Columns that nobody knows are chosen from those of the file.
  await one.pickNamed(place.getByRole('combobox', { name: 'Broker' }), 'Any other (choose the columns)')
  await give('Tag;Art;Papier;Stück;Kurs\n2025-12-04;buy;AAPL;10;200.5\n')
  await place.getByRole('alert').filter({ hasText: 'The file has no column for: date, code' }).waitFor()
  for (const [field, column] of [
    ['Day', 'Tag'],
    ['Code', 'Papier'],
    ['Side', 'Art'],
    ['Shares', 'Stück'],
    ['Price of one', 'Kurs'],
  ] as const) {
    await one.pickNamed(place.getByRole('combobox', { name: field, exact: true }), column)
  }
  await place.getByRole('row', { name: /^2 2025-12-04 Bought AAPL 10 200\.50 USD/ }).waitFor()
}

/** A sum without a rate is a dash with a sentence, and comes back when what needs the rate is taken back. */
async function withoutRate(one: Person): Promise<void> {
  const { page } = one
  const worth = page.getByRole('region', { name: 'Worth', exact: true })
  const cash = () => worth.getByRole('listitem').filter({ hasText: 'Cash' }).locator('strong').textContent()
  await expect.poll(cash).toBe('-83,615.00')
  await book(one, 'Payment', { Day: '2025-12-05', Amount: '10.5', Currency: 'TWD' })
  await worth.getByText('No rate for TWD/CNY: sums that need it are left open.').waitFor()
  await expect.poll(cash).toBe('–')
  const entries = page.getByRole('region', { name: 'What was booked' })
  await one.pickNamed(entries.getByRole('combobox', { name: 'Kind' }), 'Payments')
  await one.press(entries.getByRole('button', { name: 'Take back Paid in 10.50 TWD' }))
  await expect.poll(cash).toBe('-83,615.00')
}

/** A month and a list of days, of what is watched and of what is held; what nobody knows is named. */
export async function useCalendar(one: Person): Promise<void> {
  const { page } = one
  await one.press(page.getByRole('navigation', { name: 'Analysis' }).getByRole('link', { name: 'Calendar' }))
  await page.getByRole('heading', { name: 'Calendar', level: 1 }).waitFor()
  await one.pickNamed(one.list('Whose days'), 'What I hold')
  await page
    .getByText('Days and amounts are made up for the sample: of no company.')
    .or(page.getByText('No days in this month'))
    .first()
    .waitFor()
  await one.pickNamed(one.list('View'), 'List')
  // In three months there is each kind of day.
  const place = page.locator('.day-list')
  for (
    let month = 0;
    month < 4 && (await place.getByText(/expected: [\d,.]+ CNY for [\d,.]+ shares/).count()) === 0;
    month++
  ) {
    const heading = page.locator('.month-nav h2')
    const before = await heading.textContent()
    await one.press(page.getByRole('button', { name: 'Next month' }))
    await expect.poll(() => heading.textContent()).not.toBe(before)
    await page
      .getByText(/made up for the sample|No days in this month/)
      .first()
      .waitFor()
  }
  await place
    .getByText(/expected: [\d,.]+ CNY for [\d,.]+ shares/)
    .first()
    .waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    one.press(page.getByRole('link', { name: 'Save for a calendar (ICS)' })),
  ])
  expect(download.suggestedFilename()).toBe('calendar.ics')
  // The month, whose days and the view are in the address.
  const month = await page.locator('.month-nav h2').textContent()
  expect(new URL(page.url()).search).toMatch(/scope=holdings/)
  await one.reload()
  await page.locator('.month-nav h2', { hasText: month ?? '' }).waitFor()
  expect(await page.getByRole('combobox', { name: 'View' }).inputValue()).toBe('list')
  await one.pickNamed(one.list('View'), 'Month')
  await page.getByRole('table').getByRole('columnheader').nth(6).waitFor()
}

export async function useSignals(one: Person, code: string): Promise<void> {
  const { page } = one
  await one.press(one.link('Signals'))
  const card = page.locator('.signal').filter({ hasText: code })
  await page.getByRole('button', { name: 'Close it' }).first().waitFor()
  await card.first().waitFor()
  const count = await card.count()
  await one.press(card.first().getByRole('button', { name: 'Useful', exact: true }))
  await card.first().locator('[aria-pressed="true"]', { hasText: 'Useful' }).waitFor()
  await one.check(page.getByLabel('Only what I hold'))
  await one.looks('signals of holdings')
  await one.press(card.first().getByRole('button', { name: 'Close it' }))
  await expect.poll(() => card.count()).toBe(count - 1)
  await one.pickNamed(page.getByRole('combobox', { name: 'State' }), 'Closed')
  await card.first().waitFor()
  expect(new URL(page.url()).search).toBe('?status=closed&held=yes')
  await one.press(card.first().getByRole('link', { name: 'Open the report' }))
  await page.waitForURL(/\/analysis\/[0-9a-f]+$/)
}
