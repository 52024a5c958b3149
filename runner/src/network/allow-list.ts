// The hosts that a sandbox may reach: by name, and not through a name with an address in a private network, unless the
// operator listed that host.

import { BlockList, isIP } from 'node:net'
import { DEFAULT_HOSTS } from './default-hosts.ts'

const PORTS = [80, 443]

const SPECIAL = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  SPECIAL.addSubnet(network, bits, 'ipv4')
}
/** For IPv6 only global unicast addresses, without the ranges that embed IPv4. */
const GLOBAL = new BlockList()
GLOBAL.addSubnet('2000::', 3, 'ipv6')
const CARRIERS = new BlockList()
CARRIERS.addSubnet('2001::', 23, 'ipv6')
CARRIERS.addSubnet('2001:db8::', 32, 'ipv6')
CARRIERS.addSubnet('2002::', 16, 'ipv6')

export type Permission = { readonly mayBePrivate: boolean }

/** Null if the host is not on the list. */
export function permissionFor(allow: readonly string[], host: string, port: number): Permission | null {
  const name = host.toLowerCase().replace(/\.$/, '')
  const rule = allow.find((one) => isMatch(one, name, port))
  return rule === undefined ? null : { mayBePrivate: !DEFAULT_HOSTS.includes(rule) && !rule.startsWith('*.') }
}

function isMatch(rule: string, name: string, port: number): boolean {
  const [, wanted = rule, wantedPort] =
    /^(.*?)(?::(\d+))?$/.exec(rule.startsWith('[') ? rule.replace(/^\[(.*)\]/, '$1#') : rule) ?? []
  const isPort = wantedPort === undefined ? PORTS.includes(port) : Number(wantedPort) === port
  const host = wanted.replace(/#$/, '')
  // Addresses do not match suffixes: 1.2.3.4 does not match *.3.4.
  const isHost = host.startsWith('*.') ? isIP(name) === 0 && name.endsWith(host.slice(1)) : name === host
  return isPort && isHost
}

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !SPECIAL.check(address, 'ipv4')
  return GLOBAL.check(address, 'ipv6') && !CARRIERS.check(address, 'ipv6')
}
