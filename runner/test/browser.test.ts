// A real Chromium in a real sandbox, at the pages of a hostile server that runs in the conversation.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { pageReportIn } from '../../src/runners/page.ts'
import { Browser } from '../src/browser/browser.ts'
import { findChromium } from '../src/browser/launch.ts'
import { pixelsIn } from '../src/browser/picture.ts'
import { makeFolders } from '../src/sandbox/launch.ts'
import { OwnNetwork } from '../src/sandbox/own-network.ts'
import { descendantsOf } from '../src/session/processes.ts'
import { startRunner, temporaryFolder } from './support/runner-process.ts'
import { sandboxed } from './support/sandboxed.ts'
import type { Session } from './support/stand-in-session.ts'

const missing = [
  findChromium('/usr/local/bin:/usr/bin:/bin') === null ? 'Chromium' : '',
  spawnSync('nsenter', ['--version']).status === 0 ? '' : 'nsenter',
].filter((name) => name !== '')
if (missing.length > 0 && process.env.REQUIRE_ALL === '1') throw new Error(`not installed: ${missing.join(', ')}`)
if (missing.length > 0) process.stderr.write(`skipped: not installed: ${missing.join(', ')}\n`)
/** Real pages on a machine that does other things as well: only what hangs is to fail by the clock. */
const WITHIN_MS = 600_000
const browserTest = (name: string, run: () => Promise<void>) =>
  (missing.length > 0 ? test.skip : sandboxed)(name, run, WITHIN_MS)

const isProof = process.env.PROOF === '1'
const some = <T>(all: readonly T[]): readonly T[] => (isProof ? all : all.slice(0, 2))

const HOSTILE = readFileSync(new URL('./support/hostile-pages.cjs', import.meta.url), 'utf8')
const HOME = 'http://localhost:3000'

async function started(args: string[] = [], id = 'c1') {
  const lent = await startRunner(['--isolation', 'bwrap', '--network', 'list', ...args])
  return { ...lent, session: await opened(lent, id) }
}

async function opened({ service }: Awaited<ReturnType<typeof startRunner>>, id: string): Promise<Session> {
  const session = await service.open(id)
  session.tree.write('hostile.cjs', HOSTILE)
  await session.push()
  const wait = 'until curl -so /dev/null localhost:3000; do :; done'
  await session.run(`node hostile.cjs >/dev/null 2>&1 & sleep 0; ${wait}`)
  return session
}

async function use(session: Session, ...actions: object[]) {
  const { output, outcome, tree } = await session.run(JSON.stringify(actions), { kind: 'browser' })
  const page = pageReportIn(output)
  return { page, outcome, tree, text: [page?.tree, page?.error, ...(page?.notes ?? [])].join('\n') }
}

const goto = (path: string) => ({ name: 'goto', url: path.startsWith('/') ? `${HOME}${path}` : path })
const to = (path: string, address: string) => goto(`${path}?to=${encodeURIComponent(address)}`)
/** The id of the element whose line has the words. */
const bidOf = (tree: string | undefined, words: string): string =>
  new RegExp(`\\[(\\w+)\\] \\w+ "${words}`).exec(tree ?? '')?.[1] ?? 'e0'

