// The servers in workspaces, each at its own host: `<label>.localhost`, or below `PORT_HOST`. Their output is not
// trusted, and pages written by an agent run there. So the API and the console are never served at these hosts, the
// console's credentials are never sent there, and no answer from there may affect another host.

import { z } from 'zod'
import { conversationShown } from '../bindings.ts'
import { config } from '../config.ts'
import { HOST_SESSION_COOKIE, isAllowedOrigin } from '../http/auth.ts'
import { SESSION_COOKIE } from '../http/shown-key.ts'
import { MARKER_HEADER } from '../lib/address-policy.ts'
import { wholeBody } from '../runners/port-streams.ts'
import { PortHead, PortOpen } from '../runners/port-wire.ts'
import { type PortToken, portLabel, portTokenIn } from '../runners/ticket.ts'

const LOCAL = 'localhost'
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i

/** Headers of one connection or of the proxies before this service, or a credential of this service. */
const NOT_FOR_SERVER =
  /^(connection|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|forwarded|x-forwarded-.*|x-real-ip|true-client-ip|cf-.*|mf-.*|cdn-loop|x-bellwether-.*|x-session-api-key|x-port-.*)$/
/** Headers of one connection, or with an effect beyond this host. */
const NOT_FROM_SERVER =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|content-length|upgrade|alt-svc|clear-site-data|expect-ct|nel|origin-agent-cluster|public-key-pins.*|report-to|service-worker-allowed|strict-transport-security|x-port-.*|sec-websocket-(accept|extensions|key|version))$/

/** The URL of a port's host, as the client of this request can reach it; null if there is none. */
export function portAddress(request: Request, env: Env, label: string): string | null {
  const url = new URL(request.url)
  const { portHost } = config(env)
  if (portHost !== null) return `${url.protocol}//${label}.${portHost}`
  if (!LOOPBACK.test(url.hostname)) return null
  return `${url.protocol}//${label}.${LOCAL}${url.port === '' ? '' : `:${url.port}`}`
}

/** The answer to a request for the host of a port; null for any other host. */
export function portView(request: Request, env: Env): Promise<Response> | null {
  const label = labelOf(request.url, env)
  return label === null ? null : viewOf(label, request, env)
}

async function viewOf(label: string, request: Request, env: Env): Promise<Response> {
  const token = portTokenIn(label)
  const stub = token === null ? null : conversationShown(env, token.object)
  if (token === null || stub === null) return errorPage(404, 'This address belongs to no server.')
  if (config(env).addressPolicy.marker?.isOurs(request.headers.get(MARKER_HEADER) ?? '') === true)
    return errorPage(403, 'This service does not answer what it sends itself.')
  const order = orderOf(request)
  if (order === null) return errorPage(400, 'The request has a form that no server here would understand.')
  const isSocket = order.kind === 'socket'
  const answer = await stub.fetch('http://conversation/port', {
    method: request.method,
    headers: {
      'x-port-order': JSON.stringify({ ...order, secret: token.secret }),
      ...(isSocket ? { upgrade: 'websocket' } : {}),
    },
    body: order.hasBody ? request.body : null,
    signal: request.signal,
  })
  return shown(answer, { request, env, token })
}

const MOST_HOSTS = 1_000

/** The beginnings of recent URLs that belong to no port. */
const noPorts = new Set<string>()

/** The label before the domain of ports. Any name below `localhost` counts: the console and the API use none of them. */
function labelOf(address: string, env: Env): string | null {
  const portHost = 'PORT_HOST' in env ? config(env).portHost : null
  // Parsing a whole URL takes as long as a small answer; of a URL in simple form only the host is needed.
  const plain = /^https?:\/\/[\w.:[\]-]+(?=[/?]|$)/.exec(address)?.[0]
  const name = `${portHost} ${plain}`
  if (plain !== undefined && noPorts.has(name)) return null
  const label = labelIn(new URL(address), portHost)
  if (label !== null || plain === undefined) return label
  if (noPorts.size >= MOST_HOSTS) noPorts.clear()
  noPorts.add(name)
  return null
}

function labelIn(url: URL, portHost: string | null): string | null {
  // The dot at the end of a fully qualified name.
  const hostname = url.hostname.replace(/\.$/, '')
  if (hostname.endsWith(`.${LOCAL}`)) return hostname.slice(0, -LOCAL.length - 1)
  if (portHost === null) return null
  const name = portHost.replace(/:\d+$/, '')
  if (hostname === name) return ''
  return hostname.endsWith(`.${name}`) ? hostname.slice(0, -name.length - 1) : null
}

type Order = Omit<PortOpen, 'stream' | 'port'>

