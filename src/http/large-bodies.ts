// Large bodies are taken in a few at a time: each costs several times its size while it is read, checked, masked and
// stored, and a handful at once would take an isolate down. A request with a small body passes without noticing.

import type { Context } from 'hono'
import { config } from '../config.ts'
import { leaveRoom, takeRoom } from '../limits/body-room.ts'
import type { AppEnv } from './app-env.ts'
import { isAskedByModel, noteAskedByModel } from './asked-by-model.ts'
import { AppError } from './errors.ts'

/** Smaller ones are not counted. */
export const LARGE_BODY_BYTES = 1_048_576
/** Uploads are streamed. What a tool server is asked for comes in again as a request of its own. */
const UNCOUNTED = /\/upload-files$|^\/mcp(\/|$)/

const RETRY_AFTER_SECONDS = 5

/** Runs the work behind the gates, if the request's body is large; throws the 429 when there is no room for too long. */
export async function takingIn(c: Context<AppEnv>, work: () => Promise<void>): Promise<void> {
  const by = c.get('principal')
  const bytes = by === undefined ? null : await largeBytesOf(c)
  if (bytes === null) return work()
  const id = crypto.randomUUID()
  try {
    if (!(await takeRoom(c.env, by.owner, { id, bytes }))) throw crowded(c.env, bytes)
    await work()
  } finally {
    await leaveRoom(c.env, by.owner, id)
  }
}

/** Null for a body that is small. */
async function largeBytesOf(c: Context<AppEnv>): Promise<number | null> {
  const { raw, path } = c.req
  // The body of a GET is a filter, which has a small limit of its own, and cannot be put into another request.
  if (raw.body === null || raw.method === 'GET' || UNCOUNTED.test(path)) return null
  const announced = raw.headers.get('content-length')
  if (announced === null) return (await beginsLarge(c)) ? config(c.env).maxBodyBytes : null
  return Number(announced) < LARGE_BODY_BYTES ? null : Number(announced)
}

/** Whether a body that does not say how large it is turns out to be. What was read of it is put back. */
async function beginsLarge(c: Context<AppEnv>): Promise<boolean> {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = c.req.raw.body?.getReader()
  const read: Uint8Array[] = []
  let bytes = 0
  let isWhole = false
  while (reader !== undefined && !isWhole && bytes < LARGE_BODY_BYTES) {
    const { done, value } = await reader.read()
    isWhole = done
    if (value !== undefined) read.push(value)
    bytes += value?.byteLength ?? 0
  }
  const { url, method, headers, signal } = c.req.raw
  const body = isWhole || reader === undefined ? joined(read, bytes) : putBack(read, reader)
  const again = new Request(url, { method, headers, signal, body })
  c.req.raw = isAskedByModel(c.req.raw) ? noteAskedByModel(again) : again
  return !isWhole
}

/** What was read, and then the rest. */
function putBack(read: Uint8Array[], rest: ReadableStreamDefaultReader<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = read.shift() ?? (await rest.read()).value
      if (next === undefined) controller.close()
      else controller.enqueue(next)
    },
    cancel: (reason) => rest.cancel(reason),
  })
}

function joined(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.byteLength
  }
  return whole
}

function crowded(env: Env, bytes: number): AppError {
  const { bytesInFlight: allowed } = config(env).quotas
  const message = `The limit "large_body_bytes" is reached: bodies of ${LARGE_BODY_BYTES} bytes and more are taken in ${allowed} bytes at a time. Send it again in a while, fewer at a time.`
  return new AppError('rate_limited', message, {
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
    extra: { limit: 'large_body_bytes', used: bytes, allowed },
  })
}