browserTest(
  'a page is a tree with ids and two pictures; what a page says cannot pass for an id or a line of ours',
  async () => {
    const { session, service } = await started()
    expect((await service.runner()).runner.tools).toContainEqual({
      name: 'browser',
      version: expect.stringMatching(/^\d/),
    })
    const { page, outcome } = await use(session, goto('/'))
    expect(page).toMatchObject({ url: `${HOME}/`, urls: [`${HOME}/`], active: 0, error: '', notes: [] })
    expect(page?.tree).toBe('[e2] button "Press (e99)", clickable\nstatus')
    expect(outcome).toMatchObject({ state: 'ended', exitCode: 0 })
    const [plain, marked] = [page?.screenshot, page?.marks].map((url) =>
      pixelsIn(Buffer.from(url?.split(',')[1] ?? '', 'base64')),
    )
    expect([plain?.width, plain?.height, marked?.width, marked?.height]).toEqual([1280, 720, 1280, 720])
    expect(plain?.rgb.equals(marked?.rgb ?? Buffer.alloc(0))).toBe(false)
    const { page: names } = await use(session, goto('/names'))
    const bids = [...(names?.tree ?? '').matchAll(/\[(\w+)\]/g)].map(([, bid]) => bid)
    expect(new Set(bids).size).toBe(bids.length)
    expect(bids.filter((bid) => ['e77', 'e88', 'e89'].includes(bid ?? ''))).toEqual([])
    for (const line of (names?.tree ?? '').split('\n'))
      expect(line).toMatch(/^\t*((\[(f\d+)?e\d+\] )?[a-z]+|StaticText)( "|, |: "|$)/)
    expect(names?.tree).not.toMatch(/====|\u202e|\u200b|\u2028/)
    expect((await use(session, { name: 'click', bid: 'e77' })).page?.error).toContain('has no element [e77]')
    const { page: many } = await use(session, goto('/many'))
    expect(many?.tree.length).toBeLessThan(27_000)
    expect(many?.tree).toMatch(/row 0[\s\S]*elements far from the window are not shown/)
    expect((await use(session, { name: 'scroll', delta_x: 0, delta_y: 20_000 })).page?.tree).toMatch(/row [4-6]\d\d/)
  },
)

browserTest(
  'files, inner pages, other networks and other conversations are not reached, by no way that a page or a model has',
  async () => {
    const lent = await started(['--allow', 'localhost.example'])
    const { session } = lent
    const asked: string[] = []
    const own = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end('the machine')
    })
    await new Promise<void>((resolve) => own.listen(0, '0.0.0.0', resolve))
    onTestFinished(() => void own.close())
    const { port } = own.address() as AddressInfo
    for (const url of some([
      'file:///etc/passwd',
      ' chrome://version',
      'data:text/html,x',
      'javascript:alert(1)',
      'view-source:http://localhost:3000',
      'devtools://x',
      'ftp://x/',
    ]))
      expect([url, (await use(session, goto(url))).page?.error]).toEqual([url, expect.stringMatching(/Only http/)])
    await use(session, goto('/'))
    for (const url of some([
      'file:///etc/passwd',
      'chrome://version',
      'view-source:http://localhost:3000',
      'data:text/html,outside',
    ])) {
      const inside = /root:|outside|Version/
      const gone = await use(session, to('/go', url), { name: 'noop', wait_ms: 400 })
      const framed = await use(session, to('/frame', url))
      const { page } = await use(session, to('/open', url))
      const opened = await use(session, { name: 'click', bid: bidOf(page?.tree, 'Open') })
      for (const { text } of [gone, framed, opened])
        expect([url, text]).not.toEqual([url, expect.stringMatching(inside)])
      // The rest of the page is there.
      if (!url.startsWith('data:'))
        expect(framed.page).toMatchObject({ tree: expect.stringContaining('iframe'), error: '' })
      await use(session, { name: 'tab_focus', index: 0 })
    }
    const away = some([
      `http://localhost:${port}/`,
      'http://metadata.google.internal/',
      'http://169.254.169.254/latest/meta-data/',
      `http://${hostname()}:${port}/`,
      'https://169.254.169.254/',
      'http://2852039166/',
      'http://[::ffff:169.254.169.254]/',
      'http://169-254-169-254.nip.io/',
      `http://127.0.0.1:${port}/`,
      `http://[::1]:${port}/`,
      `${lent.service.url}/api/keys`,
    ])
    for (const url of away) {
      const straight = await use(session, goto(url))
      const moved = await use(session, to('/moved', url))
      for (const { text } of [straight, moved])
        expect([url, text]).toEqual([
          url,
          expect.stringMatching(/list of hosts|way out|Nothing listens|not let|no answer/),
        ])
      expect(straight.text).not.toContain('the machine')
    }
    const fetched = await use(session, to('/fetch', away.join(' ')), { name: 'noop', wait_ms: 500 })
    expect(fetched.text).toMatch(/"tried/)
    expect(fetched.text).not.toContain('the machine')
    expect(lent.runner.log).toMatch(/network\.refused conversation=c1 to="?http:\/\/metadata\.google\.internal/)
    expect(asked).toEqual([])
    const other = await lent.service.open('c2')
    await other.push()
    expect((await use(other, goto('/'))).page?.error).toContain('Nothing listens there')
    const worker = await use(session, goto('/worker'), { name: 'noop', wait_ms: 1000 })
    expect(worker.text).toContain('"not reached, not reached, not reached"')
    const rtc = await use(session, goto('/rtc'), { name: 'noop', wait_ms: 1500 })
    expect(rtc.text).toContain('candidates: 0')
    expect((await use(session, goto('/prompts'), { name: 'noop', wait_ms: 1000 })).text).toMatch(
      /notify denied, place denied, camera denied, screen denied, read denied/,
    )
  },
)

