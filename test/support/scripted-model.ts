// A model server on loopback that answers from a script: streaming, tool calls, usage, errors and broken streams,
// in the API formats that the service supports. Each script has a name, which is the first part of the path, so tests that run
// in parallel do not interfere: `http://127.0.0.1:<port>/<name>/v1` is the base URL of the chat completions API.
//
// Orders: PUT /<name>/script (a Script), PUT /<name>/release (of the replies of this script that are held), GET
// /<name>/requests. The Vitest project starts it once for a run; scripts start
// their own with `startScriptedModel`, and may answer by a function.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestProject } from 'vitest/node'
import { framesOf, type SpokenDialect } from './scripted-model-frames.ts'
import type { RecordedRequest, Script, ScriptedReply } from './scripted-model-orders.ts'

export type ScriptedRequest = RecordedRequest & {
  name: string
  dialect: SpokenDialect
  model: string
  answersSoFar: number
}
export type Respond = (asked: ScriptedRequest) => ScriptedReply | Promise<ScriptedReply>

export type ScriptedModel = {
  /** `http://127.0.0.1:<port>`; append `/<name>/v1`. */
  readonly url: string
  setScript(name: string, script: Script): void
  requests(name: string): readonly RecordedRequest[]
  close(): Promise<void>
}

/** A text in every request for a title. */
const NAMING = 'You name conversations'

type Lane = { script: Script; taken: number; requests: RecordedRequest[]; release: PromiseWithResolvers<void> }

const begun = (script: Script): Lane => ({ script, taken: 0, requests: [], release: Promise.withResolvers<void>() })

const AT_END: ScriptedReply = {
  status: 400,
  body: { error: { message: 'the script is at its end', type: 'script_end' } },
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const model = await startScriptedModel()
  project.provide('modelServer', model.url)
  return () => model.close()
}

type Options = {
  port?: number
  respond?: Respond
  /** False: the process may end while the server is up. */
  keepsProcess?: boolean
}

export async function startScriptedModel(options: Options = {}): Promise<ScriptedModel> {
  const lanes = new Map<string, Lane>()
  const laneOf = (name: string): Lane => {
    const lane = lanes.get(name) ?? begun({ replies: [] })
    lanes.set(name, lane)
    return lane
  }
  const server = createServer((request, response) => {
    serve({ request, response, laneOf, respond: options.respond }).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(String(error))
    })
  })
  // A stream of many small pieces is sent as it is written.
  server.on('connection', (socket) => socket.setNoDelay(true))
  await new Promise<void>((ready) => server.listen(options.port ?? 0, '127.0.0.1', ready))
  if (options.keepsProcess === false) server.unref()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setScript: (name, script) => void Object.assign(laneOf(name), begun(script)),
    requests: (name) => laneOf(name).requests,
    close: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

type Exchange = {
  request: IncomingMessage
  response: ServerResponse
  laneOf: (name: string) => Lane
  respond: Respond | undefined
}

async function serve({ request, response, laneOf, respond }: Exchange): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const [, name = '', ...rest] = url.pathname.split('/')
  const path = `/${rest.join('/')}`
  const text = Buffer.concat(await request.toArray()).toString('utf8')
  const lane = laneOf(name)
  if (path === '/script') {
    Object.assign(lane, begun(JSON.parse(text) as Script))
    return json(response, { ok: true })
  }
  if (path === '/release') {
    lane.release.resolve()
    return json(response, { ok: true })
  }
  if (path === '/requests') return json(response, lane.requests)
  const headers = Object.fromEntries(Object.entries(request.headers).map(([key, value]) => [key, String(value)]))
  // Titles are requested outside the turn: they must not consume a reply that is meant for the turn.
  const released = lane.release.promise
  if (text.includes(NAMING)) {
    return answer(response, { text: lane.script.title ?? '' }, { ...askedAsTitle(path), released })
  }
  const record: RecordedRequest = {
    method: request.method ?? '',
    path,
    headers,
    body: parsed(text),
    isAbandoned: false,
  }
  lane.requests.push(record)
  response.on('close', () => {
    record.isAbandoned = !response.writableFinished
  })
  if (request.method === 'GET') return list(response, lane.script.models ?? ['scripted'])
  const asked = askedOf(record, name)
  await answer(response, await (respond?.(asked) ?? next(lane, asked)), { ...asked, released })
}

