// Filters the headers of a request for the runtime. Clients may send headers that only a platform may set: the runtime and the
// Worker trust them, so they are removed and replaced by the true values.

import type { IncomingMessage } from 'node:http'
import { FRONT_HEADER, OWNER_HEADER } from './front-word.ts'

/** Hop-by-hop headers; `expect` has already been answered. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
])

/** Headers that only the platform, or locally the runtime, may set. */
const RESERVED = /^(mf-|cf-|cdn-loop$)/
const OWN: ReadonlySet<string> = new Set([FRONT_HEADER, OWNER_HEADER])

/** The filtered pairs of `rawHeaders`; `upgrades` keeps the headers of a WebSocket upgrade. */
export function forwardedHeaders(request: IncomingMessage, word: string, upgrades = false): string[] {
  const kept: string[] = []
  // Compression saves nothing on a local connection, and compressing a frame costs the runtime as much as all other work on it.
  const hasShortWay = upgrades && !request.url?.startsWith('/api/runners/')
  for (const [name, value] of pairsOf(request.rawHeaders)) {
    const lower = name.toLowerCase()
    const isHop = HOP_BY_HOP.has(lower) && !(upgrades && (lower === 'connection' || lower === 'upgrade'))
    // The runtime ignores an empty Origin, but such a request also comes from a web page.
    const isPages = lower === 'origin' && value === ''
    if (isPages) kept.push(name, 'null')
    else if (
      !isHop &&
      !(hasShortWay && lower === 'sec-websocket-extensions') &&
      !OWN.has(lower) &&
      !RESERVED.test(lower)
    )
      kept.push(name, value)
  }
  // Without a length Node would announce a chunked body although there is none.
  const isSilent = request.headers['content-length'] === undefined && !hasBody(request)
  if (isSilent && request.method !== 'GET' && request.method !== 'HEAD') kept.push('content-length', '0')
  return [...kept, FRONT_HEADER, word, 'cf-connecting-ip', peerOf(request)]
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined
}

/** The headers of a response without those of the connection to the runtime. */
export function returnedHeaders(answer: IncomingMessage): string[] {
  return pairsOf(answer.rawHeaders)
    .filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()) && name.toLowerCase() !== 'transfer-encoding')
    .flat()
}

/** An IPv4 client of a socket that serves both families shows as a mapped address. */
function peerOf({ socket }: IncomingMessage): string {
  return (socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '')
}

function pairsOf(raw: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i + 1 < raw.length; i += 2) pairs.push([raw[i] ?? '', raw[i + 1] ?? ''])
  return pairs
}

/** A valid Host header. The runtime makes a URL of it and fails on anything else. */
const HOST = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/
const isHost = (host = ''): boolean => HOST.test(host) && URL.canParse(`http://${host}/`)

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The reason why the proxy refuses a request, or null. */
export function refusalOf({
  headers,
  method,
  url,
  rawHeaders,
}: IncomingMessage): { status: number; detail: string } | null {
  if (!METHODS.has(method ?? '')) return { status: 405, detail: 'Method Not Allowed' }
  if (!isHost(headers.host) || rawHeaders.filter((name, i) => i % 2 === 0 && /^host$/i.test(name)).length !== 1)
    return { status: 400, detail: 'The Host header is malformed' }
  // The absolute form with a scheme is for forward proxies, which this is not.
  if (headers['transfer-encoding'] !== undefined && !/^ *chunked *$/i.test(headers['transfer-encoding'])) {
    return { status: 400, detail: 'The only transfer encoding is chunked' }
  }
  if (!url?.startsWith('/')) return { status: 400, detail: 'The request target must begin with a slash' }
  return null
}
