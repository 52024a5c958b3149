// A git host on loopback for the tests that run in the Workers runtime: real `git http-backend` behind a small bridge,
// and a way to run the real git on a tree. Started once per run and stopped with it.

import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { TestProject } from 'vitest/node'
import { corpusRepository } from './git-corpus.ts'
import { faultsOf } from './git-proof.ts'
import { answerApi, isAccepted } from './git-server-access.ts'
import { CREDENTIALS, type Order, type Report } from './git-server-orders.ts'
import { reply, send } from './git-server-replies.ts'

const RUN_TIMEOUT_MS = 240_000
const MAX_BODY_BYTES = 256 * 1024 * 1024

export type GitServer = { readonly url: string; stop(): Promise<void> }

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await startGitServer()
  project.provide('gitServer', url)
  return stop
}

export async function startGitServer(): Promise<GitServer> {
  const root = await mkdtemp(join(tmpdir(), 'bellwether-git-'))
  const server = createServer((request, response) => {
    serve(root, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(String(error))
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
      await rm(root, { recursive: true, force: true })
    },
  }
}

async function serve(root: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  if (url.pathname === '/order') {
    const order = JSON.parse((await bodyOf(request)).toString('utf8')) as Order
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(await carryOut(root, order)))
    return
  }
  if (url.pathname === '/corpus') {
    response.end(JSON.stringify(await corpusRepository(root, url.searchParams.get('name') ?? '')))
    return
  }
  if (url.pathname === '/proof') {
    const faults = await faultsOf(root, url.searchParams.get('folder') ?? '', await bodyOf(request))
    response.end(JSON.stringify(faults))
    return
  }
  const [, fault = null] = /^\/faulty\/(\w+)\//.exec(url.pathname) ?? []
  if (fault !== null) url.pathname = url.pathname.slice(`/faulty/${fault}`.length)
  if (url.pathname.startsWith('/api/v3/')) return answerApi(root, url.pathname, request, response)
  // Under `/git/`, or where a provider has them: `/owner/name.git`.
  if (/^\/(git\/|[\w-]+\/[\w.-]+\.git\/)/.test(url.pathname)) return bridge(root, url, { request, response, fault })
  await reply(url, request, response)
}

/** Repositories under `/git/private/` require a name and a password. */
async function bridge(
  root: string,
  url: URL,
  { request, response, fault }: { request: IncomingMessage; response: ServerResponse; fault: string | null },
): Promise<void> {
  const path = decodeURIComponent(url.pathname.replace(/^\/git\//, '/'))
  const isAllowed = isAccepted(request)
  if (path.startsWith('/private/') && !isAllowed) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' })
    response.end('who are you?')
    return
  }
  const body = await bodyOf(request)
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      PATH_INFO: path,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      CONTENT_LENGTH: String(body.byteLength),
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_USER: isAllowed ? CREDENTIALS.username : 'anonymous',
      REMOTE_ADDR: '127.0.0.1',
      ...(path.includes('/ref-deltas/') && BY_ID),
    },
    timeout: RUN_TIMEOUT_MS,
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(body)
  const output = await bytesFrom(child.stdout)
  const headEnd = output.indexOf('\r\n\r\n')
  for (const line of output.subarray(0, headEnd).toString('latin1').split('\r\n')) {
    const [name = '', value = ''] = line.split(/:\s*(.*)/)
    if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10)
    else response.setHeader(name, value)
  }
  const answer = output.subarray(headEnd + 4)
  // A broken connection must show in the middle of the body, not in the headers.
  await send(answer, response, request.method === 'POST' ? fault : null)
}

/** Makes the host always send deltas with the ids of their bases. */
const BY_ID = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'uploadpack.packObjectsHook',
  GIT_CONFIG_VALUE_0: join(import.meta.dirname, 'pack-by-id.sh'),
}

async function carryOut(root: string, order: Order): Promise<Report[]> {
  const within = (path: string) => {
    const full = resolve(root, path)
    if (full !== root && !full.startsWith(`${root}/`)) throw new Error('outside the folder of the tests')
    return full
  }
  const cwd = within(order.cwd ?? '.')
  await mkdir(cwd, { recursive: true })
  for (const { path, base64 = '', link, executable = false, remove = false } of order.files ?? []) {
    const full = within(path)
    await rm(full, { recursive: true, force: true })
    if (remove) continue
    await mkdir(dirname(full), { recursive: true })
    if (link !== undefined) await symlink(link, full)
    else await writeFile(full, Buffer.from(base64, 'base64'), { mode: executable ? 0o755 : 0o644 })
  }
  const reports: Report[] = []
  for (const args of order.git ?? []) reports.push(await runGit(args, { cwd, order }))
  return reports
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Robin',
  GIT_AUTHOR_EMAIL: 'robin@example.com',
  GIT_COMMITTER_NAME: 'Robin',
  GIT_COMMITTER_EMAIL: 'robin@example.com',
}

async function runGit(args: string[], { cwd, order }: { cwd: string; order: Order }): Promise<Report> {
  const child = spawn('git', args, {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: cwd,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      ...IDENTITY,
      ...order.env,
    },
    timeout: RUN_TIMEOUT_MS,
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(Buffer.from(order.stdinBase64 ?? '', 'base64'))
  const exited = new Promise<number>((done) => child.on('close', (code) => done(code ?? -1)))
  const [stdout, stderr] = await Promise.all([bytesFrom(child.stdout), bytesFrom(child.stderr)])
  return { exitCode: await exited, stdoutBase64: stdout.toString('base64'), stderr: stderr.toString('utf8') }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const body = await bytesFrom(request)
  // git compresses the body of a long request.
  if (request.headers['content-encoding'] !== 'gzip') return body
  const { gunzipSync } = await import('node:zlib')
  return gunzipSync(body)
}

async function bytesFrom(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of stream) {
    length += part.byteLength
    if (length > MAX_BODY_BYTES) throw new Error('too large')
    parts.push(part)
  }
  return Buffer.concat(parts)
}
