// The browser of one conversation: started with its first action, kept between calls, ended after a long time without
// use. A call is a few actions followed by one read of the page. No page can make a call last forever: each step has a
// time limit, a page that does not answer is closed, and then its browser is ended.

import { readFileSync } from 'node:fs'
import type { Browser as Chromium, Page } from 'playwright-core'
import {
  BROWSER_KIND,
  MAX_SHOT_CHARS,
  type PageAction,
  PageActions,
  type PageState,
  pageLine,
  plainWords,
} from '../../../src/runners/page.ts'
import type { CallStart } from '../../../src/runners/wire.ts'
import { type Log, messageOf } from '../log.ts'
import type { CellEvents } from '../notebook/notebook.ts'
import type { ConversationFolders, LaunchPlan } from '../sandbox/launch.ts'
import type { CallEnd } from '../session/active-call.ts'
import { killTree } from '../session/processes.ts'
import { isCode } from '../sync/folder.ts'
import { BROWSER_ARGS, type BrowserPlace, makeBrowserPlace, proxyOf, REFUSED_ARGS, writeStart } from './launch.ts'
import { failureOf, perform } from './perform.ts'
import { picturesOf, WINDOW } from './picture.ts'
import { pause, Tabs } from './tabs.ts'
import { emptyDeadFrames, fieldsIn, treeOf } from './tree-text.ts'

export type BrowserDeps = {
  /** Chromium; null on a machine without one, or if it cannot run in a sandbox. */
  readonly program: string | null
  /** The browser's own folder. */
  readonly folder: string
  readonly folders: ConversationFolders
  readonly plan: LaunchPlan
  /** The conversation's files. */
  readonly root: string
  readonly log: Log
  /** A browser is ended after this time without use; null for never. */
  readonly idleMs: number | null
}

type Running = { readonly chromium: Chromium; readonly tabs: Tabs; readonly pid: number }
type Call = CellEvents & { readonly stop: AbortController }

const START_MS = 40_000
/** For all actions of a call; reading the page comes after that. */
const ACTIONS_MS = 90_000
const LOOK_MS = 10_000
const DEAD_FRAME_MS = 1_000
/** For a page that answers: a very large one takes long to read. */
const READ_MS = 30_000
const CLOSE_MS = 5_000
const DOWNLOAD_MS = 20_000

export class Browser {
  readonly #deps: BrowserDeps
  #running: Running | null = null
  #place: BrowserPlace | null = null
  #call: Call | null = null
  /** The last call's work, which may continue after a call was stopped. */
  #work: Promise<void> = Promise.resolve()
  /** Reported with the next read: why it is another browser. */
  #note = ''
  #idle: NodeJS.Timeout | null = null
  /** The same fields as in the results of other calls: a browser has no current folder. */
  readonly place = { cwd: '', interpreter: '' }

  constructor(deps: BrowserDeps) {
    this.#deps = deps
  }

  /** The first process of its sandbox. */
  get pid(): number | null {
    return this.#running?.pid ?? null
  }

