// Loopback versions of the services behind the notification channels. Each request is validated as its service would: signature, size,
// fields. Valid messages are stored as received; a lane can be set to fail first. A lane is the first part of the path, so tests
// that run in parallel do not interfere: `http://127.0.0.1:<port>/<lane>/<service>/…`.
//
// Orders: PUT /<lane>/faults (a list, one taken by each message), GET /<lane>/received, GET /<lane>/refused. Of what carries a
// key the first is received; whatever comes under it again is one of the repeats, GET /<lane>/repeats.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { type Arrival, judgeArrival } from './notify-services.ts'

/** `break`: the message is accepted and the connection closed. `hang`: it is accepted and never answered. */
export type Fault = { status?: number; headers?: Record<string, string>; body?: unknown; how?: 'break' | 'hang' }

export type Received = { service: string; title: string; text: string; key: string | null; bytes: number }

type Lane = { faults: Fault[]; received: Received[]; repeats: string[]; refused: string[] }

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const host = await startNotifyHost()
  project.provide('notifyHost', host.url)
  return host.close
}

/** `onMessage` is called for each valid message, before the response. */
export async function startNotifyHost(onMessage = () => {}): Promise<{ url: string; close: () => Promise<void> }> {
  const lanes = new Map<string, Lane>()
  const server = createServer((request, response) => {
    serve(request, response, { lanes, onMessage }).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(String(error))
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

type Host = { lanes: Map<string, Lane>; onMessage: () => void }

async function serve(request: IncomingMessage, response: ServerResponse, { lanes, onMessage }: Host): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  if (request.method === 'HEAD') return void response.end()
  const [, name = '', service = '', ...rest] = url.pathname.split('/')
  const lane = lanes.get(name) ?? { faults: [], received: [], repeats: [], refused: [] }
  lanes.set(name, lane)
  const body = Buffer.concat(await request.toArray()).toString('utf8')
  if (service === 'faults') {
    lane.faults = JSON.parse(body) as Fault[]
    return json(response, 200, { ok: true })
  }
  if (service === 'received') return json(response, 200, lane.received)
  if (service === 'repeats') return json(response, 200, lane.repeats)
  if (service === 'refused') return json(response, 200, lane.refused)
  const fault = lane.faults.shift()
  if (fault?.status !== undefined) return json(response, fault.status, fault.body ?? {}, fault.headers)
  const headers = Object.fromEntries(Object.entries(request.headers).map(([key, value]) => [key, String(value)]))
  const arrival: Arrival = { service, path: `/${rest.join('/')}`, query: url.searchParams, headers, body }
  const judged = judgeArrival(arrival)
  if (!judged.ok) {
    lane.refused.push(`${service}: ${judged.why}`)
    return json(response, judged.status, judged.body)
  }
  const isRepeat = judged.key !== null && lane.received.some(({ key }) => key === judged.key)
  const { title, text, key } = judged
  if (isRepeat) lane.repeats.push(judged.key ?? '')
  else lane.received.push({ service, title, text, key, bytes: Buffer.byteLength(body) })
  onMessage()
  if (fault?.how === 'break') return void request.socket.destroy()
  if (fault?.how === 'hang') return
  json(response, judged.status, judged.body)
}

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const isText = typeof body === 'string'
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
  response.end(status === 204 ? undefined : isText ? body : JSON.stringify(body))
}

declare module 'vitest' {
  interface ProvidedContext {
    notifyHost: string
  }
}
