// The page of alerts as a person uses it who has no mouse.

import type { Page } from 'playwright-core'
import { expect } from 'vitest'

export async function rulesByKeyboard(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/analysis/alerts`)
  await page.getByText('the only source is sample data').first().waitFor()
  const form = page.getByRole('form', { name: 'A new rule' })
  await form.getByRole('combobox', { name: 'What', exact: true }).selectOption('price_cross')
  await form.getByLabel('Code or name').focus()
  await page.keyboard.type('Kweichow Moutai')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.type('-5')
  await page.keyboard.press('Enter')
  await form.getByRole('alert').filter({ hasText: 'parameters.price' }).waitFor()
  expect(await form.getByLabel('Price', { exact: true }).inputValue()).toBe('-5')
  await form.getByLabel('Price', { exact: true }).fill('1700')
  await page.keyboard.press('Enter')
  const rules = page.getByRole('region', { name: 'Rules' })
  await rules.getByText('Price Kweichow Moutai 600519').waitFor()
  await rules.getByRole('button', { name: 'Try it out: Price Kweichow Moutai 600519' }).click()
  await rules.getByText(/Tried out: .*sample data/).waitFor()
  // Another kind has other fields.
  await form.getByRole('combobox', { name: 'What', exact: true }).selectOption('market_light_status')
  expect(await form.getByRole('combobox', { name: 'Which' }).inputValue()).toBe('cn')
  await form.getByLabel('red').check()
  await form.getByRole('button', { name: 'Make the rule' }).click()
  await rules.getByText('Market light CN').waitFor()
  await rules.getByRole('button', { name: 'Switch off: Market light CN' }).click()
  await rules.getByText('Switched off.').waitFor()
  for (const name of ['Market light CN', 'Price Kweichow Moutai 600519']) {
    await rules.getByRole('button', { name: `Delete: ${name}` }).click()
    await rules.getByText(name, { exact: true }).waitFor({ state: 'detached' })
  }
}
