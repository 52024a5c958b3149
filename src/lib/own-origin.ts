// Whether an address leads back to this service. It is asked by every loopback spelling at the port that it listens on, by
// the names and addresses that the operator lists, and by whatever spells one of these. A name that only resolves to it is
// not known here: what goes out is marked for that (`outbound-marker.ts`).

import { addressOf, bareHost, type HostPort, isSameAddress, portOf } from './host-port.ts'
import { type Address, embeddedIpv4, isLoopback, isUnspecified, tunnelledIpv4 } from './ip-address.ts'

/** Public names that resolve to 127.0.0.1, and those that mean this machine. */
export const LOOPBACK_SUFFIXES = [
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
 * Remembers the port at which a request of this machine to this machine came. Only loopback is refused for it, so a client
 * that makes ports up keeps its owner from servers of their own at most.
 */
export function noteOwnPort(port: string): void {
  if (!seenPorts.has(port) && seenPorts.size < MOST_PORTS) seenPorts.add(port)
}

export function isOwnOrigin(url: URL, known: readonly HostPort[]): boolean {
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

/** The address that a host is, and those that it carries: in a tunnel's form, or spelled in a name. */
function addressesIn(host: string): Address[] {
  const address = addressOf(host)
  return address === null ? embeddedIpv4(host) : [address, ...tunnelledIpv4(address)]
}