browserTest('downloads stay in their folder under plain names, uploads come from the workspace alone', async () => {
  const { session, folder } = await started()
  const { page } = await use(session, goto('/downloads'))
  const click = (words: string) => ({ name: 'click', bid: bidOf(page?.tree, words) })
  const { page: after, tree } = await use(session, ...[0, 1, 2, 3, 4].map((n) => click(`File ${n}`)))
  expect(after?.notes.map((note) => note.replace(/ \(\d+ bytes\)/, '')).sort()).toEqual([
    'Downloaded to /workspace/downloads/_.._.._escaped.txt.',
    'Downloaded to /workspace/downloads/_.._escaped.txt.',
    'Downloaded to /workspace/downloads/_etc_cron.d_escaped.',
    'Downloaded to /workspace/downloads/bashrc.',
    'Downloaded to /workspace/downloads/fine (e1) name.txt.',
  ])
  expect([...tree.keys()].filter((path) => path.startsWith('downloads/'))).toHaveLength(5)
  expect(statSync(join(folder, 'c1')).isDirectory()).toBe(true)
  expect((await use(session, click('Large'))).text).toContain('failed: it has more than 26214400 bytes')
  await session.run(
    'rm -r downloads; ln -s /home/agent downloads; echo secret > real.txt; ln -s /etc/passwd link.txt; ln -s /etc folder',
  )
  const linked = await use(session, click('File 0'))
  expect(linked.text).toContain('/workspace/downloads is no folder')
  expect(readdirSync(join(folder, 'c1', 'home'))).not.toContain('escaped.txt')
  const pick = bidOf(linked.page?.tree, 'Pick')
  for (const file of [
    '/etc/passwd',
    '../journal/x',
    '/workspace/../journal',
    'link.txt',
    '/workspace/folder/passwd',
    'folder',
    'none.txt',
    '/proc/self/environ',
    '',
  ])
    expect([file, (await use(session, { name: 'upload_file', bid: pick, file })).page?.error]).toEqual([
      file,
      expect.stringMatching(/\.$/),
    ])
  expect(
    (await use(session, { name: 'upload_file', bid: pick, file: ['real.txt', '/workspace/hostile.cjs'] })).page?.error,
  ).toBe('')
})

browserTest(
  'a page that opens a thousand tabs or dialogs, hangs or never ends costs a bounded time and its own tab',
  async () => {
    const { session } = await started()
    const tabs = await use(session, goto('/tabs'))
    const opened = await use(
      session,
      { name: 'click', bid: bidOf(tabs.page?.tree, 'Open all') },
      { name: 'noop', wait_ms: 500 },
    )
    expect(opened.page?.urls.length).toBeLessThanOrEqual(10)
    for (let at = opened.page?.urls.length ?? 0; at > 1; at--) await use(session, { name: 'tab_close' })
    const asks = await use(session, to('/dialogs', isProof ? '1000' : '20'))
    const asked = await use(session, { name: 'click', bid: bidOf(asks.page?.tree, 'Ask') })
    expect(asked.page?.notes.length).toBeLessThanOrEqual(32)
    expect(asked.text).toMatch(
      /dialog \(confirm\) that says "0"\. It was dismissed[\s\S]*More happened than is told here/,
    )
    const hung = await use(session, goto('/hang'), { name: 'noop', wait_ms: 500 })
    expect(hung.text).toContain('did not answer for 10 seconds and its tab was closed')
    expect((await use(session, goto('/'))).page?.tree).toContain('button "Press')
    if (!isProof) return
    const endless = await use(session, goto('/endless'))
    // Seen as it was by then, or its tab was closed, or its browser was ended.
    expect(endless.page?.url ?? endless.outcome.text).toMatch(/endless|blank|could not be closed|None of its pages/)
    expect((await use(session, goto('/'))).page?.error).toBe('')
  },
)

