// Which addresses a request may go to when somebody else chose them. Pure: no request is made here.
//
// A Worker cannot resolve a name and then pin the address: it does not know what a public name resolves to. Names that
// are known to lead to private networks are refused by their spelling; the network around the service must stop the
// rest. docs/security.md describes what remains open.

import { createHmac, hkdfSync } from 'node:crypto'
import { constantTimeEqual, fromBase64, randomToken } from './crypto.ts'
import {
  type Address,
  addressOf,
  bareHost,
  cidrOf,
  contains,
  embeddedIpv4,
  type HostPort,
  hostPortOf,
  isDenied,
  isLoopback,
  isSameAddress,
  isUnspecified,
  portOf,
  tunnelledIpv4,
} from './ip-address.ts'

// Whether an address leads back to this service: every loopback spelling at the port where it listens, the names and
// addresses that the operator lists, and any other spelling of these. A name that only resolves to the service is not
// recognised here; for that, outgoing requests are marked (`outboundMarker`).

/** Public names that resolve to 127.0.0.1, and those that mean this machine. */
const LOOPBACK_SUFFIXES = [
  'localhost',
  'localdomain',
  'ip6-localhost',
  'ip6-loopback',
  'localtest.me',
  'lvh.me',
  'vcap.me',
  'lacolhost.com',
  'localh.st',
  'fuf.me',
]

const MOST_PORTS = 8
const seenPorts = new Set<string>()

/**
 * Remembers the port of a request from this machine to this machine. Only loopback addresses are refused because of it,
 * so a client that invents ports can at most block its own owner's servers.
 */
export function noteOwnPort(port: string): void {
  if (!seenPorts.has(port) && seenPorts.size < MOST_PORTS) seenPorts.add(port)
}

function isOwnOrigin(url: URL, known: readonly HostPort[]): boolean {
  const port = portOf(url)
  const host = bareHost(url.hostname).replace(/\.+$/, '')
  const meant = addressesIn(host)
  const isHere = isThisMachine(host, meant)
  if (isHere && seenPorts.has(port)) return true
  return known.some((own) => {
    if (own.port !== null && own.port !== port) return false
    const address = addressOf(own.host)
    if (isHere && isThisMachine(own.host, address ? [address] : [])) return true
    return host === own.host || (address !== null && meant.some((one) => isSameAddress(one, address)))
  })
}

function isThisMachine(host: string, meant: readonly Address[]): boolean {
  if (meant.some((address) => isLoopback(address) || isUnspecified(address))) return true
  return LOOPBACK_SUFFIXES.some((name) => host === name || host.endsWith(`.${name}`))
}

/** The address of a host, and the addresses inside it: in a tunnel's form, or spelled in a name. */
function addressesIn(host: string): Address[] {
  const address = addressOf(host)
  return address === null ? embeddedIpv4(host) : [address, ...tunnelledIpv4(address)]
}

export interface AddressPolicy {
  /** `host`, `host:port` or a CIDR block: these may be private and use any port (or exactly the one named). */
  allowPrivate: readonly string[]
  /** 127.0.0.0/8, ::1 and `localhost`, on every port, if a user entered the address. */
  personMayUseLoopback: boolean
  /** The service's own addresses, besides those that it learns from requests: always refused. */
  ownOrigins: readonly HostPort[]
  /** Marks outgoing requests, so that the service recognises its own; null when none is sent to addresses that others chose. */
  marker: Marker | null
}

type AddressVerdict = { ok: true; url: URL } | { ok: false; reason: string }

const DEFAULT_PORTS: ReadonlySet<string> = new Set(['', '80', '443'])

