// Somebody who has a keyboard and no pointer, in one of the looks of the console. Nothing is clicked and nothing is focused by
// the test: a control is found by moving the focus as a person does. What such a person cannot bear is noted as a fault: a
// control that the focus does not reach, a focus that nobody sees, one that was lost, and what axe finds in a state.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Locator, Page } from 'playwright-core'
import { expect, inject } from 'vitest'
import type { Text } from '../../src/web/texts.ts'
import { ZH } from '../../src/web/zh.ts'
import { openPage, overflowOf, type PageOptions, type Watched } from './browser.ts'
import { focusOf, isLost } from './focus.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** No control is further away than this, by the skip link or from where the focus stands. */
const MOST_STEPS = 150

export const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } } as const
export type Look = { language: 'en' | 'zh'; theme: 'light' | 'dark'; size: keyof typeof SIZES }

export const LOOKS: readonly Look[] = (['en', 'zh'] as const).flatMap((language) =>
  (['light', 'dark'] as const).flatMap((theme) =>
    (['wide', 'narrow'] as const).map((size): Look => ({ language, theme, size })),
  ),
)
const PLAIN: Look = { language: 'en', theme: 'light', size: 'wide' }

type Values = Readonly<Record<string, string | number>>
type Role = Parameters<Page['getByRole']>[0]

export class Person {
  readonly page: Page
  readonly faults: string[]
  readonly look: Look
  /** A page that was just opened has no focus yet. */
  #isFresh = true

  constructor({ page, faults }: Watched, look: Look) {
    this.page = page
    this.faults = faults
    this.look = look
  }

  /** What the console says in this person's language. */
  say(text: Text, values: Values = {}): string {
    const said = this.look.language === 'zh' ? ZH[text] : text
    return said.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
  }

  async open(address: string): Promise<void> {
    await this.page.goto(address)
    this.#isFresh = true
  }

  async reload(): Promise<void> {
    await this.page.reload()
    this.#isFresh = true
  }

  byRole = (role: Role, text: Text, values?: Values): Locator =>
    this.page.getByRole(role, { name: this.say(text, values), exact: true })
  button = (text: Text, values?: Values): Locator => this.byRole('button', text, values)
  link = (text: Text, values?: Values): Locator => this.byRole('link', text, values)
  field = (text: Text, values?: Values): Locator => this.page.getByLabel(this.say(text, values), { exact: true })
  /** A choice out of a list. */
  list = (text: Text, values?: Values): Locator => this.byRole('combobox', text, values)
  /** A choice to tick, whose label goes on with a hint. */
  box = (text: Text, values?: Values): Locator => this.page.getByRole('checkbox', { name: this.say(text, values) })
  heading = (text: Text, values?: Values): Locator => this.byRole('heading', text, values)

  async reads(text: Text, values?: Values): Promise<void> {
    await this.page.getByText(this.say(text, values)).first().waitFor()
  }

  /** Moves the focus to the control: by Tab, backwards where it stands before, and by arrows within a group of choices. */
  async to(control: Locator): Promise<void> {
    await control.waitFor({ state: 'attached' })
    await this.#keepsFocus(control)
    const way: string[] = []
    let held = 0
    for (let step = 0; step <= MOST_STEPS; step++) {
      const focus = await control.evaluate(focusOf)
      if (focus.fault !== null && (step > 0 || !focus.fault.endsWith('out of sight')))
        this.#note(`${focus.fault}: ${focus.name}`)
      if (focus.isThere) return
      held = focus.isSame && way.length > 0 && !focus.name.startsWith('body') ? held + 1 : 0
      // A key that came while the page was drawn anew may be lost once; a trap holds every one.
      if (held > 1) throw new Error(`a trap: ${focus.name}`)
      way.push(focus.name)
      await this.page.keyboard.press(focus.key)
    }
    throw new Error(`not reached in ${MOST_STEPS} steps: ${control}; the way went over ${[...new Set(way)].join(', ')}`)
  }

  async press(control: Locator, key = 'Enter'): Promise<void> {
    await this.to(control)
    await this.page.keyboard.press(key)
  }

  /** Writes over what stands in the field. */
  async write(field: Locator, text: string): Promise<void> {
    await this.to(field)
    await this.page.keyboard.press('Control+a')
    if (text === '') await this.page.keyboard.press('Delete')
    else if (/^[ -~]+$/.test(text)) await this.page.keyboard.type(text)
    // What is not on the keys comes from an input method.
    else await this.page.keyboard.insertText(text)
  }

