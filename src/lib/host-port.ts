// A host and its port, as an operator writes them and as a URL has them.

import { type Address, ipv4Of, ipv6Of } from './ip-address.ts'

export interface HostPort {
  /** In small letters, an IPv6 address without brackets. */
  host: string
  /** Null: any. */
  port: string | null
}

/** `host` or `host:port`, or null. An IPv6 address stands alone or in brackets; only then can a port follow it. */
export function hostPortOf(entry: string): HostPort | null {
  const match = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry)
  const host = bareHost(match?.[1] ?? entry).toLowerCase()
  const port = match?.[2] ?? null
  if (port !== null && !(Number(port) >= 1 && Number(port) <= 65535 && String(Number(port)) === port)) return null
  if (addressOf(host)) return { host, port }
  const url = URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`) : null
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host) && url?.hostname === host ? { host, port } : null
}

/** The port that is asked, also where the URL leaves it out. */
export function portOf({ port, protocol }: URL): string {
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port
}

export function bareHost(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}

export function addressOf(host: string): Address | null {
  return ipv4Of(bareHost(host)) ?? ipv6Of(bareHost(host))
}

export function isSameAddress(a: Address, b: Address): boolean {
  return a.bits === b.bits && a.value === b.value
}
