// A real browser for the tests of the console, a watch over everything that a page of it must never do, and a service for all
// tests of a file.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, onTestFinished } from 'vitest'
import { type Service, startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'
import { findChromium } from '../support/chromium.ts'
import { slowDown } from './slow.ts'

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

export type PageOptions = {
  browser: string
  origin: string
  viewport: { width: number; height: number }
  context?: BrowserContextOptions
}

/** One browser for all tests of a file; each has a profile of its own in it. */
let launched: Promise<Browser> | null = null
afterAll(async () => (await launched)?.close())

/** Opens a page that is closed with the test. */
export async function openPage({
  browser: executablePath,
  origin,
  viewport,
  context: more,
}: PageOptions): Promise<Watched> {
  launched ??= chromium.launch({ executablePath, args: FLAGS })
  const context = await (await launched).newContext({ viewport, acceptDownloads: true, ...more })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await slowDown(context, page)
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

/** What the person who runs the tests has set must not decide them. */
export const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))

export type Shared = {
  stateDir: string
  start: () => Promise<Service>
  /** What it answers to a body that is sent to it; the answer must be a good one. */
  post: <T>(path: string, body: object) => Promise<T>
  get: <T>(path: string) => Promise<T>
}

/** One service for all tests of a file, started by the first; nothing of one test is looked for by another. */
export function sharedService(env: Record<string, string>): Shared {
  let started: Promise<Service> | null = null
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-console-'))
  afterAll(async () => {
    await (await started)?.stop()
    rmSync(stateDir, { recursive: true, force: true })
  })
  const start = () => {
    started ??= startService({ stateDir, env: { ...CLEAN, MARKET_DATA: 'sample', ...env } })
    return started
  }
  const ask = async <T>(path: string, init?: RequestInit): Promise<T> => {
    const reply = await fetch(`${(await start()).url}${path}`, init)
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`)
    return (await reply.json()) as T
  }
  return {
    stateDir,
    start,
    get: (path) => ask(path),
    post: (path, body) =>
      ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }
}