  /** Into a field for a day, part by part; in which order they stand is the browser's own affair. */
  async writeDay(field: Locator, day: string): Promise<void> {
    await this.to(field)
    const [year = '', month = '', date = ''] = day.split('-')
    for (const parts of [
      [month, date, year],
      [date, month, year],
      [year, month, date],
    ]) {
      for (let part = 0; part < 3; part++) await this.page.keyboard.press('ArrowLeft')
      await this.page.keyboard.type(parts.join(''))
      if ((await field.inputValue()) === day) return
    }
    throw new Error(`the field does not take ${day}: ${await field.inputValue()}`)
  }

  /** A choice by its words. */
  async pickNamed(list: Locator, name: string): Promise<void> {
    const option = list.locator('option', { hasText: name }).first()
    await option.waitFor({ state: 'attached' })
    await this.pick(list, (await option.getAttribute('value')) ?? name)
  }

  /** Goes through a list of choices with the arrows until the value is taken. */
  async pick(list: Locator, value: string): Promise<void> {
    await this.to(list)
    await this.page.keyboard.press('Home')
    for (let step = 0; (await list.inputValue()) !== value; step++) {
      if (step > 60) throw new Error(`no such choice: ${value}`)
      await this.page.keyboard.press('ArrowDown')
    }
  }

  async check(box: Locator, isOn = true): Promise<void> {
    await this.to(box)
    if ((await box.isChecked()) !== isOn) await this.page.keyboard.press('Space')
    expect(await box.isChecked()).toBe(isOn)
  }

  /** The field is marked as the one that was refused, has the focus, and these words stand at it. */
  async isMarked(field: Locator, words: string | RegExp): Promise<void> {
    const note = this.page.locator('.fault', { hasText: words })
    await note.waitFor()
    const described = `~=${JSON.stringify(await note.getAttribute('id'))}`
    await expect.poll(() => field.and(this.page.locator(`[aria-describedby${described}]:focus`)).count()).toBe(1)
    expect(await field.getAttribute('aria-invalid')).toBe('true')
  }

  /** Nothing is marked, and no refusal stands on the page. */
  async isUnmarked(): Promise<void> {
    await expect.poll(() => this.page.locator('.fault, [aria-invalid="true"], .notice.error').count()).toBe(0)
  }

  /** What axe finds in this state, and whether it fits; under PROOF=1 in both themes and widths. */
  async looks(state: string): Promise<void> {
    const { page, look } = this
    if (!inject('isProof')) return this.#inspect(`${state} (${Object.values(look).join(' ')})`)
    for (const theme of ['light', 'dark'] as const) {
      for (const [size, viewport] of Object.entries(SIZES)) {
        await page.emulateMedia({ colorScheme: theme })
        await page.setViewportSize(viewport)
        await drawn(page)
        await this.#inspect(`${state} (${look.language} ${theme} ${size})`)
      }
    }
    await page.emulateMedia({ colorScheme: look.theme })
    await page.setViewportSize(SIZES[look.size])
  }

  async #inspect(state: string): Promise<void> {
    for (const fault of await seriousFaults(this.page)) this.#note(`${state}: ${fault}`)
    const overflow = await overflowOf(this.page)
    if (overflow !== 0) this.#note(`${state}: ${overflow} pixels too wide`)
  }

  /** Whoever acted on a control stands somewhere afterwards. */
  async #keepsFocus(wanted: Locator): Promise<void> {
    if (this.#isFresh) {
      this.#isFresh = false
      return
    }
    const begun = performance.now()
    while (await this.page.evaluate(isLost)) {
      if (performance.now() - begun < LOST_AFTER_MS) continue
      this.#note(`the focus was lost at ${new URL(this.page.url()).pathname} , before ${wanted}`)
      return
    }
  }

  #note(fault: string): void {
    if (!this.faults.includes(fault)) this.faults.push(fault)
  }
}

/** What comes back to a control after an answer of the service has come back by then. */
const LOST_AFTER_MS = 5_000

type PersonOptions = Omit<PageOptions, 'viewport'> & { look?: Look }

export async function personAt({ browser, origin, look = PLAIN }: PersonOptions): Promise<Person> {
  const watched = await openPage({
    browser,
    origin,
    viewport: SIZES[look.size],
    context: { colorScheme: look.theme, locale: look.language === 'zh' ? 'zh-CN' : 'en-GB' },
  })
  return new Person(watched, look)
}

type Violation = { id: string; impact: string | null; nodes: { html: string }[] }

/** What the page measures when its size changes, it knows after the next frame; of what is out of sight a moment later. */
const drawn = (page: Page) =>
  page.evaluate(async () => {
    await new Promise((done) => setTimeout(done, 500))
    await new Promise((done) => requestAnimationFrame(done))
  })

/** Serious and critical ones. */
export async function seriousFaults(page: Page): Promise<string[]> {
  if (await page.evaluate(() => !('axe' in window))) await page.evaluate(AXE)
  const { violations } = (await page.evaluate("axe.run({ resultTypes: ['violations'], preload: false })")) as {
    violations: Violation[]
  }
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id} at ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`)
}
