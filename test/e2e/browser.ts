// A real browser for the tests of the console, and a watch over everything that a page of it must never do.

import { chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { findChromium } from '../support/chromium.ts'

export const FLAGS = [
  '--headless',
  // Chromium refuses its sandbox to root, which continuous integration often is.
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The browser to drive. Without one the test is skipped and says so, or fails where REQUIRE_ALL=1 asks for one. */
export function browserOr(skip: (note: string) => never): string {
  const found = findChromium()
  if (found !== null) return found
  const why = 'no Chromium was found: install it, or name it in CHROMIUM_PATH'
  if (process.env.REQUIRE_ALL === '1') throw new Error(why)
  console.warn(`skipped: ${why}`)
  return skip(why)
}

export type Watched = {
  page: Page
  /** Console errors and warnings, uncaught exceptions, dialogs, and requests to any other host. */
  faults: string[]
}

type PageOptions = { browser: string; origin: string; viewport: { width: number; height: number } }

/** Opens a page that is closed with the test. */
export async function openPage({ browser: executablePath, origin, viewport }: PageOptions): Promise<Watched> {
  const browser = await chromium.launch({ executablePath, args: FLAGS })
  onTestFinished(() => browser.close())
  const context = await browser.newContext({ viewport, acceptDownloads: true })
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.stack ?? error.message}`))
  page.on('dialog', async (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on('request', (request) => {
    if (!isOwn(request.url(), origin)) faults.push(`request to another host: ${request.url()}`)
  })
  return { page, faults }
}

const isOwn = (url: string, origin: string): boolean => /^(blob|data):/.test(url) || new URL(url).origin === origin

/** How many pixels the page is wider than the window. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
