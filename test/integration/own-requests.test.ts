import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { config } from '../../src/config.ts'
import { MARKER_HEADER, outboundMarker } from '../../src/lib/address-policy.ts'
import { client, request } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'
import { hostUrl } from '../helpers/git-host.ts'

const LOCAL = { AUTH_MODE: 'local', ALLOW_PRIVATE_NETWORK: '' }
const WORDS = 'This service does not answer what it sends itself for an agent or a setting'
const mark = () => config(env).addressPolicy.marker?.sign() ?? ''

test('what the service sent itself is refused on every route, in the words of its family, and changes nothing', async () => {
  const ann = await client()
  await ann.ask('/api/settings', {
    method: 'POST',
    body: { llm_model: 'openai/x', llm_base_url: 'https://mine.example/v1' },
  })
  const before = await ann.json('/api/settings')
  const evil = { llm_base_url: 'https://evil.example/v1' }
  const shapes: [method: string, path: string, body: object | undefined, shape: object][] = [
    ['GET', '/api/settings', undefined, { detail: WORDS }],
    ['POST', '/api/settings', evil, { detail: WORDS }],
    ['GET', '/api/keys', undefined, { detail: WORDS }],
    ['POST', '/api/conversations', {}, { detail: WORDS }],
    ['GET', '/health', undefined, { detail: WORDS }],
    ['GET', '/openapi.json', undefined, { detail: WORDS }],
    ['POST', '/mcp', {}, { detail: WORDS }],
    ['GET', '/socket.io/?EIO=4&transport=websocket', undefined, { detail: WORDS }],
    ['GET', '/nowhere', undefined, { detail: WORDS }],
    ['GET', '/api/v1/analysis/tasks', undefined, { error: 'forbidden', message: WORDS }],
  ]
  for (const [method, path, body, shape] of shapes) {
    const response = await ann.ask(path, { method, headers: { [MARKER_HEADER]: mark() }, ...(body && { body }) })
    expect([method, path, response.status, await response.json()]).toEqual([method, path, 403, shape])
  }
  // Local mode has the same key, and asks nobody else who comes.
  const init = { method: 'POST', headers: { [MARKER_HEADER]: mark(), 'content-type': 'application/json' }, body: '{}' }
  expect((await request('http://127.0.0.1:8787/api/settings', init, LOCAL)).status).toBe(403)
  expect(await ann.json('/api/settings')).toEqual(before)
})

test('a mark of somebody else is nobody’s business: services may ask one another', async () => {
  const ann = await client()
  const others = outboundMarker(btoa('o'.repeat(32))).sign()
  for (const foreign of [others, '', 'x', `${mark()}x`, mark().slice(1), mark().toUpperCase()]) {
    expect((await ann.ask('/api/options/agents', { headers: { [MARKER_HEADER]: foreign } })).status).toBe(200)
  }
})

test('a request to a host outside carries the mark, whoever set the address, and none of it is told to the agent', async () => {
  const chat = await startConversation({ initial_user_msg: `curl -s ${hostUrl()}/echo -H '${MARKER_HEADER}: mine'` })
  await chat.settled()
  const run = (await chat.events()).find(({ observation }) => observation === 'run')
  const echoed = JSON.parse(String(run?.content)) as { headers: Record<string, string> }
  const sent = echoed.headers[MARKER_HEADER] ?? ''
  expect(config(env).addressPolicy.marker?.isOurs(sent)).toBe(true)
  // Nothing is known of the key by it: it opens no door and is refused here like any other of ours.
  expect((await chat.owner.ask('/api/settings', { headers: { [MARKER_HEADER]: sent } })).status).toBe(403)
})

test('what a list of own origins may hold is checked at the start', async () => {
  const parse = (OWN_ORIGINS: string) => () => config({ ...env, OWN_ORIGINS })
  expect(parse('bellwether.example.com, 127.0.0.1:8787,[::1]:8787,::1, My-Host:80')().addressPolicy.ownOrigins).toEqual(
    [
      { host: 'bellwether.example.com', port: null },
      { host: '127.0.0.1', port: '8787' },
      { host: '::1', port: '8787' },
      { host: '::1', port: null },
      { host: 'my-host', port: '80' },
    ],
  )
  for (const bad of ['http://a', 'a/b', '10.0.0.0/8', 'a:0', 'a:70000', 'a:080', '*.a', '1.2.3', 'a b']) {
    expect(parse(bad)).toThrow(/^OWN_ORIGINS: found /)
  }
})