/** Scheme, host and port as written; what is cut off here is never part of the host. */
const WRITTEN = /^https?:\/\/([^/?#]+)(?:[/?#]|$)/i
const WRITTEN_AUTHORITY = /^(\[[0-9a-f:.]+\]|[^:[\]@]+)(?::([1-9]\d{0,4}))?$/i

const PLAIN_HOST = /^(\[[0-9a-f:]+\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*)$/

/** Suffixes of names that are not meant for the internet, and of public names that resolve to the address that they spell. */
const INSIDE_SUFFIXES = [
  ...LOOPBACK_SUFFIXES,
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'svc',
  'arpa',
  'onion',
  'metadata.tencentyun.com',
  'metadata.platformequinix.com',
  'metadata.packet.net',
  'nip.io',
  'sslip.io',
  'xip.io',
  // These resolve alternately to the addresses in the name, or to an address in hexadecimal.
  'rbndr.us',
  '1u.ms',
  'traefik.me',
  // Names that a home router resolves to itself.
  'fritz.box',
  'fritz.nas',
  'speedport.ip',
  'easy.box',
  'routerlogin.net',
  'routerlogin.com',
  'tplinkwifi.net',
  'tplinklogin.net',
  'orbilogin.com',
  'router.asus.com',
  'asusrouter.com',
  'miwifi.com',
  'giga.gate',
]

export type AddressQuestion = { policy: AddressPolicy; chosenBy: Chooser }

const OPERATORS_LIST = 'ALLOW_PRIVATE_NETWORK'

/** Whether a request may go to the address, and for which purpose. The reason contains no secret. */
export function checkAddress(address: string, { policy, chosenBy }: AddressQuestion): AddressVerdict {
  const written = URL.canParse(address) ? new URL(address) : null
  const chooser = written === null ? 'stranger' : whoseChoice(written, chosenBy)
  if (written !== null && chooser === 'operator') return { ok: true, url: written }
  // First, so that every spelling of the service's own address gets this reason.
  if (written !== null && isHttp(written) && isOwnOrigin(written, policy.ownOrigins)) {
    return refuse(`${written.host} is this service itself, which is never asked, whatever ${OPERATORS_LIST} says`)
  }
  const url = writtenCanonically(address)
  if (typeof url === 'string') return { ok: false, reason: url }
  if (isAllowed(url, policy) || (chooser === 'person' && policy.personMayUseLoopback && isAtLoopback(url))) {
    return { ok: true, url }
  }
  const host = url.hostname
  const ip = addressOf(host)
  if (ip && isDenied(ip)) return refuse(`${host} is not a public address${hint(url)}`)
  if (!ip && leadsInside(host)) return refuse(`${host} is not a public name${hint(url)}`)
  return DEFAULT_PORTS.has(url.port) ? { ok: true, url } : refuse(`port ${url.port} is not allowed${hint(url)}`)
}

/** What can be done about a refusal, and by whom. */
function hint({ host }: URL): string {
  return ` (the operator can allow ${host} with ${OPERATORS_LIST})`
}

function isHttp({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:'
}

/** Whether a text is a valid entry of `allowPrivate`. */
export function isPolicyEntry(entry: string): boolean {
  return cidrOf(entry) !== null || hostPortOf(entry) !== null
}

function refuse(reason: string): AddressVerdict {
  return { ok: false, reason }
}

/** The URL, or the reason for a refusal: anything that another parser could read as another host is refused. */
function writtenCanonically(address: string): URL | string {
  const authority = WRITTEN.exec(address)?.[1]
  if (authority === undefined) return 'the address is not an http or https URL'
  if (authority.includes('@')) return 'the address has a user name in it'
  const parts = WRITTEN_AUTHORITY.exec(authority)
  const url = URL.canParse(address) ? new URL(address) : null
  if (!parts || !url) return 'the address is malformed'
  if (url.username !== '' || url.password !== '') return 'the address has a user name in it'
  // Only the case of letters may differ: numbers in other bases, dots of other scripts, escapes and trailing dots
  // change with parsing.
  const plain = parts[1]?.toLowerCase() === url.hostname && PLAIN_HOST.test(url.hostname)
  return plain ? url : 'the host is not written in its plain form'
}

function isAtLoopback({ hostname }: URL): boolean {
  const ip = addressOf(hostname)
  return hostname === 'localhost' || (ip !== null && isLoopback(ip))
}

function isAllowed(url: URL, { allowPrivate }: AddressPolicy): boolean {
  const host = bareHost(url.hostname)
  const ip = addressOf(host)
  return allowPrivate.some((entry) => {
    const block = cidrOf(entry)
    if (block) return ip !== null && contains(block, ip)
    const named = hostPortOf(entry)
    if (named === null || (named.port !== null && named.port !== portOf(url))) return false
    const address = addressOf(named.host)
    return address && ip ? isSameAddress(address, ip) : named.host === host
  })
}

function leadsInside(host: string): boolean {
  // A name without a dot is resolved with the resolver's search list.
  if (!host.includes('.')) return true
  if (INSIDE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))) return true
  // `10.0.0.1.example.com` and `10-0-0-1.example.com`: there are services that resolve to such a number.
  return embeddedIpv4(host).some(isDenied)
}

// Who chose an address decides where it may lead. A user or the operator chooses only an origin: every other address on
// the way (a redirect, an address that a server names, another remote) counts as chosen by a stranger.

export type Chooser =
  /**
   * Chosen by a model, a file, a page, a repository or an upstream: never loopback or a private network unless the
   * operator names it.
   */
  | { readonly by: 'stranger' }
  /** Entered by a user in the settings or a request: loopback, too, if the policy allows it, but never the service itself. */
  | { readonly by: 'person'; readonly origins: ReadonlySet<string> }
  /** From the operator's environment: trusted. */
  | { readonly by: 'operator'; readonly origins: ReadonlySet<string> }

export const STRANGER: Chooser = { by: 'stranger' }

export function typedByPerson(...addresses: readonly string[]): Chooser {
  return { by: 'person', origins: originsOf(addresses) }
}

export function namedByOperator(...addresses: readonly string[]): Chooser {
  return { by: 'operator', origins: originsOf(addresses) }
}

/** The chooser that counts for this address, if a user or the operator chose an origin. */
export function whoseChoice({ origin }: URL, chooser: Chooser): Chooser['by'] {
  return chooser.by !== 'stranger' && chooser.origins.has(origin) ? chooser.by : 'stranger'
}

/** An invalid address has no origin; an opaque origin (`null`) would match many. */
function originsOf(addresses: readonly string[]): ReadonlySet<string> {
  const urls = addresses.flatMap((address) => (URL.canParse(address) ? [new URL(address)] : []))
  return new Set(urls.filter(({ protocol }) => /^https?:$/.test(protocol)).map(({ origin }) => origin))
}

// A header on every request of the guarded fetch, by which the service recognises its own requests when they come back:
// through a name that resolves to it, a forwarded port, a proxy. It reveals nothing: it differs in each request, nobody
// else can make or recognise one, and its only effect is that a request is refused.

export const MARKER_HEADER = 'x-bellwether-outbound'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const FORM = /^([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{43})$/

interface Marker {
  /** A mark for one request. */
  sign(): string
  isOurs(mark: string): boolean
}

/** The same for every isolate of a deployment; without a key, for every part of this process. */
export function outboundMarker(secretsKey: string | null): Marker {
  let key: Uint8Array | null = null
  const signature = (nonce: string) => {
    key ??= secretsKey === null ? processKey() : derivedKey(secretsKey)
    return createHmac('sha256', key).update(nonce).digest('base64url')
  }
  return {
    sign() {
      const nonce = randomToken(NONCE_BYTES)
      return `${nonce}.${signature(nonce)}`
    },
    isOurs(mark) {
      const [, nonce, given] = FORM.exec(mark) ?? []
      return nonce !== undefined && given !== undefined && constantTimeEqual(signature(nonce), given)
    },
  }
}

function derivedKey(secretsKey: string): Uint8Array {
  const bytes = fromBase64(secretsKey)
  if (bytes === null) throw new Error('SECRETS_KEY is not base64')
  const info = new TextEncoder().encode('bellwether outbound marker v1')
  return new Uint8Array(hkdfSync('sha256', bytes, new Uint8Array(), info, KEY_BYTES))
}

let random: Uint8Array | null = null

/** Created on first use: the runtime provides no random bytes before the first request. */
function processKey(): Uint8Array {
  random ??= crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return random
}
