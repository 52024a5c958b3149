// Large bodies are taken in a few at a time: each costs several times its size while it is read, checked, masked and
// stored, and a handful at once would take an isolate down. It is worked on when all of it is there, so that a slow line
// costs nobody else. A request with a small body passes without noticing.

import type { Context } from 'hono'
import { config } from '../config.ts'
import { BODY_TIMES, growArrival, leaveRoom, takeIsolatesRoom, takeOwnersRoom } from '../limits/body-room.ts'
import type { AppEnv } from './app-env.ts'
import { isAskedByModel, noteAskedByModel } from './asked-by-model.ts'
import { neverCame, nextOf, tooLarge } from './body.ts'
import { AppError } from './errors.ts'

/** Smaller ones are not counted. */
export const LARGE_BODY_BYTES = 1_048_576
/** Uploads are streamed. What a tool server is asked for comes in again as a request of its own. */
const UNCOUNTED = /\/upload-files$|^\/mcp(\/|$)/

const RETRY_AFTER_SECONDS = 5

type Reader = ReadableStreamDefaultReader<Uint8Array>
/** `start` was read already. */
type Incoming = { id: string; reader: Reader; start: Uint8Array[]; maxBytes: number }

/** Runs the work behind the gates, if the request's body is large; throws the 429 when there is no room for too long. */
export async function takingIn(c: Context<AppEnv>, work: () => Promise<void>): Promise<void> {
  const by = c.get('principal')
  const large = by === undefined ? null : await largeBodyOf(c)
  if (large === null) return work()
  const { announced, ...incoming } = large
  const { id } = incoming
  try {
    if (!(await takeOwnersRoom(c.env, by.owner, { id, bytes: announced }))) throw crowdedByOwner(c.env, announced)
    const body = await wholeOf(incoming)
    if (!(await takeIsolatesRoom({ id, bytes: body.byteLength }))) throw crowded()
    replaceBody(c, body)
    await work()
  } finally {
    await leaveRoom(c.env, by.owner, id)
  }
}

/** Null for a body that is small. */
async function largeBodyOf(c: Context<AppEnv>): Promise<(Incoming & { announced: number }) | null> {
  const { raw, path } = c.req
  // The body of a GET is a filter, which has a small limit of its own, and cannot be put into another request.
  if (raw.body === null || raw.method === 'GET' || UNCOUNTED.test(path)) return null
  const { maxBodyBytes: maxBytes } = config(c.env)
  const length = raw.headers.get('content-length')
  if (length !== null && Number(length) < LARGE_BODY_BYTES) return null
  const reader: Reader = raw.body.getReader()
  const id = crypto.randomUUID()
  if (length !== null) return { id, reader, start: [], maxBytes, announced: Number(length) }
  const start = await beginningOf(reader)
  if (start.isLarge) return { id, reader, start: start.pieces, maxBytes, announced: maxBytes }
  replaceBody(c, joined(start.pieces))
  return null
}

/** Whether a body that does not say how large it is turns out to be. */
async function beginningOf(reader: Reader): Promise<{ isLarge: boolean; pieces: Uint8Array[] }> {
  const pieces: Uint8Array[] = []
  for (let bytes = 0; bytes < LARGE_BODY_BYTES; ) {
    const { done, value } = await nextOf(reader)
    if (done) return { isLarge: false, pieces }
    pieces.push(value)
    bytes += value.byteLength
  }
  return { isLarge: true, pieces }
}

async function wholeOf({ id, reader, start, maxBytes }: Incoming): Promise<Uint8Array> {
  const until = Date.now() + BODY_TIMES.stayMs
  const pieces = [...start]
  let bytes = sizeOf(pieces)
  let room = 0
  for (;;) {
    if (bytes > maxBytes) throw tooLarge(maxBytes)
    if (bytes > room) {
      // Room for a mebibyte at a time: to ask for every piece would cost more than the pieces.
      if (!(await growArrival({ id, bytes: LARGE_BODY_BYTES }))) throw crowded()
      room += LARGE_BODY_BYTES
      continue
    }
    const { done, value } = await nextOf(reader)
    if (done) return joined(pieces)
    if (Date.now() > until) throw neverCame(BODY_TIMES.stayMs)
    pieces.push(value)
    bytes += value.byteLength
  }
}

function replaceBody(c: Context<AppEnv>, body: Uint8Array): void {
  const { url, method, headers, signal } = c.req.raw
  const again = new Request(url, { method, headers, signal, body })
  c.req.raw = isAskedByModel(c.req.raw) ? noteAskedByModel(again) : again
}

const sizeOf = (pieces: readonly Uint8Array[]): number => pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(sizeOf(pieces))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.byteLength
  }
  return whole
}

const AGAIN = { 'retry-after': String(RETRY_AFTER_SECONDS) }

function crowdedByOwner(env: Env, bytes: number): AppError {
  const { bytesInFlight: allowed } = config(env).quotas
  const message = `The limit "large_body_bytes" is reached: bodies of ${LARGE_BODY_BYTES} bytes and more are taken in ${allowed} bytes at a time. Send it again in a while, fewer at a time.`
  return new AppError('rate_limited', message, {
    headers: AGAIN,
    extra: { limit: 'large_body_bytes', used: bytes, allowed },
  })
}

function crowded(): AppError {
  const message =
    'The service takes in as many large bodies as it can at the moment; none of your limits is reached. Send it again in a while.'
  return new AppError('rate_limited', message, { headers: AGAIN })
}
