// Numeric addresses in the form in which the WHATWG parser writes them, and which of them are public. The reserved
// ranges come from ipaddr.js.

import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

type Block = [network: Address, prefix: number]

/** Four decimal numbers and nothing else: no octal, no hex, no short forms. */
export function ipv4Of(text: string): ipaddr.IPv4 | null {
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : null
}

/** Without brackets. A dotted tail and a zone are rejected: the WHATWG parser never writes them. */
export function ipv6Of(text: string): ipaddr.IPv6 | null {
  return /^[0-9a-f:]{2,39}$/i.test(text) && ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : null
}

export function cidrOf(text: string): Block | null {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text)
  const address = match?.[1] ? (ipv4Of(match[1]) ?? ipv6Of(match[1])) : null
  const prefix = Number(match?.[2])
  return address && prefix <= 8 * address.toByteArray().length ? [address, prefix] : null
}

export function contains(block: Block, address: Address): boolean {
  return block[0].kind() === address.kind() && address.match(block)
}

export function isSameAddress(a: Address, b: Address): boolean {
  return a.kind() === b.kind() && a.toString() === b.toString()
}

export function isLoopback(address: Address): boolean {
  return address.range() === 'loopback'
}

/** A connection to these reaches the machine itself. */
export function isUnspecified(address: Address): boolean {
  return address.range() === 'unspecified'
}

/** The host agent of a cloud, which has a public address. */
const HOST_AGENT = '168.63.129.16'
/** All public IPv6 addresses. Any other address is refused, whether or not it is reserved. */
const GLOBAL_IPV6: Block = [ipaddr.IPv6.parse('2000::'), 3]

export function isDenied(address: Address): boolean {
  if (address.range() !== 'unicast') return true
  return isIpv6(address) ? !address.match(GLOBAL_IPV6) || isIsatap(address) : address.toString() === HOST_AGENT
}

function isIpv6(address: Address): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6'
}

/** An interface id of `0:5efe` or `200:5efe` and an IPv4 address: a tunnel to that address. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return (parts[4] === 0 || parts[4] === 0x200) && parts[5] === 0x5efe
}

/** The first block of IPv6: the deprecated IPv4-compatible addresses. */
const COMPATIBLE: Block = [ipaddr.IPv6.parse('::'), 96]
/** IPv4-mapped and translated addresses, and NAT64. */
const ENDS_IN_IPV4: ReadonlySet<string> = new Set(['ipv4Mapped', 'rfc6145', 'rfc6052'])

/** The IPv4 addresses to which an IPv6 address may lead. */
export function tunnelledIpv4(address: Address): Address[] {
  if (!isIpv6(address)) return []
  const bytes = address.toByteArray()
  const range = address.range()
  const last = bytes.slice(-4)
  if (ENDS_IN_IPV4.has(range) || address.match(COMPATIBLE) || isIsatap(address)) return [new ipaddr.IPv4(last)]
  if (range === '6to4') return [new ipaddr.IPv4(bytes.slice(2, 6))]
  if (range !== 'teredo') return []
  // The client's own address is stored inverted, the server's unchanged.
  return [new ipaddr.IPv4(bytes.slice(4, 8)), new ipaddr.IPv4(last.map((byte) => byte ^ 0xff))]
}

/** Every sequence of four numbers in a name, with dots or hyphens between them. */
export function embeddedIpv4(name: string): Address[] {
  const found = name.matchAll(/(?<!\d)(?=(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})(?!\d))/g)
  return [...found].flatMap(([, ...parts]) => ipv4Of(parts.map(Number).join('.')) ?? [])
}

// A host and its port, as an operator writes them and as a URL contains them.

export interface HostPort {
  /** In lower case, an IPv6 address without brackets. */
  host: string
  /** Null for any port. */
  port: string | null
}

/** `host` or `host:port`, or null. An IPv6 address is written alone or in brackets; only in brackets can a port follow it. */
export function hostPortOf(entry: string): HostPort | null {
  const match = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry)
  const host = bareHost(match?.[1] ?? entry).toLowerCase()
  const port = match?.[2] ?? null
  if (port !== null && !(Number(port) >= 1 && Number(port) <= 65535 && String(Number(port)) === port)) return null
  if (addressOf(host)) return { host, port }
  const url = URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`) : null
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host) && url?.hostname === host ? { host, port } : null
}

/** The port of a URL, including the default port. */
export function portOf({ port, protocol }: URL): string {
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port
}

export function bareHost(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}

export function addressOf(host: string): Address | null {
  return ipv4Of(bareHost(host)) ?? ipv6Of(bareHost(host))
}