function next(lane: Lane, asked: ScriptedRequest): ScriptedReply {
  const { replies, by = 'queue', atEnd = 'refuse' } = lane.script
  const index = by === 'history' ? asked.answersSoFar : lane.taken
  lane.taken += 1
  return replies[index] ?? (atEnd === 'repeat' ? replies.at(-1) : undefined) ?? AT_END
}

function askedAsTitle(path: string): ScriptedRequest {
  const record = { method: 'POST', path, headers: {}, body: null, isAbandoned: false }
  return askedOf(record, '')
}

function askedOf(record: RecordedRequest, name: string): ScriptedRequest {
  const { path } = record
  const body = (record.body ?? {}) as {
    model?: string
    messages?: ModelMessage[]
    contents?: ModelMessage[]
    input?: ModelMessage[]
  }
  const isAnswer = ({ role, type }: ModelMessage) =>
    role === 'assistant' || role === 'model' || type === 'function_call'
  const said = body.messages ?? body.contents ?? body.input ?? []
  const model = body.model ?? /\/models\/([^:]+):/.exec(path)?.[1] ?? ''
  return { ...record, name, dialect: dialectOf(path), model, answersSoFar: said.filter(isAnswer).length }
}

type ModelMessage = { role?: string; type?: string }

function dialectOf(path: string): SpokenDialect {
  if (path.endsWith('/messages')) return 'anthropic'
  if (path.endsWith('/responses')) return 'responses'
  return path.includes(':streamGenerateContent') ? 'google' : 'chat'
}

type ReplyGate = { released: Promise<void> }

async function answer(
  response: ServerResponse,
  reply: ScriptedReply,
  asked: ScriptedRequest & ReplyGate,
): Promise<void> {
  const { status = 200, headers = {}, body } = reply
  if (reply.hang === 'head') return
  if (reply.headersDelayMs !== undefined) await sleep(reply.headersDelayMs)
  if (body !== undefined || (status !== 200 && reply.frames === undefined)) {
    const isText = typeof body === 'string'
    response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
    response.end(isText ? body : JSON.stringify(body ?? { error: { message: `status ${status}` } }))
    return
  }
  response.writeHead(status, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers })
  response.flushHeaders()
  if (reply.hang === 'body') return
  const frames = reply.frames ?? framesOf(reply, asked.dialect, asked.model)
  await stream(response, { ...reply, frames, released: asked.released })
}

async function stream(
  response: ServerResponse,
  reply: ScriptedReply & { frames: string[] } & ReplyGate,
): Promise<void> {
  const { frames } = reply
  if (reply.firstDelayMs !== undefined) await sleep(reply.firstDelayMs)
  const { breakAfter = frames.length, breakHow = 'reset', chunkDelayMs } = reply
  for (const [i, frame] of frames.slice(0, breakAfter).entries()) {
    if (i === reply.heldAfter) await reply.released
    if (response.destroyed) return
    if (!response.write(frame)) await drained(response)
    if (chunkDelayMs !== undefined) await sleep(chunkDelayMs)
  }
  if (breakAfter >= frames.length && reply.breakHow === undefined) return void response.end()
  if (breakHow === 'hang') return
  if (breakHow === 'half') response.write(frames[breakAfter]?.slice(0, 20) ?? '')
  if (breakHow !== 'reset') return void response.end()
  // The written data must arrive before the connection is reset.
  await sleep(20)
  response.socket?.destroy()
}

/** Or gone. */
async function drained(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  response.once('drain', resolve).once('close', resolve)
  await promise
  response.off('drain', resolve).off('close', resolve)
}

function list(response: ServerResponse, models: string[]): void {
  json(response, { object: 'list', data: models.map((id) => ({ id, object: 'model' })) })
}

function json(response: ServerResponse, value: unknown): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(value))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
