// `curl` of the shell beside the machine's own, both asking one server on loopback: what they print, how they end, which files they leave.

import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runScript, workspaceCommands } from '../../../../src/kits/shell/index.ts'
import { allowing } from '../../../helpers/policies.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'
import { needPrograms } from '../../../support/programs.ts'

const FILES: Record<string, string> = {
  'data.txt': 'one\ntwo\n',
  'heads.txt': 'X-One: 1\nX-Two: 2\n',
  'format.txt': '%{http_code} from file\\n',
}

const tries = new Map<string, number>()

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://x')
  const parts: Uint8Array[] = []
  for await (const part of request) parts.push(part)
  const sent = Buffer.concat(parts).toString()
  response.setHeader('date', 'Thu, 01 Jan 2026 00:00:00 GMT')
  response.setHeader('connection', 'close')
  const known: Record<string, () => void> = {
    '/missing': () => response.writeHead(404).end('no such page'),
    '/broken': () => response.writeHead(500).end('broken'),
    '/moved': () => response.writeHead(302, { location: '/file' }).end('moved'),
    '/file': () => response.writeHead(200, { 'content-type': 'text/plain' }).end('a file\n'),
    '/named': () => response.writeHead(200, { 'content-disposition': 'attachment; filename="told.txt"' }).end('told\n'),
    '/cookie': () => response.writeHead(200, { 'set-cookie': 'a=1; Path=/' }).end('set\n'),
    '/busy': () => response.writeHead(503).end('busy\n'),
    '/flaky': () => {
      const key = url.search
      tries.set(key, (tries.get(key) ?? 0) + 1)
      response.writeHead(tries.get(key) === 1 ? 503 : 200).end(`try ${tries.get(key)}\n`)
    },
  }
  const told = known[url.pathname]
  if (told) return told()
  const { authorization, cookie, referer, range, accept } = request.headers
  const heads = {
    authorization,
    cookie,
    referer,
    range,
    accept,
    type: request.headers['content-type'],
    one: request.headers['x-one'],
    two: request.headers['x-two'],
  }
  const boundary = /boundary=(\S+)/.exec(heads.type ?? '')?.[1] ?? '-no boundary-'
  const text = JSON.stringify({ method: request.method, path: request.url, heads, sent }).replaceAll(
    boundary,
    'BOUNDARY',
  )
  response.writeHead(200, { 'content-type': 'application/json' }).end(`${text}\n`)
}

const server = createServer((request, response) => void answer(request, response))
let port = 0
let unused = 0

beforeAll(async () => {
  const closed = createServer()
  for (const one of [server, closed]) await new Promise<void>((done) => one.listen(0, '127.0.0.1', done))
  port = (server.address() as AddressInfo).port
  unused = (closed.address() as AddressInfo).port
  await new Promise((done) => closed.close(done))
})

afterAll(() => void server.close())

type Outcome = { output: string; exitCode: number; files: Record<string, string> }

async function ours(script: string): Promise<Outcome> {
  const fs = new MemoryFileSystem()
  for (const [name, text] of Object.entries(FILES)) await fs.write(`/workspace/${name}`, new TextEncoder().encode(text))
  const commands = workspaceCommands({ network: { policy: allowing(`127.0.0.1:${port}`, `127.0.0.1:${unused}`) } })
  const { output, exitCode } = await runScript({
    fs,
    script,
    cwd: '/workspace',
    env: {},
    commands,
    limits: { timeoutMs: 20_000 },
  })
  const files: Record<string, string> = {}
  for (const { name, kind } of fs.list('/workspace'))
    if (kind === 'file') files[name] = new TextDecoder().decode(await fs.read(`/workspace/${name}`))
  return { output, exitCode, files }
}

async function real(script: string): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'curl-'))
  try {
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text)
    const { output, exitCode } = await new Promise<{ output: string; exitCode: number }>((done) => {
      const options = { cwd: folder, env: { PATH: process.env.PATH ?? '', HOME: folder }, timeout: 20_000 }
      execFile('bash', ['-c', `exec 2>&1\n${script}`], options, (error, stdout) =>
        done({ output: stdout, exitCode: typeof error?.code === 'number' ? error.code : 0 }),
      )
    })
    const files: Record<string, string> = {}
    for (const name of await readdir(folder)) files[name] = await readFile(join(folder, name), 'utf8')
    return { output, exitCode, files }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** HOST is the server, CLOSED a port at which nobody listens. */
