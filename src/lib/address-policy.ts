// Which addresses may be asked for on somebody else's word. Text in, verdict out; no request is made here.
//
// A Worker cannot look up a name and then pin the address that it got: what a public name resolves to is not known here.
// Names that are known to lead inside are refused by their spelling, and the network around the service has to do the
// rest.

import { type Address, cidrOf, contains, embeddedIpv4, ipv4Of, ipv6Of, isDenied, isLoopback } from './ip-address.ts'

export interface AddressPolicy {
  /** `host`, `host:port` or a CIDR block: these may be private and use any port (or exactly the one named). */
  allowPrivate: readonly string[]
  /** 127.0.0.0/8, ::1 and `localhost`, on every port. */
  allowLoopback: boolean
}

export type AddressVerdict = { ok: true; url: URL } | { ok: false; reason: string }

const DEFAULT_PORTS: ReadonlySet<string> = new Set(['', '80', '443'])

/** Scheme, host and port as they were written; whatever is cut off here is never part of the host. */
const WRITTEN = /^https?:\/\/([^/?#]+)(?:[/?#]|$)/i
const WRITTEN_AUTHORITY = /^(\[[0-9a-f:.]+\]|[^:[\]@]+)(?::([1-9]\d{0,4}))?$/i

const PLAIN_HOST = /^(\[[0-9a-f:]+\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*)$/

/** Suffixes of names that are not meant for the internet, and of public ones that resolve to whatever they spell. */
const INSIDE_SUFFIXES = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'arpa',
  'onion',
  'metadata.tencentyun.com',
  'metadata.platformequinix.com',
  'metadata.packet.net',
  'nip.io',
  'sslip.io',
  'xip.io',
  'localtest.me',
  'lvh.me',
  'vcap.me',
  'lacolhost.com',
  'localh.st',
  'fuf.me',
]

/** Says whether the address may be asked, and for what it means. The reason is fit to be shown. */
export function checkAddress(address: string, policy: AddressPolicy): AddressVerdict {
  const url = writtenCanonically(address)
  if (typeof url === 'string') return { ok: false, reason: url }
  const host = url.hostname
  if (allowed(url, policy)) return { ok: true, url }
  if (!DEFAULT_PORTS.has(url.port)) return refuse(`port ${url.port} is not allowed`)
  const ip = addressOf(host)
  if (ip) return isDenied(ip) ? refuse(`${host} is not a public address`) : { ok: true, url }
  return leadsInside(host) ? refuse(`${host} is not a public name`) : { ok: true, url }
}

/** Whether a text can stand in `allowPrivate`. */
export function isPolicyEntry(entry: string): boolean {
  if (cidrOf(entry)) return true
  const { host, port } = hostAndPort(entry)
  if (port !== null && !(Number(port) >= 1 && Number(port) <= 65535)) return false
  if (addressOf(host)) return true
  const url = URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`) : null
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host) && url?.hostname === host.toLowerCase()
}

function refuse(reason: string): AddressVerdict {
  return { ok: false, reason }
}

/** The URL, or why it is not taken: anything that another parser could read as another host is refused. */
function writtenCanonically(address: string): URL | string {
  const authority = WRITTEN.exec(address)?.[1]
  if (authority === undefined) return 'the address is not an http or https URL'
  if (authority.includes('@')) return 'the address has a user name in it'
  const parts = WRITTEN_AUTHORITY.exec(authority)
  const url = URL.canParse(address) ? new URL(address) : null
  if (!parts || !url) return 'the address is malformed'
  if (url.username !== '' || url.password !== '') return 'the address has a user name in it'
  // The case of letters is all that may differ: numbers in other bases, dots of other scripts, escapes and trailing
  // dots change with parsing.
  const plain = parts[1]?.toLowerCase() === url.hostname && PLAIN_HOST.test(url.hostname)
  return plain ? url : 'the host is not written in its plain form'
}

function allowed(url: URL, { allowPrivate, allowLoopback }: AddressPolicy): boolean {
  const host = bare(url.hostname)
  const ip = addressOf(host)
  if (allowLoopback && (host === 'localhost' || (ip !== null && isLoopback(ip)))) return true
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  return allowPrivate.some((entry) => {
    const block = cidrOf(entry)
    if (block) return ip !== null && contains(block, ip)
    const named = hostAndPort(entry)
    return sameHost(named.host, host) && (named.port === null || named.port === port)
  })
}

function sameHost(entry: string, host: string): boolean {
  const [a, b] = [addressOf(entry), addressOf(host)]
  if (a && b) return a.bits === b.bits && a.value === b.value
  return entry.toLowerCase() === host
}

/** An IPv6 address stands alone or in brackets; only then can a port follow it. */
function hostAndPort(entry: string): { host: string; port: string | null } {
  const match = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry)
  return match?.[1] && match[2] ? { host: bare(match[1]), port: match[2] } : { host: bare(entry), port: null }
}

function bare(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}

function addressOf(host: string): Address | null {
  return ipv4Of(bare(host)) ?? ipv6Of(bare(host))
}

function leadsInside(host: string): boolean {
  // A name without a dot is resolved by the search list of whoever asks.
  if (!host.includes('.')) return true
  if (INSIDE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))) return true
  // `10.0.0.1.example.com` and `10-0-0-1.example.com`: services exist that answer with the number.
  return embeddedIpv4(host).some(isDenied)
}
