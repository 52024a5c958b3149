import { expect, test } from 'vitest'
import { PackIndex } from '../../../../src/kits/git/pack-file.ts'

const HEADER = 8
const NAMES = HEADER + 256 * 4

/** An index of version 2 (gitformat-pack): a table of counts by first byte, the names in order, sums, offsets, two hashes. */
function indexOf(oids: readonly string[]): PackIndex {
  const sorted = oids.toSorted()
  const bytes = new Uint8Array(NAMES + sorted.length * 28 + 40)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, 0xff744f63)
  view.setUint32(4, 2)
  for (let first = 0; first < 256; first++) {
    const upTo = sorted.filter((oid) => Number.parseInt(oid.slice(0, 2), 16) <= first).length
    view.setUint32(HEADER + first * 4, upTo)
  }
  for (const [at, oid] of sorted.entries()) {
    for (let byte = 0; byte < 20; byte++)
      bytes[NAMES + at * 20 + byte] = Number.parseInt(oid.slice(byte * 2, byte * 2 + 2), 16)
    view.setUint32(NAMES + sorted.length * 24 + at * 4, 12 + at)
  }
  return new PackIndex(bytes)
}

const oid = (start: string) => start.padEnd(40, '1')

test('the names that a short one may mean are those that begin with it, and no other', () => {
  const [one, two, three, four] = [oid('00ff'), oid('a3b4'), oid('a3b5'), oid('ffff')] as const
  const index = indexOf([three, one, four, two])
  expect(index.idsStartingWith('a3b')).toEqual([two, three])
  expect(index.idsStartingWith('a3b4')).toEqual([two])
  expect(index.idsStartingWith('a3b40')).toEqual([])
  expect(index.idsStartingWith('0')).toEqual([one])
  expect(index.idsStartingWith('f')).toEqual([four])
  expect(index.idsStartingWith(three)).toEqual([three])
  expect([one, two, three, four, oid('a3b6')].map((name) => index.find(name))).toEqual([12, 13, 14, 15, null])
})
