// Whoever is refused by the head of a request hears it, whether the body comes or not.

import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'

const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))
const ROOT_KEY = 'root-key-for-tests-0123456789abcdef'
const SECRETS_KEY = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='

const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-bodies-'))
const env = { ...CLEAN, AUTH_MODE: 'keys', ROOT_API_KEY: ROOT_KEY, SECRETS_KEY, MARKET_DATA: 'sample' }
const service = await startService({ stateDir, env })
const made = await fetch(`${service.url}/api/keys`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${ROOT_KEY}` },
  body: JSON.stringify({ owner: 'somebody', name: 'n', scopes: ['conversations'] }),
})
const { key: KEY } = (await made.json()) as { key: string }
afterAll(async () => {
  await service.stop()
  rmSync(stateDir, { recursive: true })
})

type PartialBody = { key: string | null; announced: number; sent: number; path?: string }

/** Sends a head and a part of the body, and goes on listening. Answers with the status line and the body. */
function answerTo({ key, announced, sent, path = '/api/settings' }: PartialBody): Promise<string> {
  const { port } = new URL(service.url)
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    `Content-Length: ${announced}`,
    ...(key === null ? [] : [`Authorization: Bearer ${key}`]),
  ]
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(`${head.join('\r\n')}\r\n\r\n`)
      socket.write(Buffer.alloc(sent, '0'))
    })
    let text = ''
    socket.on('data', (data) => {
      text += data.toString('latin1')
      const [head = '', body] = text.split('\r\n\r\n')
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? Number.NaN)
      if (body === undefined || !(body.length >= length)) return
      socket.destroy()
      resolve(`${head.split('\r\n')[0]} ${body}`)
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`closed after ${JSON.stringify(text)}`)))
  })
}

test.for([
  ['without a key', { key: null, announced: 1000, sent: 6 }, /^HTTP\/1.1 401 /],
  ['without a key or a body', { key: null, announced: 5_000_000, sent: 0 }, /^HTTP\/1.1 401 /],
  ['too large, before the body', { key: KEY, announced: 9_000_000, sent: 0 }, /^HTTP\/1.1 413 /],
  ['too large, with the first part', { key: KEY, announced: 9_000_000, sent: 2_000_000 }, /^HTTP\/1.1 413 /],
  ['much too large, with the first half', { key: KEY, announced: 40_000_000, sent: 20_000_000 }, /^HTTP\/1.1 413 /],
  [
    'an upload too large',
    { key: KEY, announced: 2e8, sent: 3e6, path: '/api/conversations/none/upload-files' },
    /4\d\d /,
  ],
  ['no such path', { key: KEY, announced: 1000, sent: 6, path: '/api/none' }, /^HTTP\/1.1 404 /],
  ['a large one that does not come', { key: KEY, announced: 5_000_000, sent: 0 }, /^HTTP\/1.1 408 .*within 15 s/],
  ['a large one that stops', { key: KEY, announced: 5_000_000, sent: 1_500_000 }, /^HTTP\/1.1 408 .*within 15 s/],
] as const)('%s: answered', { concurrent: true }, async ([, sent, answer]) => {
  expect(await answerTo(sent)).toMatch(answer)
})
