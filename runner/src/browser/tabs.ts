// The open pages of one browser, and their own activity: new windows, dialogs, prints, downloads. None of it waits for
// an answer: each event is handled at once, counted, and reported in the result of the call.

import { randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Dialog, Download, Page, Request } from 'playwright-core'
import { quotedWords } from '../../../src/runners/page.ts'
import { FileRefused, MAX_DOWNLOAD_BYTES, placeDownload } from './files.ts'

const MAX_TABS = 10
const MAX_NOTES = 30
const MAX_RUNNING_DOWNLOADS = 5
const LOOK_AT_DOWNLOADS_MS = 100
/** A page is idle after this time without a pending request. */
const REST_MS = 200
/** A request that becomes a download ends before the download starts. */
const DOWNLOAD_BEGINS_MS = 2_000
const SETTLE_MS = 3_000
const LOAD_MS = 8_000
/** A longer download is cancelled. */
const MAX_DOWNLOAD_MS = 10 * 60_000

export type DialogAnswer = { readonly accept: boolean; readonly text: string }

export class Tabs {
  /** Differs for each browser. */
  readonly id = randomBytes(8).toString('hex')
  /** For the next dialogs of this call; null dismisses them. */
  dialogAnswer: DialogAnswer | null = null
  readonly #context: BrowserContext
  readonly #downloads: string
  readonly #pages: Page[] = []
  #active: Page | null = null
  #notes: string[] = []
  #isQuiet = false
  readonly #loading = new Map<Page, Set<Request>>()
  readonly #running = new Set<Promise<void>>()
  /** Downloads that started in this call and are still running: only these are waited for. */
  #fresh: Promise<void>[] = []
  /** Why the last navigation of a page failed. */
  readonly #failures = new WeakMap<Page, string>()
  /** Failed requests for a page: some of them become downloads. */
  #cameToNothing = 0
  #finished: { file: string; suggested: string }[] = []