  take({ text }: Pick<CallStart, 'text'>, events: CellEvents): void {
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = null
    const call = { ...events, stop: new AbortController() }
    this.#call = call
    const actions = PageActions.safeParse(jsonIn(text))
    if (this.#deps.program === null) this.#end(call, refused('This machine has no browser.'))
    else if (!actions.success) this.#end(call, refused('These are no actions of a browser.'))
    else this.#work = this.#work.then(() => this.#carryOut(call, actions.data))
  }

  /** The call is over. */
  leave(): void {
    this.#call?.stop.abort()
    this.#call = null
    this.#restartIdle()
  }

  interrupt(): void {
    const call = this.#call
    if (call !== null) this.#end(call, { state: 'ended', text: 'It was stopped by the user.', exitCode: 130 })
  }

  kill(why: string): void {
    this.#stop(why)
    const call = this.#call
    if (call !== null) this.#end(call, { state: 'killed', text: why, exitCode: 137 })
  }

  end(): void {
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#call = null
    this.#stop('')
  }

  async #carryOut(call: Call, actions: readonly PageAction[]): Promise<void> {
    if (this.#call !== call) return
    try {
      const running = this.#running ?? (await this.#start())
      if (this.#call !== call) return
      const { state, shots } = await this.#seen(running, actions, call)
      for (const line of [pageLine(state), ...shots]) call.onOutput(Buffer.from(line))
      this.#end(call, { state: 'ended', text: '', exitCode: state.error === '' ? 0 : 1 })
    } catch (error) {
      this.#failed(call, error)
    }
  }

  #failed(call: Call, error: unknown): void {
    const text = plainWords(messageOf(error), 1500)
    this.#deps.log('browser.failed', { message: text })
    this.#stop('The browser failed and was ended.')
    this.#end(call, {
      state: 'lost',
      text: `The browser failed: ${text} The next action starts a new one.`,
      exitCode: 1,
    })
  }

  async #start(): Promise<Running> {
    const { program, folder, folders, plan, log } = this.#deps
    if (program === null) throw new Error('no browser here')
    const { chromium } = await import('playwright-core')
    const place = makeBrowserPlace(folder, { folders, plan })
    this.#place = place
    const proxy = proxyOf(plan)
    const started = await chromium
      .launch({
        executablePath: place.start,
        env: writeStart(program, place, plan),
        args: BROWSER_ARGS,
        ignoreDefaultArgs: [...REFUSED_ARGS],
        chromiumSandbox: true,
        timeout: START_MS,
        downloadsPath: place.downloads,
        artifactsDir: `${place.folder}/artifacts`,
        ...(proxy === undefined ? {} : { proxy }),
        ...{ handleSIGHUP: false, handleSIGINT: false, handleSIGTERM: false },
      })
      .catch((error) => {
        throw new Error(`Chromium did not start: ${launchReason(messageOf(error))}`)
      })
    const context = await started.newContext({ viewport: WINDOW, acceptDownloads: true, locale: 'en-US' })
    const running = { chromium: started, tabs: new Tabs(context, place.downloads), pid: pidIn(place.pidFile) }
    this.#running = running
    started.on('disconnected', () => this.#gone(running))
    log('browser.started', { browser: running.tabs.id })
    return running
  }

  /** Runs the actions until one fails, then reads the page. */
  async #seen(
    running: Running,
    actions: readonly PageAction[],
    call: Call,
  ): Promise<{ state: PageState; shots: string[] }> {
    const { tabs } = running
    const { root } = this.#deps
    const { signal } = call.stop
    if (this.#note !== '') tabs.note(this.#note)
    this.#note = ''
    tabs.dialogAnswer = null
    const until = performance.now() + ACTIONS_MS
    let [last, error] = ['', '']
    for (const [index, action] of actions.entries()) {
      last = shown(action)
      const left = actions.length - index
      error =
        performance.now() > until
          ? `There was no time left for ${left} of the actions.`
          : await perform(action, { tabs, root, signal })
      if (error !== '' || signal.aborted) break
      await tabs.settle(await tabs.active(), signal)
    }
    await tabs.bringDownloads(root, DOWNLOAD_MS, signal)
    return this.#look(running, { last, error })
  }

  async #look(
    running: Running,
    { last, error }: { last: string; error: string },
  ): Promise<{ state: PageState; shots: string[] }> {
    const { tabs } = running
    const page = await tabs.active()
    const title = await within(LOOK_MS, page.title())
    if (title === null) return this.#closeHung(running, { last, error, why: 'it computes without end' })
    if (await within(LOOK_MS, emptyDeadFrames(page, DEAD_FRAME_MS)))
      tabs.note('A frame of the page has an address that the browser does not open; it was left empty.')
    const fields = await within(LOOK_MS, fieldsIn(page))
    const snapshot = await within(READ_MS, page.ariaSnapshotJSON({ mode: 'ai', boxes: true, timeout: READ_MS }))
    if (snapshot === null) return this.#closeHung(running, { last, error, why: 'it is too large to be read' })
    const isUnopened = page.url().startsWith('chrome-error:')
    if (isUnopened && error === '') tabs.note(`The page could not be opened: ${failureOf(tabs.failureOf(page))}`)
    // For a page that did not load, Chromium shows an error page.
    const { text, marks, focused } = treeOf(isUnopened ? [] : snapshot, fields)
    const shots = await this.#shots(running, marks)
    const state: PageState = {
      t: 'page',
      browser: tabs.id,
      url: shownUrl(page),
      urls: tabs.pages.map((one) => shownUrl(one)),
      active: tabs.index,
      title: isUnopened ? '' : plainWords(title, 250),
      tree: text,
      focused,
      last: plainWords(last, 250),
      error: error.slice(0, 2000),
      notes: tabs.takeNotes(),
    }
    return { state, shots }
  }

  async #shots({ tabs }: Running, marks: Parameters<typeof picturesOf>[1]): Promise<string[]> {
    const page = await tabs.active()
    const png = await within(LOOK_MS, page.screenshot({ type: 'png', timeout: LOOK_MS }))
    if (png === null) {
      tabs.note('There is no picture: the page did not draw itself in time.')
      return []
    }
    const { screenshot, marks: marked } = picturesOf(png, marks, MAX_SHOT_CHARS)
    return [
      ...(screenshot === '' ? [] : [pageLine({ t: 'shot', which: 'screenshot', png: screenshot })]),
      ...(marked === '' ? [] : [pageLine({ t: 'shot', which: 'marks', png: marked })]),
    ]
  }

  async #closeHung(
    running: Running,
    { why, ...told }: { last: string; error: string; why: string },
  ): Promise<{ state: PageState; shots: string[] }> {
    const { tabs } = running
    const page = await tabs.active()
    const seconds = (why.includes('large') ? READ_MS : LOOK_MS) / 1000
    tabs.note(`The page did not answer for ${seconds} seconds and its tab was closed: ${why}.`)
    const closed = await within(
      CLOSE_MS,
      page.close().then(() => true),
    )
    if (closed === null) throw new Error('A page did not answer and could not be closed.')
    const next = await tabs.active()
    if ((await within(LOOK_MS, next.ariaSnapshotJSON({ timeout: LOOK_MS }))) === null)
      throw new Error('None of its pages answers.')
    return this.#look(running, told)
  }

  #end(call: Call, end: CallEnd): void {
    if (this.#call !== call) return
    this.leave()
    call.onEnded(end)
  }

  #gone(running: Running): void {
    if (this.#running !== running) return
    this.#running = null
    this.#deps.log('browser.gone')
    this.#note = 'The browser ended by itself since then.'
    killTree(running.pid)
  }

  #stop(why: string): void {
    const running = this.#running
    this.#running = null
    if (running !== null) {
      this.#note = why
      killTree(running.pid)
      running.chromium.close().catch(() => undefined)
    } else if (this.#place !== null) {
      // It is starting: killing it makes the library's start fail.
      const pid = pidIn(this.#place.pidFile)
      if (pid > 0) killTree(pid)
    }
    this.#place = null
  }

  #restartIdle(): void {
    const { idleMs } = this.#deps
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = null
    if (idleMs === null || this.#running === null) return
    this.#idle = setTimeout(() => {
      this.#deps.log('browser.idle')
      this.#stop(`The browser was ended after ${idleMs / 60_000} minutes without use.`)
    }, idleMs)
    this.#idle.unref()
  }
}