const SCRIPTS = [
  'curl -s HOST/file',
  'curl -sf HOST/missing',
  'curl -sSf HOST/missing',
  'curl -sS --fail-with-body HOST/missing 2>/dev/null',
  'curl -s --fail-with-body HOST/missing',
  "curl -sf -w '%{http_code}\\n' HOST/missing",
  "curl -s -o /dev/null -w '%{http_code} %{size_download} %{content_type} %{method} %{scheme}\\n' HOST/file",
  "curl -s -o /dev/null -w '%{redirect_url} %{http_code} %{exitcode}%%\\n' HOST/moved",
  "curl -s -o out.txt -w '%{filename_effective}\\t%header{content-type}\\n' HOST/file",
  'curl -s -o /dev/null -w @format.txt HOST/file',
  'curl -s HOST/moved',
  'curl -sL HOST/moved',
  'curl -sO HOST/file',
  'curl -sOJ HOST/named',
  'curl -s --create-dirs --output-dir down -O HOST/file; cat down/file; rm -r down',
  'curl -s -o kept HOST/file',
  'curl -sf -o kept HOST/missing; ls',
  'curl -s -d @data.txt HOST/x',
  'curl -s --data-binary @data.txt HOST/x',
  "curl -s -d a=1 --data-urlencode 'b=c d' -d e=2 HOST/x",
  'curl -s --data-urlencode "q=it\'s (a) *test*!" HOST/x',
  "curl -s --data-urlencode 'plain text' --data-urlencode '=x y' --data-urlencode n@data.txt HOST/x",
  "curl -s -d '' HOST/x",
  "curl -sG -d a=1 --data-urlencode 'b=c d' HOST/x",
  "curl -s -F a=1 -F 'f=@data.txt' HOST/x",
  "curl -s -F 'f=@data.txt;type=text/csv;filename=n.csv' -F 't=<data.txt' --form-string 's=@x' HOST/x",
  'curl -s -H @heads.txt HOST/x',
  "curl -s -H 'X-One: a' -H 'Accept: text/html' HOST/x",
  "curl -s -H 'X-One;' HOST/x",
  'curl -s -u me:pw HOST/x',
  'curl -s --oauth2-bearer tok HOST/x',
  "curl -s -b 'a=1; b=2' HOST/x",
  'curl -s -b none.txt HOST/x',
  'curl -s -c jar HOST/cookie; curl -s -b jar HOST/x',
  'curl -s -e http://from/ -r 0-3 HOST/x',
  'curl -s --json \'{"a":1}\' HOST/x',
  'curl -s -T data.txt HOST/up/',
  'curl -s -T data.txt HOST/up/other',
  'curl -s -X DELETE HOST/x',
  'curl -s -k --http1.1 -N --compressed HOST/file',
  'curl -s --retry 2 --retry-delay 1 HOST/flaky?SIDE',
  'curl -s --retry 2 --retry-delay 1 --retry-max-time 0 HOST/flaky?SIDE-0',
  'curl -s --retry 2 --retry-delay 1 --retry-max-time 30 HOST/flaky?SIDE-30',
  'curl -s --retry 2 --retry-delay 4 --retry-max-time 3 HOST/flaky?SIDE-3',
  'curl -s --retry 3 --retry-delay 4 --retry-max-time 3 HOST/busy',
  'curl -s HOST/file HOST/missing',
  "curl -sI HOST/file | grep -ic '^content-type: text/plain.$'",
  'curl -s -D heads HOST/file; grep -c HTTP heads; rm heads',
  'curl -s CLOSED/; echo $?',
]

test.for(SCRIPTS)('%s', { timeout: 60_000 }, async (script, { skip }) => {
  needPrograms(skip, 'bash', 'curl')
  const filled = (side: string) =>
    script
      .replaceAll('HOST', `http://127.0.0.1:${port}`)
      .replaceAll('CLOSED', `http://127.0.0.1:${unused}`)
      .replaceAll('SIDE', side)
  const [mine, theirs] = [await ours(filled('ours')), await real(filled('real'))]
  expect(mine).toEqual(theirs)
})

test('what curl has and the shell has not is refused by name', async () => {
  for (const [script, words] of [
    ['curl -s --resolve a:80:127.0.0.1 http://a/', '--resolve'],
    ['curl -sk https://127.0.0.1:1/', '-k (--insecure) is not available here'],
    ['curl -s -K file http://a/', '-K'],
    ['curl -s -x http://proxy http://a/', '-x'],
    ["curl -s 'http://a/[1-3]' -o '#1'", 'patterns in a URL'],
    ['curl -sS -X GET -d a http://a/', 'method GET'],
    ['curl -sS -u me http://a/', '-u without a password'],
    ["curl -sS -w '%{num_connects}' HOST/file", 'num_connects'],
  ] as const) {
    const { output, exitCode } = await ours(script.replaceAll('HOST', `http://127.0.0.1:${port}`))
    expect([script, output]).toEqual([script, expect.stringContaining(words)])
    expect(exitCode).not.toBe(0)
  }
})
