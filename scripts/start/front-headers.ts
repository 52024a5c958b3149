// What of a request's head goes on to the runtime. Clients write headers that only a platform may write: the runtime and the
// Worker believe them, so they are taken away, and what is true is put in their place.

import type { IncomingMessage } from 'node:http'
import { FRONT_HEADER, OWNER_HEADER } from './front-word.ts'

/** Of one connection, not of the request; `expect` was answered by then. */
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

/** What the platform, or the local runtime in its stead, says about a request. */
const RESERVED = /^(mf-|cf-|cdn-loop$)/
const OWN: ReadonlySet<string> = new Set([FRONT_HEADER, OWNER_HEADER])

/** The pairs of `rawHeaders` in the same form; `upgrades` keeps what asks for a socket. */
export function forwardedHeaders(request: IncomingMessage, word: string, upgrades = false): string[] {
  const kept: string[] = []
  // From page or client to here no byte is saved, and to compress a frame costs the runtime as much as all else about it.
  const hasShortWay = upgrades && !request.url?.startsWith('/api/runners/')
  for (const [name, value] of pairsOf(request.rawHeaders)) {
    const lower = name.toLowerCase()
    const isHop = HOP_BY_HOP.has(lower) && !(upgrades && (lower === 'connection' || lower === 'upgrade'))
    // The runtime takes one without a value for none; it is no less that of a page.
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
  // Without a length Node would announce a body in pieces where there is none.
  const isSilent = request.headers['content-length'] === undefined && !hasBody(request)
  if (isSilent && request.method !== 'GET' && request.method !== 'HEAD') kept.push('content-length', '0')
  return [...kept, FRONT_HEADER, word, 'cf-connecting-ip', peerOf(request)]
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined
}

/** The pairs of an answer without those of the connection to the runtime. */
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

/** A host as browsers and clients write it. The runtime makes an address of it and breaks on anything else. */
const HOST = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/
const isHost = (host = ''): boolean => HOST.test(host) && URL.canParse(`http://${host}/`)

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Why a request is answered here, or null. */
export function refusalOf({
  headers,
  method,
  url,
  rawHeaders,
}: IncomingMessage): { status: number; detail: string } | null {
  if (!METHODS.has(method ?? '')) return { status: 405, detail: 'Method Not Allowed' }
  if (!isHost(headers.host) || rawHeaders.filter((name, i) => i % 2 === 0 && /^host$/i.test(name)).length !== 1)
    return { status: 400, detail: 'The Host header is malformed' }
  // The form with a scheme is for proxies, and this is none.
  if (headers['transfer-encoding'] !== undefined && !/^ *chunked *$/i.test(headers['transfer-encoding'])) {
    return { status: 400, detail: 'The only transfer encoding is chunked' }
  }
  if (!url?.startsWith('/')) return { status: 400, detail: 'The request target must begin with a slash' }
  return null
}
