// Tool servers on loopback for the tests that run in the Workers runtime: the official package that exercises the whole
// protocol, over both transports, and one whose behaviour its address selects. A process starts on first use.

import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocket } from 'node:net'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import './mcp-server-types.ts'
import { strange } from './mcp-strange.ts'

const START_TIMEOUT_MS = 120_000
/** With the argument `stdio` it is a program on a runner. */
export const EVERYTHING = join(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
)

const children: ChildProcess[] = []
const started = new Map<string, Promise<string>>()

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(String(error))
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  project.provide('mcpServers', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    for (const child of children) child.kill('SIGKILL')
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  }
}

/** `/everything/http` and `/everything/sse` return the address of the package's server; all other paths are misbehaving servers. */
async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const everything = /^\/everything\/(http|sse)$/.exec(request.url ?? '')?.[1]
  if (everything === undefined) return strange(request, response)
  const known = started.get(everything) ?? start(everything)
  started.set(everything, known)
  response.end(await known)
}

async function start(mode: string): Promise<string> {
  const { url, child } = await startEverything(mode)
  children.push(child)
  return url
}

/** The package's server over a transport, `http` or `sse`, in a separate process. */
export async function startEverything(mode: string): Promise<{ url: string; child: ChildProcess }> {
  const port = await freePort()
  const child = spawn(process.execPath, [EVERYTHING, mode === 'http' ? 'streamableHttp' : 'sse'], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await new Promise<void>((ready, fail) => {
    const timer = setTimeout(() => fail(new Error('the server did not start')), START_TIMEOUT_MS)
    child.on('exit', () => fail(new Error('the server ended')))
    child.stderr.on('data', (text: Buffer) => {
      if (!text.includes(String(port))) return
      clearTimeout(timer)
      ready()
    })
  })
  return { url: `http://127.0.0.1:${port}/${mode === 'http' ? 'mcp' : 'sse'}`, child }
}

async function freePort(): Promise<number> {
  const socket = createSocket()
  await new Promise<void>((ready) => socket.listen(0, '127.0.0.1', ready))
  const { port } = socket.address() as AddressInfo
  await new Promise((closed) => socket.close(closed))
  return port
}
