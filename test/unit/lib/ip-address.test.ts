import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  cidrOf,
  contains,
  ipv4Of,
  ipv6Of,
  isDenied,
  isLoopback,
  isUnspecified,
  tunnelledIpv4,
} from '../../../src/lib/ip-address.ts'

/** What is not the internet, each block with its last address. */
const DENIED: readonly (readonly [first: string, last: string])[] = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['168.63.129.16', '168.63.129.16'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.31.196.0', '192.31.196.255'],
  ['192.52.193.0', '192.52.193.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['192.175.48.0', '192.175.48.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '255.255.255.255'],
  ['::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
]

/** Those that stand next to a block, and belong to none. */
const PUBLIC = `1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15
  168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.1.255 192.0.3.0
  192.31.195.255 192.31.197.0 192.52.192.255 192.52.194.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0
  192.175.47.255 192.175.49.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0
  223.255.255.255 2000:: 2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:200:: 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9::
  2003:: 2620:4f:7fff:ffff:ffff:ffff:ffff:ffff 2620:4f:8001:: 3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000::`.split(
  /\s+/,
)

const addressOf = (text: string) => {
  const address = ipv4Of(text) ?? ipv6Of(text)
  if (address === null) throw new Error(`${text} is no address`)
  return address
}

test('every block that is not the internet is refused from its first address to its last, and nothing beside it', () => {
  for (const text of DENIED.flat()) expect([text, isDenied(addressOf(text))]).toEqual([text, true])
  for (const text of PUBLIC) expect([text, isDenied(addressOf(text))]).toEqual([text, false])
})

test('of IPv4 just what the blocks hold is refused', () => {
  const bytes = (text: string) => text.split('.').reduce((number, part) => number * 256 + Number(part), 0)
  const blocks = DENIED.filter(([first]) => first.includes('.')).map(([first, last]) => [bytes(first), bytes(last)])
  const part = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 10, 100, 127, 169, 172, 192, 198, 203))
  fc.assert(
    fc.property(fc.tuple(part, part, part, part), (parts) => {
      const text = parts.join('.')
      const isInside = blocks.some(([first = 0, last = 0]) => bytes(text) >= first && bytes(text) <= last)
      expect([text, isDenied(addressOf(text))]).toEqual([text, isInside])
    }),
    { numRuns: 2000 },
  )
})

test('an address is taken in the one form in which the WHATWG parser writes it', () => {
  const others = `1.2.3 1.2.3.4.5 1.2.3.256 01.2.3.4 0x1.2.3.4 1.2.3.4. 16909060 0x7f000001 ::ffff:1.2.3.4 ::1%lo fe80::1%1 [::1]
    1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1::2::3 ::1:: 1:2:3:4:5:6:7::8 :1:2:3:4:5:6:7 1:2:3:4:5:6:7: ::: 12345:: g:: ::1\u0000`
  for (const text of ['', ' ', ' ::1', '::1 ', '::1\n', '1.2.3.4\n', ...others.split(/\s+/)]) {
    expect([text, ipv4Of(text), ipv6Of(text)]).toEqual([text, null, null])
  }
  for (const text of ['::', '::1', '1::', '1:2:3:4:5:6:7::', '::2:3:4:5:6:7:8', 'ABCD::', '0:0:0:0:0:0:0:1']) {
    const written = new URL(`http://[${text}]/`).hostname.slice(1, -1)
    expect([text, ipv6Of(text)?.toString()]).toEqual([text, ipv6Of(written)?.toString()])
  }
})

test('a block holds what its prefix says, of its own kind alone', () => {
  const cases: [block: string, address: string, isHeld: boolean][] = [
    ['10.1.2.3/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['192.168.1.128/25', '192.168.1.127', false],
    ['1.2.3.4/32', '1.2.3.4', true],
    ['0.0.0.0/0', '255.1.2.3', true],
    ['0.0.0.0/0', '::1', false],
    ['::/0', '1.2.3.4', false],
    ['::/0', 'ff02::1', true],
    ['fd00::/8', 'fdff:1::2', true],
    ['2001:db8::/33', '2001:db8:8000::', false],
  ]
  for (const [block, address, isHeld] of cases) {
    const read = cidrOf(block)
    expect([block, address, read !== null && contains(read, addressOf(address))]).toEqual([block, address, isHeld])
  }
  for (const text of [
    '1.2.3.4/33',
    '::/129',
    '1.2.3/8',
    '::1',
    '1.2.3.4/',
    '/8',
    '1.2.3.4/-1',
    '::1%lo/64',
    '1.2.3.4/8/8',
  ]) {
    expect([text, cidrOf(text)]).toEqual([text, null])
  }
})

test('where an address of IPv6 leads in IPv4 is read from every form of tunnel', () => {
  const led = (text: string) => tunnelledIpv4(addressOf(text)).map(String)
  expect(led('::ffff:7f00:1')).toEqual(['127.0.0.1'])
  expect(led('::ffff:0:a00:1')).toEqual(['10.0.0.1'])
  expect(led('::102:304')).toEqual(['1.2.3.4'])
  expect(led('64:ff9b::102:304')).toEqual(['1.2.3.4'])
  expect(led('64:ff9b:1:9::102:304')).toEqual(['1.2.3.4'])
  expect(led('2606:4700::5efe:102:304')).toEqual(['1.2.3.4'])
  expect(led('2606:4700::200:5efe:102:304')).toEqual(['1.2.3.4'])
  expect(led('2002:102:304::9')).toEqual(['1.2.3.4'])
  expect(led('2001:0:102:304::fefd:fcfb')).toEqual(['1.2.3.4', '1.2.3.4'])
  expect(led('2606:4700::1')).toEqual([])
  expect(led('1.2.3.4')).toEqual([])
  expect(['127.9.9.9', '::1', '128.0.0.1', '::2'].map((text) => isLoopback(addressOf(text)))).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect(['0.9.9.9', '::', '1.0.0.0', '::1'].map((text) => isUnspecified(addressOf(text)))).toEqual([
    true,
    true,
    false,
    false,
  ])
})