browserTest('what stands in fields that hide it is not told, and what failed is told as what it was', async () => {
  const { session } = await started()
  const { page } = await use(session, goto('/fields'))
  expect(page?.title).toBe('Hostile')
  expect(page?.tree).toContain('textbox "Name", clickable: "shown"')
  expect(page?.tree.match(/: \(hidden\)$/gm)).toHaveLength(4)
  // An element that is typed into and is no field.
  const editor = /\[(\w+)\] textbox, clickable(?:: "Write|\n\tStaticText "Write)/.exec(page?.tree ?? '')?.[1] ?? 'e0'
  expect((await use(session, { name: 'fill', bid: editor, value: 'mine' })).page?.tree).toContain(
    'textbox, clickable, focused: "mine"',
  )
  const typed = await use(session, { name: 'fill', bid: bidOf(page?.tree, 'Password'), value: 'typed-secret' })
  expect([page?.tree, typed.page?.tree].join('\n')).not.toMatch(/secret/)
  expect(typed.page?.last).not.toContain('typed')
  const gone = await use(session, { name: 'click', bid: bidOf(page?.tree, 'Gone') })
  expect(gone.page?.notes).toEqual([
    expect.stringMatching(/^The page could not be opened: .*REFUSED\. Nothing listens/),
  ])
  for (const url of ['http://localhost:99999/', 'http://a b/'])
    expect((await use(session, goto(url))).page?.error).toContain('is no address')
  expect((await use(session, { name: 'tab_focus', index: 0 })).page?.last).toBe('tab_focus(0)')
  if (!isProof) return
  await use(session, goto('/'))
  const never = await use(session, goto('/never'))
  expect([never.page?.url, never.page?.error]).toEqual([
    `${HOME}/`,
    expect.stringContaining('did not answer in that time'),
  ])
  expect(never.page?.notes).toEqual([])
  expect((await use(session, goto('/endless-file'))).text).toContain('A download goes on')
  const before = performance.now()
  expect((await use(session, goto('/'))).text).toContain('A download goes on')
  expect(performance.now() - before).toBeLessThan(15_000)
})

browserTest('a page that takes all memory is ended and told, and the conversation goes on', async () => {
  const { session } = await started(['--memory', '1G'])
  const { page, outcome } = await use(session, goto('/memory'), { name: 'noop', wait_ms: 10_000 })
  const told = [outcome.text, ...outcome.remarks, ...(page?.notes ?? [])].join('\n')
  expect(told).toMatch(/crashed, as one that takes too much memory does|bytes of memory/)
  expect(told).not.toContain('did not answer')
  expect((await session.run('echo goes on')).output).toContain('goes on')
  expect((await use(session, goto('/'))).page?.tree).toContain('button "Press')
})

browserTest(
  'its sandbox has no file and no socket of the conversation, and nothing of it outlives its runner',
  async () => {
    const { session, service, folder, runner, restart } = await started()
    const first = await use(session, goto('/'))
    const pid = Number(readFileSync(join(folder, 'c1', 'browser', 'pid'), 'utf8'))
    const processes = descendantsOf(pid)
    expect(processes.length).toBeGreaterThan(3)
    const inner = processes.find((one) => readFileSync(`/proc/${one}/comm`, 'utf8').startsWith('chromium')) ?? 0
    expect(readdirSync(`/proc/${inner}/root/workspace`)).toEqual([])
    expect(readdirSync(`/proc/${inner}/root/run/bellwether`)).not.toContain('credentials.sock')
    const line = readFileSync(`/proc/${inner}/cmdline`, 'utf8')
    expect(line).not.toMatch(/--no-sandbox|--remote-debugging-port/)
    const profile = /--user-data-dir=([^\0 ]+)/.exec(line)?.[1] ?? ''
    // Its files are memory of the sandbox; the folder is swept when it is 2 s old.
    expect(readdirSync(profile)).toEqual([])
    expect(readlinkSync(`/proc/${inner}/ns/net`)).not.toBe(readlinkSync('/proc/self/ns/net'))
    await runner.kill()
    await expect.poll(() => processes.filter((one) => isAlive(one))).toEqual([])
    await expect.poll(() => Date.now() - statSync(profile).mtimeMs).toBeGreaterThan(2_000)
    await restart()
    expect(existsSync(profile)).toBe(false)
    const back = await service.open('c1')
    await back.push()
    const again = await use(back, { name: 'click', bid: 'e2' })
    expect(again.page?.browser).not.toBe(first.page?.browser)
    expect(again.page?.error).toContain('has no element')
  },
)

