// The page of screening as a person uses it who has no mouse, over figures that stand in the service's own database.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { settledSession } from '../../src/screening/figures.ts'
import type { Person } from './person.ts'

/** Three listings with figures, and one without any. */
export function keepFigures(stateDir: string): string {
  const day = settledSession('cn', Date.now())
  const db = databaseIn(stateDir)
  const row = db.prepare(
    `INSERT INTO stock_figures (key, market, exchange, kind, name, en, risk_warned, active, session, source, told_at, price,
       change_pct, pe_ratio, close_marks) VALUES (?, 'cn', 'SH', 'stock', ?, ?, 0, 1, ?, 'scripted', ?, ?, ?, ?, ?)`,
  )
  row.run('600519', '贵州茅台', 'Kweichow Moutai', day, Date.now(), 1_500.5, 1.25, 22, '[]')
  row.run('600036', '招商银行', 'China Merchants Bank', day, Date.now(), 40.1, -0.5, 6.5, '["volume_units"]')
  row.run('601398', '工商银行', 'ICBC', day, Date.now(), 5.2, 0.2, null, '[]')
  row.run('600000', '浦发银行', 'SPD Bank', null, null, null, null, null, '[]')
  db.close()
  return day
}

function databaseIn(stateDir: string): DatabaseSync {
  const files = readdirSync(stateDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sqlite'))
  for (const name of files) {
    const db = new DatabaseSync(join(stateDir, name))
    const found = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'stock_figures'").get()
    if (found !== undefined) return db
    db.close()
  }
  throw new Error('no database has kept figures')
}

export async function screensByKeyboard(one: Person, day: string): Promise<void> {
  const { page } = one
  await one.heading('Screening').waitFor()
  await page
    .getByText(/sample data/)
    .first()
    .waitFor()
  const rows = page.locator('.screen-rows > li')
  const number = rows.first().getByRole('textbox', { name: 'A number' })
  await one.write(number, 'ten')
  await page.keyboard.press('Enter')
  await one.isMarked(number, 'A number is needed.')
  expect(await number.inputValue()).toBe('ten')
  await one.write(number, '30')
  await one.isUnmarked()
  await one.press(one.button('Find listings'))
  const found = page.getByRole('region', { name: 'What passes' }).first()
  await found.getByText('600036').waitFor()
  await found.getByText('2 of 4 pass. Not decided: 1 with unknown figures, 0 with old ones, 1 without any.').waitFor()
  // Each row says of which day it is, and what a check says of it.
  expect(await found.getByRole('row').allTextContents()).toEqual([
    expect.any(String),
    expect.stringMatching(new RegExp(`600036.*40\\.10 CNY.*−0\\.50 %.*6\\.50.*${day}.*units of volume`)),
    expect.stringMatching(new RegExp(`600519.*1,500\\.50 CNY.*22\\.00.*${day}`)),
  ])
  await one.looks('what passes')
  await one.press(one.button('Add a condition'))
  await one.pick(rows.nth(1).getByRole('combobox', { name: 'A condition' }), 'price')
  await one.pick(rows.nth(1).getByRole('combobox', { name: 'Compared with' }), 'ma20')
  await one.press(one.button('Find listings'))
  await found.getByText('0 of 4 pass.').waitFor()
  await one.press(one.button('Remove the condition {n}', { n: 2 }))
  await one.press(page.locator('summary').filter({ hasText: 'Save it as' }))
  await one.write(one.field('Name'), 'Cheap')
  // Enter saves, and does not look for listings.
  await page.keyboard.press('Enter')
  const saved = page.getByRole('region', { name: 'Saved screens' })
  await saved.getByText('Runs after each close').waitFor()
  await one.press(one.button('Low P/E and low P/B' as never))
  await rows.nth(2).waitFor()
  await one.press(one.button('Open it: {name}', { name: 'Cheap' }))
  await expect.poll(() => number.inputValue()).toBe('30')
  // A link leads to the screen.
  await page.waitForURL(/\?screen=\d+$/)
  await one.reload()
  await rows.nth(0).waitFor()
  await expect.poll(() => number.inputValue()).toBe('30')
  await one.press(saved.getByRole('button', { name: 'Find listings: Cheap' }))
  await found.getByText('600519').waitFor()
  await one.press(one.button('Switch off: {name}', { name: 'Cheap' }))
  await saved.getByText('Runs by hand').waitFor()
  await one.looks('a saved screen')
  await one.press(one.button('Delete: {name}', { name: 'Cheap' }))
  await one.press(saved.getByRole('alertdialog').getByRole('button', { name: 'Delete' }))
  await saved.getByText('No saved screens yet.').waitFor()
}