  constructor(context: BrowserContext, downloads: string) {
    this.#context = context
    this.#downloads = downloads
    context.on('page', (page) => this.#opened(page))
  }

  get pages(): readonly Page[] {
    return this.#pages
  }

  get index(): number {
    return this.#active === null ? -1 : this.#pages.indexOf(this.#active)
  }

  /** There is always one page to read. */
  async active(): Promise<Page> {
    if (this.#active !== null && !this.#active.isClosed()) return this.#active
    return this.open()
  }

  async open(): Promise<Page> {
    if (this.#pages.length >= MAX_TABS) throw new FileRefused(`There are ${MAX_TABS} tabs: close one first.`)
    this.#active = await this.#context.newPage()
    return this.#active
  }

  focus(index: number): boolean {
    const page = this.#pages[index]
    if (page !== undefined) this.#active = page
    return page !== undefined
  }

  note(text: string): void {
    if (this.#notes.length < MAX_NOTES) this.#notes.push(text)
    else if (!this.#isQuiet) this.#notes.push('More happened than is told here.')
    if (this.#notes.length > MAX_NOTES) this.#isQuiet = true
  }

  takeNotes(): string[] {
    const notes = this.#notes
    this.#notes = []
    this.#isQuiet = false
    return notes
  }

  /** Waits until the page has loaded and has no pending requests, for a limited time, because some pages never become idle. */
  async settle(page: Page, signal: AbortSignal): Promise<void> {
    const hasLoaded = await page.waitForLoadState('load', { timeout: LOAD_MS, signal }).then(
      () => true,
      () => false,
    )
    if (!hasLoaded && !signal.aborted) this.note('The page had not loaded as a whole when it was looked at.')
    if (!hasLoaded) return
    for (const since = performance.now(); performance.now() - since < SETTLE_MS && !signal.aborted; ) {
      const before = this.#loading.get(page)?.size ?? 0
      await pause(REST_MS, signal)
      if (before === 0 && (this.#loading.get(page)?.size ?? 0) === 0) return
    }
  }

  /** Waits for started downloads, and moves the finished ones into the workspace. */
  async bringDownloads(root: string, waitMs: number, signal: AbortSignal): Promise<void> {
    for (const since = performance.now(); this.#cameToNothing > 0 && performance.now() - since < DOWNLOAD_BEGINS_MS; )
      await pause(50, signal)
    this.#cameToNothing = 0
    await Promise.race([this.#newDownloads(), pause(waitMs, signal)])
    this.#fresh = []
    if (this.#running.size > 0) this.note('A download goes on; it is put into the workspace by a later action.')
    for (const { file, suggested } of this.#finished.splice(0)) {
      try {
        const { path, bytes } = placeDownload(this.#downloads, file, { root, suggested })
        this.note(`Downloaded to /workspace/${path} (${bytes} bytes).`)
      } catch (error) {
        if (!(error instanceof FileRefused)) throw error
        this.note(`The download ${quotedWords(suggested, 100)} was not kept: ${error.message}`)
      }
    }
  }

  /** Empty if nothing failed. */
  failureOf(page: Page): string {
    return this.#failures.get(page) ?? ''
  }

  /** Cancels its navigation. */
  async stopLoading(page: Page): Promise<void> {
    const session = await this.#context.newCDPSession(page)
    await session.send('Page.stopLoading')
    await session.detach()
  }

  async #newDownloads(): Promise<void> {
    for (let one = this.#fresh.shift(); one !== undefined; one = this.#fresh.shift()) await one
  }

  #opened(page: Page): void {
    if (this.#pages.length >= MAX_TABS) {
      this.note(`A page opened more than ${MAX_TABS} tabs: the further one was closed.`)
      page.close().catch(() => undefined)
      return
    }
    this.#pages.push(page)
    this.#active = page
    const loading = new Set<Request>()
    this.#loading.set(page, loading)
    page.on('request', (request) => loading.add(request))
    page.on('requestfinished', (request) => loading.delete(request))
    page.on('requestfailed', (request) => {
      loading.delete(request)
      if (!request.isNavigationRequest()) return
      const why = request.failure()?.errorText ?? ''
      if (why === 'net::ERR_ABORTED') this.#cameToNothing += 1
      else if (request.frame() === page.mainFrame()) this.#failures.set(page, why)
    })
    page.on('dialog', (dialog) => this.#asked(dialog))
    page.on('download', (download) => this.#begun(download))
    page.on('crash', () => this.#crashed(page))
    page.on('close', () => this.#closed(page))
  }

  #crashed(page: Page): void {
    this.note('The page crashed, as one that takes too much memory does, and its tab was closed.')
    // It cannot be read.
    this.#closed(page)
    page.close().catch(() => undefined)
  }

  #closed(page: Page): void {
    const index = this.#pages.indexOf(page)
    if (index >= 0) this.#pages.splice(index, 1)
    this.#loading.delete(page)
    if (this.#active === page) this.#active = this.#pages.at(Math.max(0, index - 1)) ?? null
  }

  #asked(dialog: Dialog): void {
    const kind = dialog.type()
    const answer = this.dialogAnswer
    const isAccepted = kind === 'alert' || kind === 'beforeunload' || answer?.accept === true
    const given = kind === 'prompt' && answer?.accept === true ? answer.text : undefined
    const how = isAccepted ? 'accepted' : 'dismissed; to accept one, put dialog(True) before the action that opens it'
    this.note(`The page opened a dialog (${kind}) that says ${quotedWords(dialog.message(), 300)}. It was ${how}.`)
    const done = isAccepted ? dialog.accept(given) : dialog.dismiss()
    // The page was closed meanwhile, together with its dialog.
    done.catch(() => undefined)
  }

  #begun(download: Download): void {
    const suggested = download.suggestedFilename()
    this.#cameToNothing = Math.max(0, this.#cameToNothing - 1)
    if (this.#running.size >= MAX_RUNNING_DOWNLOADS) {
      this.note(`The download ${quotedWords(suggested, 100)} was cancelled: ${MAX_RUNNING_DOWNLOADS} are running.`)
      download.cancel().catch(() => undefined)
      return
    }
    const running = this.#follow(download, suggested).finally(() => this.#running.delete(running))
    this.#running.add(running)
    this.#fresh.push(running)
  }

  async #follow(download: Download, suggested: string): Promise<void> {
    let over = ''
    const since = performance.now()
    const watch = setInterval(() => {
      if (largestIn(this.#downloads) > MAX_DOWNLOAD_BYTES) over = `it has more than ${MAX_DOWNLOAD_BYTES} bytes`
      else if (performance.now() - since > MAX_DOWNLOAD_MS)
        over = `it took more than ${MAX_DOWNLOAD_MS / 60_000} minutes`
      if (over !== '') download.cancel().catch(() => undefined)
    }, LOOK_AT_DOWNLOADS_MS)
    try {
      const path = await download.path()
      this.#finished.push({ file: path.slice(path.lastIndexOf('/') + 1), suggested })
    } catch (error) {
      this.note(`The download ${quotedWords(suggested, 100)} failed: ${over === '' ? reasonOf(error) : over}.`)
    } finally {
      clearInterval(watch)
    }
  }
}

function largestIn(folder: string): number {
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
  return Math.max(0, ...sizes)
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : ''
  return quotedWords(text.replace(/^.*?: /, '').split('\n')[0] ?? '', 100)
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
}