/** One that has ended and was not asked about yet is no process any more. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

browserTest('a browser that ends by itself, is stopped or killed says so, and the next is a new one', async () => {
  const { session, folder, runner } = await started(['--browser-idle', '0'])
  const first = await use(session, goto('/'))
  process.kill(Number(readFileSync(join(folder, 'c1', 'browser', 'pid'), 'utf8')), 'SIGKILL')
  await runner.logged(/browser\.gone/)
  const second = await use(session, goto('/'))
  expect([second.page?.error, second.page?.browser === first.page?.browser]).toEqual(['', false])
  const { key } = await session.start(JSON.stringify([{ name: 'noop', wait_ms: 10_000 }]), { kind: 'browser' })
  await session.rpc?.call('call/stop', { key })
  expect((await session.ended(key)).outcome).toMatchObject({ text: 'It was stopped by the user.', exitCode: 130 })
  expect((await use(session, goto('/'))).page?.browser).toBe(second.page?.browser)
  expect((await session.run('no json', { kind: 'browser' })).outcome).toMatchObject({ state: 'refused' })
})

browserTest(
  'a browser that nobody uses is ended, and the next look says so; one that does not start says why',
  async () => {
    const folder = temporaryFolder()
    const made = makeFolders(folder)
    const limits = { diskBytes: 1e9, memoryBytes: 4e9, cpus: 1, processes: 512, fileBytes: 1e8, tmpBytes: 2 ** 28 }
    const plan = { isolation: 'bwrap', network: 'none', limits, idleMs: null, browserIdleMs: 1 } as const
    const network = new OwnNetwork({ folder: join(folder, 'network'), run: made.run, hasProxy: false })
    const log = (event: string) => events.push(event)
    const events: string[] = []
    const deps = {
      program: findChromium('/usr/local/bin:/usr/bin:/bin')?.file ?? null,
      folder: join(folder, 'browser'),
      folders: { ...made, network },
      plan,
      root: made.workspace,
      log,
      idleMs: 1,
    }
    const browser = new Browser(deps)
    onTestFinished(() => {
      browser.end()
      network.end()
    })
    const look = () =>
      new Promise<string>((resolve) => {
        const output: string[] = []
        browser.take(
          { text: '[{"name":"noop","wait_ms":1}]' },
          {
            onOutput: (bytes) => output.push(String(bytes)),
            onBegun: () => {},
            onEnded: () => resolve(output.join('')),
          },
        )
      })
    const first = pageReportIn(await look())
    const pid = Number(readFileSync(join(folder, 'browser', 'pid'), 'utf8'))
    await expect.poll(() => events.includes('browser.idle') && browser.pid === null).toBe(true)
    await expect.poll(() => isAlive(pid)).toBe(false)
    const second = pageReportIn(await look())
    expect(second?.notes).toEqual([expect.stringContaining('was ended after')])
    expect(second?.browser).not.toBe(first?.browser)
    const broken = new Browser({ ...deps, program: '/usr/bin/false', folder: join(folder, 'broken') })
    const text = await new Promise<string>((resolve) =>
      broken.take(
        { text: '[{"name":"noop"}]' },
        { onOutput: () => {}, onBegun: () => {}, onEnded: (end) => resolve(`${end.state}: ${end.text}`) },
      ),
    )
    expect(text).toMatch(/^lost: The browser failed: Chromium did not start: .*The next action starts a new one\.$/)
  },
)
