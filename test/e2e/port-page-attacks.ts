// What a page that an agent wrote could try against the console, from the origin of a server in the workspace. The console is
// opened at `localhost`, of which that origin is a subdomain: the two are one site for a browser, which is the worst case.

import type { BrowserContext, Page } from 'playwright-core'

export type Stage = {
  /** The hostile page. */
  readonly page: Page
  /** The console, as its owner has it open. */
  readonly owner: Page
  readonly context: BrowserContext
  readonly console: string
  /** Of the conversation whose agent wrote the page. */
  readonly conversation: string
  /** The same hostile page on another port. */
  readonly sibling: string
  /** Everything that an attack could change, as one text. */
  readonly state: () => Promise<string>
}

/** The server of the page: it counts the cookies that reach it, and sends what a server should not. */
export const HOSTILE_PAGE = `const { createServer } = require('node:http'); let cookies = ''
const answer = (q, s) => {
  const [path, rest = ''] = q.url.split('?'); cookies += q.headers.cookie ?? ''
  if (path === '/seen') return s.end(cookies)
  if (path === '/to') { s.writeHead(302, { location: decodeURIComponent(rest) }); return s.end() }
  if (path === '/sw.js') { s.writeHead(200, { 'content-type': 'text/javascript', 'service-worker-allowed': '/' }); return s.end('onfetch = (e) => e.respondWith(new Response("taken")); onmessage = (e) => fetch(e.data).then((r) => r.text(), () => "").then((t) => e.source.postMessage(t)); oninstall = () => skipWaiting(); onactivate = (e) => e.waitUntil(clients.claim())') }
  if (path === '/cookies') { s.writeHead(200, { 'set-cookie': ['forged=1; Domain=localhost', 'bellwether_session=forged; Path=/', 'bellwether_session=forged; Domain=.localhost'], 'clear-site-data': '"*"' }); return s.end() }
  s.writeHead(200, { 'content-type': 'text/html' }); s.end('<!doctype html><title>page</title>')
}
for (const port of [4100, 4200]) createServer(answer).listen(port, '127.0.0.1')`

/** Whether it came to something. */
type Attack = (stage: Stage) => Promise<boolean>

/** Reads a text of the console's from the page. */
const reads =
  (text: (url: string) => Promise<string>): Attack =>
  async ({ page, console, conversation }) =>
    (await page.evaluate(text, `${console}/api/conversations?limit=5`)).includes(conversation)

/** Changes something at the service. */
const changes =
  (attempt: (target: { console: string; conversation: string }) => Promise<unknown>): Attack =>
  async ({ page, console, conversation, state }) => {
    const before = await state()
    await page.evaluate(attempt, { console, conversation })
    return (await state()) !== before
  }

/** Opens a connection that stays. */
const opensSocket =
  (way: (conversation: string) => string): Attack =>
  ({ page, console, conversation }) =>
    page.evaluate(
      (url) =>
        new Promise<boolean>((resolve) => {
          const socket = new WebSocket(url)
          socket.onopen = () => resolve(true)
          socket.onerror = () => resolve(false)
        }),
      `${console.replace('http', 'ws')}${way(conversation)}`,
    )

/** An element with the address is loaded. */
const loads =
  (tag: 'script' | 'img' | 'link', path: string): Attack =>
  ({ page, console }) =>
    page.evaluate(
      ([kind, url]) =>
        new Promise<boolean>((resolve) => {
          const element = document.createElement(kind)
          element.onload = () => resolve(true)
          element.onerror = () => resolve(false)
          Object.assign(element, kind === 'link' ? { rel: 'stylesheet', href: url } : { src: url })
          document.head.append(element)
        }),
      [tag, `${console}${path}`] as const,
    )

/** Shows the console inside of the page. */
const frames =
  (tag: 'iframe' | 'embed' | 'object'): Attack =>
  async ({ page, console }) => {
    await page.evaluate(
      ([kind, url]) =>
        new Promise<void>((resolve) => {
          const element = document.createElement(kind)
          element.onload = element.onerror = () => resolve()
          Object.assign(element, kind === 'object' ? { data: url } : { src: url })
          document.body.append(element)
        }),
      [tag, `${console}/`] as const,
    )
    const texts = await Promise.all(page.frames().map((frame) => frame.content().catch(() => '')))
    return texts.some((text) => text.includes('Bellwether'))
  }

const opened: Attack = async ({ page, context, console }) => {
  const popup = context.waitForEvent('page')
  await page.evaluate((url) => {
    try {
      document.domain = 'localhost'
    } catch {
      // A browser that takes `localhost` for a public suffix. Others are asked below whether it helped.
    }
    Object.assign(globalThis, { popup: open(url) })
  }, `${console}/`)
  const other = await popup
  await other.waitForLoadState()
  const reached = await page.evaluate((url) => {
    const { popup: found } = globalThis as unknown as { popup: Window }
    try {
      if (found.document.title !== '') return true
    } catch {
      // Another origin, as it should be.
    }
    found.location.href = `${url}/mine`
    found.postMessage({ action: 'message' }, '*')
    return !found.closed
  }, new URL(page.url()).origin)
  await other.close()
  return reached
}

