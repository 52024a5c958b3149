// Performs one action of a model on the current page. Element ids are those of the last read: an element that was
// removed, or that the model invented, is refused, and no other element is used instead.

import { stripVTControlCharacters } from 'node:util'
import type { Locator, Page } from 'playwright-core'
import { type PageAction, plainWords, quotedWords } from '../../../src/runners/page.ts'
import { FileRefused, fileToUpload } from './files.ts'
import { pause, type Tabs } from './tabs.ts'

/** An error for the model; any other thrown error is an internal error. */
class NotDone extends Error {}

export type Performing = {
  readonly tabs: Tabs
  /** The conversation's files. */
  readonly root: string
  readonly signal: AbortSignal
}

const GOTO_MS = 20_000
const ACTION_MS = 8_000

/** Empty if the action succeeded; otherwise the reason. */
export async function perform(action: PageAction, deps: Performing): Promise<string> {
  try {
    await performed(action, deps)
    return ''
  } catch (error) {
    if (error instanceof NotDone || error instanceof FileRefused) return error.message
    if (!(error instanceof Error)) throw error
    return explained(error, action)
  }
}

async function performed(action: PageAction, deps: Performing): Promise<void> {
  const { tabs, signal } = deps
  const page = await tabs.active()
  switch (action.name) {
    case 'goto':
      return visit(page, action.url, deps)
    case 'go_back':
    case 'go_forward':
      return walk(page, action.name, signal)
    case 'noop':
      return pause(action.wait_ms, signal)
    case 'scroll':
      await page.mouse.move(640, 360)
      return page.mouse.wheel(action.delta_x, action.delta_y)
    case 'tab_new':
      await tabs.open()
      return
    case 'tab_focus':
      if (!tabs.focus(action.index)) throw new NotDone(`There is no tab ${action.index}.`)
      return
    case 'tab_close':
      return page.close()
    case 'dialog':
      tabs.dialogAnswer = { accept: action.accept, text: action.text }
      return
    case 'drag_and_drop':
      return (await elementOf(page, action.from_bid)).dragTo(await elementOf(page, action.to_bid), {
        timeout: ACTION_MS,
        signal,
      })
    default:
      return onElement(action, await elementOf(page, action.bid), deps)
  }
}

type OnElement = Extract<PageAction, { bid: string }>

async function onElement(action: OnElement, element: Locator, { root, signal }: Performing): Promise<void> {
  const within = { timeout: ACTION_MS, signal }
  switch (action.name) {
    case 'fill':
      return element.fill(action.value, within)
    case 'clear':
      return element.clear(within)
    case 'select_option':
      await element.selectOption(action.options, within)
      return
    case 'click':
      return element.click({ ...within, button: action.button, modifiers: action.modifiers })
    case 'dblclick':
      return element.dblclick({ ...within, button: action.button, modifiers: action.modifiers })
    case 'hover':
      return element.hover(within)
    case 'press':
      return element.press(action.key_comb, within)
    case 'focus':
      return element.focus(within)
    case 'upload_file':
      return element.setInputFiles(
        action.file.map((path) => fileToUpload(root, path)),
        within,
      )
  }
}

async function elementOf(page: Page, bid: string): Promise<Locator> {
  const element = page.getByRef(bid)
  const count = await element.count().catch(() => 0)
  if (count !== 1)
    throw new NotDone(`The page that you last saw has no element [${bid}] any more: look at the page below.`)
  return element
}

async function visit(page: Page, url: string, { tabs, signal }: Performing): Promise<void> {
  if (url !== 'about:blank') {
    const scheme = /^\s*([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase()
    const isWeb = scheme === 'http' || scheme === 'https'
    if (isWeb && !URL.canParse(url)) throw new NotDone(`${quotedWords(url, 200)} is no address: see its host and port.`)
    if (!isWeb)
      throw new NotDone(
        `Only http:// and https:// addresses can be opened${scheme === undefined ? '' : `, not ${scheme}:`}. Files of the workspace are opened over a server that you start in it.`,
      )
  }
  // The rest of the page is waited for afterwards, for a limited time.
  const response = await page.goto(url, { timeout: GOTO_MS, waitUntil: 'commit', signal }).catch(async (error) => {
    // The server does not answer: the previous page is still there and can be read.
    if (error instanceof Error && error.name === 'TimeoutError') await tabs.stopLoading(page)
    throw error
  })
  if (response !== null && response.status() >= 400) tabs.note(`The server answered with status ${response.status()}.`)
}

async function walk(page: Page, where: 'go_back' | 'go_forward', signal: AbortSignal): Promise<void> {
  const within = { timeout: GOTO_MS, waitUntil: 'commit', signal } as const
  const before = page.url()
  const response = where === 'go_back' ? await page.goBack(within) : await page.goForward(within)
  if (response === null && page.url() === before)
    throw new NotDone(`There is no ${where === 'go_back' ? 'earlier' : 'later'} page in this tab.`)
}

/** The browser's error, with its meaning here. */
function explained(error: Error, action: PageAction): string {
  const lines = stripVTControlCharacters(error.message).split('\n')
  const first = plainWords((lines[0] ?? '').replace(/^(page|locator|mouse)\.\w+: /, ''), 400)
  if (first.includes('Download is starting')) return ''
  const meaning = isLate(error, action) ? NO_ANSWER : meaningOf(first)
  const seen = lines.find((line) =>
    /intercepts pointer events|not visible|not enabled|not stable|outside of the viewport/.test(line),
  )
  const more = meaning ?? (seen === undefined ? '' : plainWords(seen.replace(/^\s*-\s*/, ''), 300))
  const at = action.name === 'goto' ? ` (${plainWords(action.url, 200)})` : ''
  return `${first}${first.endsWith('.') ? '' : '.'}${more === '' ? '' : ` ${more}`}${more === '' ? '' : at}`
}

const meaningOf = (text: string) => MEANINGS.find(([code]) => text.includes(code))?.[1]
const NO_ANSWER = 'The server did not answer in that time, and is not waited for any more.'
const isLate = (error: Error, { name }: PageAction): boolean => error.name === 'TimeoutError' && name === 'goto'

/** Why a page was not opened, from the browser's error code. */
export function failureOf(code: string): string {
  return [plainWords(code, 100), meaningOf(code) ?? ''].filter((part) => part !== '').join('. ')
}

const MEANINGS: readonly (readonly [code: string, meaning: string])[] = [
  ['ERR_BLOCKED_BY_ADMINISTRATOR', 'This browser opens http and https pages only.'],
  ['ERR_TUNNEL_CONNECTION_FAILED', "The runner's network list does not let the browser through to this host."],
  [
    'ERR_CONNECTION_REFUSED',
    "Nothing listens there. localhost is the conversation's own network: only servers that run in it answer.",
  ],
  ['ERR_INTERNET_DISCONNECTED', "There is no way out of the conversation's network to this address."],
  ['ERR_ADDRESS_UNREACHABLE', "There is no way out of the conversation's network to this address."],
  ['ERR_NAME_NOT_RESOLVED', "The name is not known in the conversation's network."],
  ['ERR_ABORTED', 'The page did not load: the server sent nothing to show, or another page was opened meanwhile.'],
]
