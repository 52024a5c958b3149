// Clients that disconnect: every operation of the document and every kind of socket, each request cut at a random byte, in
// one of the ways in which a connection can end.

import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type Random = () => number

/** Pseudo-random numbers from 0 to 1 from a seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T

type Document = { paths: Record<string, Record<string, Operation>> }
type Operation = { requestBody?: { content: Record<string, unknown> } }

export type Template = { readonly method: string; readonly path: string; readonly type: string | null }

/** Every operation in the service's OpenAPI document. */
export async function templatesOf(url: string): Promise<Template[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as Document
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      type: requestBody === undefined ? null : (Object.keys(requestBody.content)[0] ?? null),
    })),
  )
}

const SIZES = [0, 20, 300, 5_000, 70_000, 1_000_000] as const

/** The bytes of a complete request; `id` is a conversation that the request may damage. */
export function requestOf({ method, path, type }: Template, id: string, random: Random): Buffer {
  const target = path.replace('{conversation_id}', id).replace(/\{\w+\}/g, () => pick(random, ['600519', 'x', '1']))
  const body = method === 'GET' ? '' : bodyOf(type, pick(random, SIZES), random)
  const isChunked = body !== '' && random() < 0.3
  const head = [
    `${method} ${target} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...(random() < 0.1 ? ['Expect: 100-continue'] : []),
    ...(body === '' ? [] : [`Content-Type: ${contentType(type)}`]),
    ...(isChunked ? ['Transfer-Encoding: chunked'] : body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${isChunked ? chunked(body) : body}`)
}

const BOUNDARY = 'a-boundary'
const contentType = (type: string | null): string =>
  type === 'multipart/form-data' ? `multipart/form-data; boundary=${BOUNDARY}` : 'application/json'

function bodyOf(type: string | null, sizeBytes: number, random: Random): string {
  if (type === null) return ''
  const text = 'x'.repeat(sizeBytes)
  if (type === 'multipart/form-data') {
    const head = 'Content-Disposition: form-data; name="files"; filename="a.txt"'
    return `--${BOUNDARY}\r\n${head}\r\n\r\n${text}\r\n--${BOUNDARY}--\r\n`
  }
  return JSON.stringify({ [pick(random, ['action', 'stock_code', 'title', 'name', 'initial_user_msg'])]: text })
}

function chunked(body: string): string {
  const pieces = body.match(/[\s\S]{1,4000}/g) ?? []
  return `${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`
}

const FRAMES = [
  Buffer.from([0x81, 0x85, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
  Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 16, 0, 0, 1, 2, 3, 4, 5]),
  Buffer.from([0x89, 0x80, 0, 0, 0, 0]),
  Buffer.from([0xff, 0xff, 0xff, 0xff]),
]

/** A handshake of one of the socket protocols with some frames behind it, whole and broken. */
export function socketOf(id: string, random: Random): Buffer {
  const target = pick(random, [
    `/api/conversations/${id}/ws`,
    `/api/conversations/${id}/ws?latest_event_id=0&start=false`,
    `/socket.io/?EIO=4&transport=websocket&conversation_id=${id}&latest_event_id=-1`,
  ])
  const head = [
    `GET ${target} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  const frames = Array.from({ length: Math.floor(random() * 4) }, () => pick(random, FRAMES))
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), ...frames])
}

type Ending = 'reset' | 'end' | 'pause-and-reset' | 'after-first-byte'
const ENDINGS: readonly Ending[] = ['reset', 'end', 'pause-and-reset', 'after-first-byte']
const PAUSE_MS = 30
/** An idle event stream only sends its headers, so slower responses are not awaited. */
const FIRST_BYTE_MS = 500

/** Sends the request up to a random byte and disconnects. A request that changes data is never sent completely. */
export async function breakOff(port: number, request: Buffer, random: Random): Promise<void> {
  const isSafe = request.subarray(0, 4).toString() === 'GET '
  const ending = pick(random, isSafe ? ENDINGS : ENDINGS.slice(0, 3))
  const most = isSafe ? request.length : request.length - 1
  const cut = ending === 'after-first-byte' ? request.length : Math.floor(random() * (most + 1))
  const socket = await connected(port)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.write(request.subarray(0, cut))
  if (ending === 'pause-and-reset') await sleep(PAUSE_MS)
  if (ending === 'after-first-byte') await firstByte(socket)
  if (ending === 'end') {
    socket.end()
    socket.resume()
    await Promise.race([closed, sleep(PAUSE_MS)])
  }
  socket.resetAndDestroy()
  await closed
}

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      // Errors of a connection that the test breaks itself are ignored.
      socket.on('error', () => {})
      resolve(socket)
    })
  })
}

function firstByte(socket: Socket): Promise<unknown> {
  return Promise.race([new Promise((resolve) => socket.once('data', resolve)), sleep(FIRST_BYTE_MS)])
}
