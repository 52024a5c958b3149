// Makes the pictures of README and docs: with a separate service on the sample market, an agent on a scripted model, and
// the console in a real browser.
//
//   npm run pictures [-- name …]      writes docs/pictures/<name>.png

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { findChromium } from '../test/support/chromium.ts'
import { startScriptedModel } from '../test/support/scripted-model.ts'
import { modelVariables, PREPARE, repairer, TASK } from './demo/agent-script.ts'
import { Follower } from './demo/follower.ts'
import { ask } from './demo/http.ts'
import { requireNode } from './node-version.mjs'
import { ROOT } from './start/paths.ts'
import { startService } from './start/service.ts'

requireNode('npm run pictures')

const FOLDER = join(ROOT, 'docs/pictures')
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']
const TIMEOUT_MS = 120_000

type Look = { language: 'en' | 'zh'; theme: 'light' | 'dark'; width: number; height: number }
type Picture = { name: string; look: Look; path: (made: Subjects) => string; ready: (page: Page) => Promise<void> }
type Subjects = { conversation: string; chinese: string; english: string; review: string }

const DESKTOP = { width: 1280, height: 860 }
const chart = (page: Page) => page.locator('.chart-section canvas').first().waitFor()

const atWork = (name: string, language: Look['language']): Picture => ({
  name,
  look: { language, theme: 'light', ...DESKTOP },
  path: ({ conversation }) => `/conversations/${conversation}`,
  ready: async (page) => {
    await page.getByRole('log').getByText('pass 3').last().waitFor()
    await page.getByText('statistics/', { exact: true }).waitFor()
  },
})

const PICTURES: readonly Picture[] = [
  atWork('conversation', 'en'),
  atWork('conversation-zh', 'zh'),
  {
    name: 'report',
    look: { language: 'en', theme: 'dark', ...DESKTOP },
    path: ({ english }) => `/analysis/${english}`,
    ready: chart,
  },
  {
    name: 'report-zh',
    look: { language: 'zh', theme: 'light', ...DESKTOP },
    path: ({ chinese }) => `/analysis/${chinese}`,
    ready: chart,
  },
  {
    name: 'report-phone',
    look: { language: 'zh', theme: 'dark', width: 390, height: 844 },
    path: ({ chinese }) => `/analysis/${chinese}`,
    ready: chart,
  },
  {
    name: 'review',
    look: { language: 'en', theme: 'light', ...DESKTOP },
    path: ({ review }) => `/analysis/${review}`,
    ready: (page) => page.locator('main h1').waitFor(),
  },
]

/** A failing program in a repository, repaired and committed. */
async function repaired(url: string): Promise<string> {
  const { conversation_id: id } = await ask<{ conversation_id: string }>(`${url}/api/conversations`, { json: {} })
  const follower = new Follower(`${url}/api/conversations/${id}/ws`, () => {})
  await follower.connect()
  follower.send({ action: 'run', args: { command: PREPARE } })
  await follower.until('the repository', (seen) => seen.some(({ observation }) => observation === 'run'))
  follower.send({ action: 'message', args: { content: TASK } })
  await follower.until('the end of the turn', (seen) => seen.at(-1)?.extras?.agent_state === 'finished')
  follower.drop()
  return id
}

async function completed(url: string, path: string, json: object): Promise<string> {
  const { task_id: id } = await ask<{ task_id: string }>(`${url}/api/v1/analysis/${path}`, { json, expect: 202 })
  const limit = Date.now() + TIMEOUT_MS
  for (;;) {
    const { status, error } = await ask<{ status: string; error?: string }>(`${url}/api/v1/analysis/status/${id}`)
    if (status === 'completed') return id
    if (status === 'failed' || Date.now() > limit)
      throw new Error(`${path} is ${status}: ${error ?? 'it takes too long'}`)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

async function take(browser: Browser, { url, made, picture }: { url: string; made: Subjects; picture: Picture }) {
  const { name, look } = picture
  const context = await browser.newContext({
    viewport: { width: look.width, height: look.height },
    colorScheme: look.theme,
    locale: look.language === 'zh' ? 'zh-CN' : 'en-GB',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(TIMEOUT_MS)
  await page.goto(`${url}${picture.path(made)}`)
  await picture.ready(page)
  await page.evaluate(() => document.fonts.ready)
  const path = join(FOLDER, `${name}.png`)
  await page.screenshot({ path, animations: 'disabled' })
  await context.close()
  console.log(path)
}

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !PICTURES.some((picture) => picture.name === name))
if (unknown !== undefined) {
  console.error(`There is no picture ${unknown}. Pictures: ${PICTURES.map(({ name }) => name).join(', ')}`)
  process.exit(1)
}
const executablePath = findChromium()
if (executablePath === null) throw new Error('no Chromium was found: install it, or name it in CHROMIUM_PATH')
const chosen = PICTURES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
mkdirSync(FOLDER, { recursive: true })
const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-pictures-'))
const env = { MARKET_DATA: 'sample', LLM_MODEL: undefined }
const model = await startScriptedModel({ respond: repairer })
let service = await startService({ stateDir, env })
const browser = await chromium.launch({ executablePath, args: FLAGS })
try {
  const reports = {
    chinese: await completed(service.url, 'analyze', { stock_code: '600519', report_language: 'zh', async_mode: true }),
    english: await completed(service.url, 'analyze', { stock_code: 'AAPL', report_language: 'en', async_mode: true }),
    review: await completed(service.url, 'market-review', { report_language: 'en' }),
  }
  // The scripted model can only repair a program, so it is set after the reports.
  await service.stop()
  service = await startService({ stateDir, env: { ...env, ...modelVariables(model.url) } })
  const made = { ...reports, conversation: await repaired(service.url) }
  for (const picture of chosen) await take(browser, { url: service.url, made, picture })
} finally {
  await browser.close()
  await service.stop()
  await model.close()
  rmSync(stateDir, { recursive: true, force: true })
}
