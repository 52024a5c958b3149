// The page of alerts, by the keyboard alone.

import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import type { Person } from './person.ts'

/** In which form the hours stand, with or without a half of the day, is the browser's own affair. */
async function writeTime(one: Person, field: Locator, time: string): Promise<void> {
  const { keyboard } = one.page
  const [hour = '', minute = ''] = time.split(':')
  const ofHalf = String(((Number(hour) + 11) % 12) + 1).padStart(2, '0')
  for (const keys of [`${hour}${minute}`, `${ofHalf}${minute}${Number(hour) < 12 ? 'AM' : 'PM'}`]) {
    await one.to(field)
    for (let part = 0; part < 3; part++) await keyboard.press('ArrowLeft')
    await keyboard.type(keys)
    if ((await field.inputValue()) === time) return
  }
  throw new Error(`the field does not take ${time}: ${await field.inputValue()}`)
}

export async function makeRules(one: Person): Promise<void> {
  const { page } = one
  await page.getByText('the only source is sample data').first().waitFor()
  const form = page.getByRole('form', { name: 'A new rule' })
  const kinds = form.getByRole('combobox', { name: 'What', exact: true })
  await one.pick(kinds, 'price_cross')
  await one.write(form.getByLabel('Code or name'), 'Kweichow Moutai')
  const price = form.getByLabel('Price', { exact: true })
  await one.write(price, '-5')
  await page.keyboard.press('Enter')
  await one.isMarked(price, /^Must be a number, above 0/)
  expect(await price.inputValue()).toBe('-5')
  await one.looks('a rule that was refused')
  await one.write(price, '1700')
  await one.isUnmarked()
  // A field that is folded away is opened where it was refused; half of the quiet hours is not silently left out.
  await one.press(form.locator('summary'))
  await writeTime(one, form.getByLabel('Quiet from'), '22:00')
  await one.press(form.locator('summary'))
  await one.press(form.getByRole('button', { name: 'Make the rule' }))
  await one.isMarked(form.getByLabel('Quiet until'), /07:30/)
  await writeTime(one, form.getByLabel('Quiet until'), '07:30')
  await one.isUnmarked()
  await one.to(price)
  await page.keyboard.press('Enter')
  const rules = page.getByRole('region', { name: 'Rules' })
  await rules.getByText('Price Kweichow Moutai 600519').waitFor()
  await one.press(rules.getByRole('button', { name: 'Try it out: Price Kweichow Moutai 600519' }))
  await rules.getByText(/Tried out: .*sample data/).waitFor()
  // Another kind has other fields.
  await one.pick(kinds, 'market_light_status')
  expect(await form.getByRole('combobox', { name: 'Which' }).inputValue()).toBe('cn')
  await one.check(form.getByLabel('red'))
  await one.press(form.getByRole('button', { name: 'Make the rule' }))
  await rules.getByText('Market light CN').waitFor()
  await one.press(rules.getByRole('button', { name: 'Switch off: Market light CN' }))
  await rules.getByText('Switched off.').waitFor()
  await one.looks('rules of alerts')
  for (const name of ['Market light CN', 'Price Kweichow Moutai 600519']) {
    await one.press(rules.getByRole('button', { name: `Delete: ${name}` }))
    await one.press(rules.getByRole('alertdialog').getByRole('button', { name: 'Delete' }))
    await rules.getByText(name, { exact: true }).waitFor({ state: 'detached' })
  }
}