const ownersLink: Attack = async ({ owner, context, console, conversation }) => {
  await owner.goto(`${console}/conversations/${conversation}/workspace/ports`)
  const opening = context.waitForEvent('page')
  await owner
    .getByRole('link', { name: /localhost/ })
    .first()
    .click()
  const shown = await opening
  await shown.waitForLoadState()
  const got = await shown.evaluate(() => [opener === null, document.referrer])
  await shown.close()
  return got[0] !== true || String(got[1]).includes(conversation)
}

const takesOverByWorker: Attack = async ({ page, owner, console, conversation }) => {
  const text = await page.evaluate(async (url) => {
    await navigator.serviceWorker.register('/sw.js', { scope: '/' })
    const { active } = await navigator.serviceWorker.ready
    const said = new Promise<string>((resolve) => {
      navigator.serviceWorker.onmessage = ({ data }) => resolve(String(data))
    })
    active?.postMessage(url)
    return said
  }, `${console}/api/conversations`)
  await owner.reload()
  const taken = await owner.evaluate(async () => (await (await fetch('/api/options/config')).text()) === 'taken')
  return taken || text.includes(conversation)
}

const speaksOnChannel: Attack = async ({ page, owner, context, console }) => {
  await owner.evaluate(() => {
    const heard: unknown[] = []
    Object.assign(globalThis, { heard })
    new BroadcastChannel('bellwether').onmessage = ({ data }) => heard.push(data)
  })
  await page.evaluate(() => new BroadcastChannel('bellwether').postMessage('hostile'))
  // The console's own second tab is heard, and is the last.
  const second = await context.newPage()
  await second.goto(`${console}/api/options/config`)
  await second.evaluate(() => new BroadcastChannel('bellwether').postMessage('own'))
  await owner.waitForFunction(() => (globalThis as unknown as { heard: unknown[] }).heard.includes('own'))
  await second.close()
  return owner.evaluate(() => (globalThis as unknown as { heard: unknown[] }).heard.includes('hostile'))
}