function orderOf(request: Request): Order | null {
  const { pathname, search, host, protocol } = new URL(request.url)
  const isSocket = request.headers.get('upgrade')?.toLowerCase() === 'websocket'
  const own = `${protocol}//${host}`
  const headers: [string, string][] = []
  for (const [name, value] of request.headers) {
    if (NOT_FOR_SERVER.test(name)) continue
    if (name === 'cookie') headers.push(...withoutOwn(value))
    // The value that a server compares with its own address.
    else if (name === 'origin' && value === own) headers.push([name, 'http://localhost'])
    else headers.push([name, value])
  }
  headers.push(['x-forwarded-host', host], ['x-forwarded-proto', protocol.slice(0, -1)])
  const order = PortOpen.omit({ stream: true, port: true }).safeParse({
    kind: isSocket ? 'socket' : 'http',
    method: request.method,
    path: `${pathname}${search}`,
    headers,
    hasBody: request.body !== null,
  })
  return order.success ? order.data : null
}

/** The cookies of the page's host without any with the name of the console's cookie. */
function withoutOwn(cookies: string): [string, string][] {
  const kept = cookies.split(/; */).filter((cookie) => !isOwnCookie(cookie))
  return kept.length === 0 ? [] : [['cookie', kept.join('; ')]]
}

const OWN_COOKIES = [SESSION_COOKIE, HOST_SESSION_COOKIE]
const isOwnCookie = (cookie: string): boolean => OWN_COOKIES.includes(cookie.split('=', 1)[0]?.trim() ?? '')

type PortRequest = { readonly request: Request; readonly env: Env; readonly token: PortToken }

function shown(answer: Response, asked: PortRequest): Response {
  const { request, env } = asked
  const failure = answer.headers.get('x-port-failure')
  if (failure !== null) return errorPage(answer.status, decodeURIComponent(failure))
  const given = PortHead.shape.headers.safeParse(JSON.parse(answer.headers.get('x-port-head') ?? 'null'))
  if (!given.success) return errorPage(502, 'The runner gave an answer that is none.')
  const peers = Peers.parse(JSON.parse(answer.headers.get('x-port-peers') ?? '{}'))
  const headers = new Headers()
  for (const [name, value] of given.data) {
    const lower = name.toLowerCase()
    if (!NOT_FROM_SERVER.test(lower) && !(lower === 'set-cookie' && reachesOthers(value)))
      add(headers, lower, lower === 'location' ? here(value, peers, asked) : value)
  }
  if (!headers.has('referrer-policy')) headers.set('referrer-policy', 'same-origin')
  headers.set('x-robots-tag', 'noindex')
  // The console checks which of the servers answer.
  if (!headers.has('access-control-allow-origin') && isAllowedOrigin(request, config(env)))
    headers.set('access-control-allow-origin', request.headers.get('origin') ?? '')
  const { status, webSocket } = answer
  if (status === 101) return new Response(null, { status, webSocket, headers })
  // The bytes are passed on with the server's encoding.
  const body = answer.body === null ? null : bodyOf(answer.body, given.data, request.signal)
  return new Response(body, { status, headers, encodeBody: 'manual' })
}

/** If the server sent a length, the client gets it too, so that it can detect an incomplete answer. */
function bodyOf(
  coming: ReadableStream<Uint8Array>,
  headers: readonly (readonly [string, string])[],
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const lengths = headers.filter(([name]) => name.toLowerCase() === 'content-length')
  const length = lengths.length === 1 && /^\d{1,15}$/.test(lengths[0]?.[1] ?? '') ? Number(lengths[0]?.[1]) : null
  const body = wholeBody(coming, signal)
  return length === null ? body : body.pipeThrough(new FixedLengthStream(length))
}

/** A header with an invalid name or value, which the runtime would reject, is left out. */
function add(headers: Headers, name: string, value: string): void {
  try {
    headers.append(name, value)
  } catch {
    // Such a header has no meaning for a browser.
  }
}

/** A cookie for more than this host, or with the name of the console's. */
function reachesOthers(cookie: string): boolean {
  return /;\s*domain\s*=/i.test(cookie) || isOwnCookie(cookie)
}

const AT_LOOPBACK = /^http(s?):\/\/(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\])(?::(\d+))?([/?#].*)?$/i
/** The secret in each port's address. */
const Peers = z.record(z.string(), z.string())

/** Servers redirect to the address that they know as their own, and to that of another server of the workspace. */
function here(location: string, peers: z.infer<typeof Peers>, { request, token }: PortRequest): string {
  const found = AT_LOOPBACK.exec(location)
  if (found === null) return location
  const [, isSecure, port = isSecure === '' ? '80' : '443', rest = '/'] = found
  const path = rest.startsWith('/') ? rest : `/${rest}`
  const secret = peers[port]
  if (secret === undefined || secret === token.secret) return path
  const { protocol, host } = new URL(request.url)
  return `${protocol}//${host.replace(/^[^.]+/, portLabel({ object: token.object, secret }))}${path}`
}

function errorPage(status: number, reason: string): Response {
  const text = reason.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
  const body = `<!doctype html><meta charset="utf-8"><title>${status}</title><h1>${status}</h1><p>${text}</p>\n`
  return new Response(body, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })
}