/** As written by the model, without the typed text. */
function shown(action: PageAction): string {
  switch (action.name) {
    case 'goto':
      return `goto('${action.url}')`
    case 'scroll':
      return `scroll(${action.delta_x}, ${action.delta_y})`
    case 'noop':
      return `noop(${action.wait_ms})`
    case 'tab_focus':
      return `tab_focus(${action.index})`
    case 'dialog':
      return `dialog(${action.accept ? 'True' : 'False'})`
    case 'drag_and_drop':
      return `drag_and_drop('${action.from_bid}', '${action.to_bid}')`
    default:
      return `${action.name}(${'bid' in action ? `'${action.bid}'` : ''})`
  }
}

/** Brackets are valid only in a host name: elsewhere they could look like element ids. */
function shownUrl(page: Page): string {
  const [, host = '', rest = ''] =
    /^([a-z-]+:\/\/[^/?#]*)?(.*)$/isu.exec(page.url().replaceAll(/[\p{Cc}\s]/gu, '')) ?? []
  return `${host}${rest.replaceAll('[', '%5B').replaceAll(']', '%5D')}`.slice(0, 2000)
}

const refused = (text: string): CallEnd => ({ state: 'refused', text, exitCode: -1 })

/** Null if it failed or took too long. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  const late = new AbortController()
  try {
    return await Promise.race([promise.catch(() => null), pause(ms, late.signal).then(() => null)])
  } finally {
    late.abort()
  }
}

/** Chromium's own message, without its command line. */
function launchReason(message: string): string {
  const said = [...message.matchAll(/\[err\] (.*)/g)].map(([, line = '']) => line)
  return (said.length > 0 ? said.slice(-6).join(' ') : (message.split('\n')[0] ?? '')).slice(-1000)
}

/** 0 before it has started. */
function pidIn(file: string): number {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10) || 0
  } catch (error) {
    if (isCode(error, 'ENOENT')) return 0
    throw error
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export const isOfBrowser = ({ kind }: Pick<CallStart, 'kind'>): boolean => kind === BROWSER_KIND