const cookiesOf = async ({ context, console }: Stage) =>
  (await context.cookies(console)).map(({ name, value }) => `${name}=${value}`).sort()

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'reads by fetch with credentials': reads((url) =>
    fetch(url, { credentials: 'include' }).then(
      (answer) => answer.text(),
      () => '',
    ),
  ),
  'reads by XMLHttpRequest': reads(
    (url) =>
      new Promise((resolve) => {
        const request = new XMLHttpRequest()
        request.withCredentials = true
        request.onloadend = () => resolve(request.responseText)
        request.open('GET', url)
        request.send()
      }),
  ),
  'reads over a redirect of its own server': reads((url) =>
    fetch(`/to?${encodeURIComponent(url)}`).then(
      (answer) => answer.text(),
      () => '',
    ),
  ),
  'reads from a worker': reads(
    (url) =>
      new Promise((resolve) => {
        const code = `fetch(${JSON.stringify(url)}).then((a) => a.text(), () => '').then(postMessage)`
        new Worker(URL.createObjectURL(new Blob([code]))).onmessage = ({ data }) => resolve(data)
      }),
  ),
  'reads from a page without an origin': reads(
    (url) =>
      new Promise((resolve) => {
        addEventListener('message', ({ data }) => resolve(String(data)))
        const frame = document.createElement('iframe')
        frame.sandbox.add('allow-scripts')
        frame.srcdoc = `<script>fetch(${JSON.stringify(url)}).then((a) => a.text(), () => '').then((t) => parent.postMessage(t, '*'))</script>`
        document.body.append(frame)
      }),
  ),
  // A body without a type is read as JSON, and a browser asks nobody before it sends one.
  'begins a conversation without asking first': changes(({ console }) =>
    fetch(`${console}/api/conversations`, { method: 'POST', mode: 'no-cors', body: new Blob(['{}']) }).catch(
      () => null,
    ),
  ),
  'begins one by a form': changes(
    ({ console }) =>
      new Promise((resolve) => {
        const frame = Object.assign(document.createElement('iframe'), { name: 'sink', onload: resolve })
        const form = Object.assign(document.createElement('form'), { target: 'sink', method: 'post' })
        Object.assign(form, { action: `${console}/api/conversations`, enctype: 'text/plain' })
        form.append(Object.assign(document.createElement('input'), { name: '{"initial_user_msg":"', value: '"}' }))
        document.body.append(form)
        document.body.append(frame)
        frame.onload = () => {
          frame.onload = resolve
          form.submit()
        }
      }),
  ),
  'begins one by a beacon': changes(async ({ console }) => {
    navigator.sendBeacon(`${console}/api/conversations`, new Blob(['{}']))
    // Whatever is asked later is answered later.
    await fetch(`${console}/api/options/config`, { mode: 'no-cors' }).catch(() => null)
  }),
  'speaks in the conversation': changes(({ console, conversation }) =>
    fetch(`${console}/api/conversations/${conversation}/events`, {
      method: 'POST',
      mode: 'no-cors',
      body: new Blob([JSON.stringify({ action: 'message', args: { content: 'echo hostile' } })]),
    }).catch(() => null),
  ),
  'deletes the conversation': changes(({ console, conversation }) =>
    fetch(`${console}/api/conversations/${conversation}`, { method: 'DELETE' }).catch(() => null),
  ),
  'opens the socket of the conversation': opensSocket((id) => `/api/conversations/${id}/ws`),
  'opens the socket of Socket.IO': opensSocket((id) => `/socket.io/?conversation_id=${id}&EIO=4&transport=websocket`),
  'opens the terminal': opensSocket((id) => `/api/conversations/${id}/terminal?cols=80&rows=24`),
  'opens the socket of runners': opensSocket(() => '/api/runners/connect'),
  'follows the stream of tasks': ({ page, console }) =>
    page.evaluate(
      (url) =>
        new Promise<boolean>((resolve) => {
          const source = new EventSource(url, { withCredentials: true })
          source.onopen = () => resolve(true)
          source.onerror = () => resolve(false)
        }),
      `${console}/api/v1/analysis/tasks/stream`,
    ),
  'shows the console in a frame': frames('iframe'),
  'shows it as an embedded document': frames('embed'),
  'shows it as an object': frames('object'),
  'opens the console, reads and moves it': opened,
  'is opened by the console and reaches back': ownersLink,
  'includes what the service says as a script': loads('script', '/api/conversations'),
  'includes it as a style': loads('link', '/api/conversations'),
  'includes a picture of the console': loads('img', '/favicon.svg'),
  'runs a script of the console in itself': loads('script', '/sw.js'),
  'makes a worker of the console its own': ({ page, console }) =>
    page.evaluate(
      (url) =>
        navigator.serviceWorker.register(url).then(
          () => true,
          () => false,
        ),
      `${console}/sw.js`,
    ),
  'takes the console over by a service worker of its own': takesOverByWorker,
  "speaks on the console's channel between tabs": speaksOnChannel,
  "sees the console's cookies": async ({ page }) => {
    const [server, script] = await page.evaluate(async () => [await (await fetch('/seen')).text(), document.cookie])
    return /bellwether_session=owner|plain=owner/.test(`${server} ${script}`)
  },
  'sets a cookie for the console by its server': async (stage) => {
    const before = await cookiesOf(stage)
    await stage.page.evaluate(() => fetch('/cookies'))
    return String(await cookiesOf(stage)) !== String(before)
  },
  'sets a cookie for the console by script': async (stage) => {
    const before = await cookiesOf(stage)
    await stage.page.evaluate(() => {
      for (const domain of ['localhost', '.localhost'])
        Object.assign(document, { cookie: `bellwether_session=forged; Domain=${domain}; Path=/` })
    })
    return String(await cookiesOf(stage)) !== String(before)
  },
  'shuts the console out by many cookies': async ({ page, owner }) => {
    await page.evaluate(() => {
      for (let n = 0; n < 150; n++)
        Object.assign(document, { cookie: `c${n}=${'x'.repeat(4000)}; Domain=localhost; Path=/` })
    })
    return owner.evaluate(async () => !(await fetch('/api/options/config')).ok)
  },
  "reads the console's storage": async ({ page, owner }) => {
    await owner.evaluate(() => localStorage.setItem('owner', 'kept'))
    await owner.evaluate(() => indexedDB.open('owner'))
    return page.evaluate(async () => {
      const databases = (await indexedDB.databases()).map(({ name }) => name)
      return localStorage.getItem('owner') !== null || databases.includes('owner')
    })
  },
  "empties the console's storage": async ({ page, owner }) => {
    await page.evaluate(async () => {
      localStorage.clear()
      await fetch('/cookies')
    })
    return (await owner.evaluate(() => localStorage.getItem('owner'))) !== 'kept'
  },
  'reads what a page of another port keeps': async ({ page, context, sibling }) => {
    await page.evaluate(() => localStorage.setItem('first', 'kept'))
    const other = await context.newPage()
    await other.goto(sibling)
    const got = await other.evaluate(() => localStorage.getItem('first'))
    await other.close()
    return got !== null
  },
}

/** What comes to something when the console's own page does it: so the attempts are real ones. */
export const OWN = [
  'reads by fetch with credentials',
  'reads by XMLHttpRequest',
  'begins a conversation without asking first',
  'speaks in the conversation',
  'opens the socket of the conversation',
  'opens the terminal',
  'follows the stream of tasks',
  'includes a picture of the console',
] as const

/** Names that lead to this machine and are not the service's: what a name server of an attacker answers. */
export const REBOUND = ['rebound.example', '127.0.0.1.nip.example', 'localhost.example', 'x.y.localhost'] as const
