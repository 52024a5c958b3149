// What the web page of OpenHands 0.53 asks, in its order and from an origin of its own, by a real browser: its preflights, its
// Socket.IO and its forms. The tutorial about it says how the page itself is built; that is too large for a test.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../scripts/start/port.ts'
import { startService } from '../../scripts/start/service.ts'
import { startScriptedModel } from '../support/scripted-model.ts'
import { ROOT } from '../support/source-tree.ts'
import { browserOr, CLEAN, openPage } from './browser.ts'

/** Runs in the page: `call` as its HTTP client does, `talk` as its socket does. */
const CLIENT = `
const call = async (method, path, body) => {
  const isForm = body instanceof FormData
  const sent = body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }
  const headers = body === undefined || isForm ? {} : { 'content-type': 'application/json' }
  const answer = await fetch('http://' + BACKEND + path, { method, headers, ...sent })
  const text = await answer.text()
  return [answer.status, text === '' ? null : JSON.parse(text)]
}
const talk = (id, content) => new Promise((resolve, reject) => {
  const seen = []
  let said = false
  const query = { latest_event_id: -1, conversation_id: id, providers_set: [], session_api_key: null }
  const socket = io(BACKEND, { transports: ['websocket'], forceNew: true, query })
  socket.on('connect_error', reject)
  socket.on('oh_event', (event) => {
    seen.push(event)
    const isWaiting = event.extras?.agent_state === 'awaiting_user_input'
    if (isWaiting && said) resolve(seen)
    if (isWaiting && !said) {
      said = true
      const args = { content, image_urls: [], file_urls: [], timestamp: new Date().toISOString() }
      socket.emit('oh_user_action', { action: 'message', args })
    }
  })
})
`

