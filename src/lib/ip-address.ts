// Numeric addresses in the one form in which the WHATWG parser writes them, and the blocks that are not the internet.

export interface Address {
  bits: 32 | 128
  value: bigint
}

export interface Block extends Address {
  prefix: number
}

/** Four decimal numbers and nothing else: no octal, no hex, no short forms. */
export function ipv4Of(text: string): Address | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  if (!match) return null
  const parts = match.slice(1).map(Number)
  if (parts.some((part, i) => part > 255 || String(part) !== match[i + 1])) return null
  return { bits: 32, value: parts.reduce((value, part) => value * 256n + BigInt(part), 0n) }
}

/** Without brackets. A dotted tail and a zone are not taken: the parser never writes them. */
export function ipv6Of(text: string): Address | null {
  if (!/^[0-9a-f:]{2,39}$/i.test(text) || text.split('::').length > 2) return null
  const [head = '', tail] = text.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const [before, after] = [groups(head), groups(tail ?? '')]
  const missing = 8 - before.length - after.length
  if (tail === undefined ? missing !== 0 : missing < 1) return null
  const all = [...before, ...Array.from({ length: missing }, () => '0'), ...after]
  if (!all.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null
  return { bits: 128, value: all.reduce((value, group) => value * 65536n + BigInt(`0x${group}`), 0n) }
}

export function cidrOf(text: string): Block | null {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text)
  const address = match?.[1] ? (ipv4Of(match[1]) ?? ipv6Of(match[1])) : null
  const prefix = Number(match?.[2])
  return address && prefix <= address.bits ? { ...address, prefix } : null
}

export function contains(block: Block, address: Address): boolean {
  const shift = BigInt(block.bits - block.prefix)
  return block.bits === address.bits && block.value >> shift === address.value >> shift
}

function blocks(list: readonly string[]): Block[] {
  return list.flatMap((text) => cidrOf(text) ?? [])
}

const LOOPBACK = blocks(['127.0.0.0/8', '::1/128'])
/** Asked for, these are the machine itself. */
const UNSPECIFIED = blocks(['0.0.0.0/8', '::/128'])

const DENIED_IPV4 = blocks([
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT, and a cloud's metadata
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // a cloud's host agent
  '169.254.0.0/16', // link-local, and the metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // relays
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
])

/** Of IPv6, only global unicast is the internet; IPv4-mapped, NAT64, private and link-local blocks lie outside it. */
const GLOBAL_IPV6 = blocks(['2000::/3'])
const DENIED_IPV6 = blocks([
  '2001::/23', // Teredo, ORCHID and other protocols
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
])

export function isLoopback(address: Address): boolean {
  return LOOPBACK.some((block) => contains(block, address))
}

export function isUnspecified(address: Address): boolean {
  return UNSPECIFIED.some((block) => contains(block, address))
}

export function isDenied(address: Address): boolean {
  if (address.bits === 32) return DENIED_IPV4.some((block) => contains(block, address))
  if (!GLOBAL_IPV6.some((block) => contains(block, address))) return true
  return DENIED_IPV6.some((block) => contains(block, address)) || isIsatap(address)
}

/** An interface id of `0:5efe` or `200:5efe` and an IPv4 address: a tunnel to that address. */
function isIsatap({ value }: Address): boolean {
  const marker = (value >> 32n) & 0xffffffffn
  return marker === 0x5efen || marker === 0x02005efen
}

/** IPv4-mapped, compatible and translated addresses, and NAT64: the number stands at the end. */
const ENDS_IN_IPV4 = blocks(['::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'])
const SIX_TO_FOUR = blocks(['2002::/16'])
const TEREDO = blocks(['2001::/32'])

/** The IPv4 addresses to which an IPv6 address may lead. */
export function tunnelledIpv4(address: Address): Address[] {
  if (address.bits === 32) return []
  const within = (list: readonly Block[]) => list.some((block) => contains(block, address))
  const bitsAt = (shift: bigint): Address => ({ bits: 32, value: (address.value >> shift) & 0xffffffffn })
  if (within(ENDS_IN_IPV4) || isIsatap(address)) return [bitsAt(0n)]
  if (within(SIX_TO_FOUR)) return [bitsAt(80n)]
  if (!within(TEREDO)) return []
  // The client's own address is stored inverted, the server's as it is.
  return [bitsAt(64n), { bits: 32, value: bitsAt(0n).value ^ 0xffffffffn }]
}

/** Every run of four numbers in a name, with dots or hyphens between them. */
export function embeddedIpv4(name: string): Address[] {
  const found = name.matchAll(/(?<!\d)(?=(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})(?!\d))/g)
  return [...found].flatMap(([, ...parts]) => ipv4Of(parts.map(Number).join('.')) ?? [])
}