/** The page and what it needs of Socket.IO, at a port of its own. */
async function servePage(backend: string): Promise<string> {
  const library = readFileSync(join(ROOT, 'node_modules/socket.io-client/dist/socket.io.min.js'), 'utf8')
  const files: Readonly<Record<string, [type: string, text: string]>> = {
    '/': ['text/html', '<!doctype html><script src="/io.js"></script><script src="/client.js"></script>'],
    '/io.js': ['text/javascript', library],
    '/client.js': ['text/javascript', `const BACKEND = ${JSON.stringify(backend)};${CLIENT}`],
  }
  const server = createServer(({ url = '' }, response) => {
    const [type, text] = files[url] ?? ['text/plain', '']
    response.writeHead(200, { 'content-type': type }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

async function pageAndService(browser: string, isListed: boolean) {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-openhands-page-'))
  const port = await freePort()
  const origin = await servePage(`127.0.0.1:${port}`)
  const service = await startService({ stateDir, port, env: { ...CLEAN, ...(isListed && { CORS_ORIGINS: origin }) } })
  onTestFinished(async () => {
    await service.stop()
    rmSync(stateDir, { recursive: true })
  })
  const { page } = await openPage({ browser, origin, viewport: { width: 800, height: 600 } })
  await page.goto(origin)
  return <T = unknown>(script: string) => page.evaluate<T>(`(async () => ${script})()`)
}

test('the OpenHands page finds what it asks for, from its own origin, and the conversation answers', async ({
  skip,
}) => {
  const run = await pageAndService(browserOr(skip), true)
  const model = await startScriptedModel()
  onTestFinished(() => model.close())
  const command = 'git init -q; echo one > a.txt; git add -A; git commit -qm first; echo two >> a.txt'
  const call = { id: 'c1', name: 'execute_bash', arguments: { command } }
  model.setScript('page', { replies: [{ text: 'I begin.', calls: [call] }, { text: 'It is **done**.' }] })
  const settings = { llm_model: 'openai/x', llm_base_url: `${model.url}/page/v1`, llm_api_key: 'k' }

  const config = await run("call('GET', '/api/options/config')")
  expect(config).toMatchObject([200, { APP_MODE: 'oss', POSTHOG_CLIENT_KEY: '' }])
  // None are stored: the page then asks for a model.
  expect(await run("call('GET', '/api/settings')")).toMatchObject([404, expect.anything()])
  for (const name of ['models', 'agents', 'security-analyzers'])
    expect(await run(`call('GET', '/api/options/${name}')`)).toEqual([
      200,
      expect.arrayContaining([expect.any(String)]),
    ])
  expect(await run(`call('POST', '/api/settings', ${JSON.stringify(settings)})`)).toMatchObject([
    200,
    expect.anything(),
  ])
  const stored = await run("call('GET', '/api/settings')")
  expect(stored).toMatchObject([
    200,
    { llm_model: 'openai/x', llm_api_key_set: true, user_consents_to_analytics: null },
  ])

  const [, { conversation_id: id }] = await run<[number, { conversation_id: string }]>(
    "call('POST', '/api/conversations', {})",
  )
  const path = `/api/conversations/${id}`
  const ask = (tail: string) => run(`call('GET', '${path}${tail}')`)
  expect(await ask('')).toMatchObject([200, { status: 'RUNNING', url: path, session_api_key: null }])
  expect(await ask('/git/changes')).toMatchObject([404, { error: expect.stringMatching(/not a git repository/i) }])
  const events = await run<Record<string, unknown>[]>(`talk('${id}', 'make a repository')`)
  for (const event of events.filter((one) => !('status_update' in one)))
    expect(Object.keys(event)).toEqual(expect.arrayContaining(['id', 'source', 'message', 'timestamp']))
  expect(events).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({ action: 'message', source: 'user' }),
      expect.objectContaining({ action: 'run', source: 'agent' }),
      expect.objectContaining({ observation: 'run', source: 'agent' }),
      expect.objectContaining({ action: 'message', source: 'agent', message: 'It is **done**.' }),
    ]),
  )
  expect(await ask('/git/changes')).toEqual([200, [{ status: 'M', path: 'a.txt' }]])
  expect(await ask('/git/diff?path=a.txt')).toEqual([200, { original: 'one', modified: 'one\ntwo' }])
  expect(await ask('/config')).toMatchObject([200, { runtime_id: null }])
  expect(await ask('/web-hosts')).toEqual([200, { hosts: {} }])
  expect(await ask('/vscode-url')).toMatchObject([200, { vscode_url: null }])
  const form = "const form = new FormData(); form.append('files', new File(['x'], 'up.txt'));"
  const uploaded = await run(`{ ${form} return call('POST', '${path}/upload-files', form) }`)
  expect(uploaded).toMatchObject([200, { uploaded_files: ['/workspace/up.txt'], skipped_files: [] }])
  expect(await ask('/trajectory')).toMatchObject([200, { trajectory: expect.any(Array) }])
  const secret = JSON.stringify({ name: 'MY_SECRET', value: 'v4lue-of-it', description: '' })
  expect(await run(`call('POST', '/api/secrets', ${secret})`)).toMatchObject([201, expect.anything()])
  expect(await run("call('GET', '/api/conversations?limit=20')")).toMatchObject([
    200,
    { results: [{ conversation_id: id }] },
  ])
  expect(await run(`call('PATCH', '${path}', { title: 'Renamed' })`)).toEqual([200, true])
  expect(await run(`call('DELETE', '${path}')`)).toEqual([200, true])
})

test('a page that is not listed gets nothing, and neither does its socket', async ({ skip }) => {
  const run = await pageAndService(browserOr(skip), false)
  const failed = (script: string) => run(`${script}.then(() => 'answered', () => 'refused')`)
  expect(await failed("call('GET', '/api/options/config')")).toBe('refused')
  expect(await failed("call('POST', '/api/conversations', {})")).toBe('refused')
  expect(await failed("talk('none', 'x')")).toBe('refused')
})
