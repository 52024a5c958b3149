// A git host that says whatever a test wants it to say.

import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { utf8 } from '../../../../src/kits/git/bytes.ts'
import type { GitRemotes } from '../../../../src/kits/git/index.ts'
import { STRANGER } from '../../../../src/lib/address-policy.ts'
import { joinBytes } from '../../../../src/lib/bytes.ts'
import { CLOSED } from '../../../helpers/policies.ts'

export interface Answers {
  /** Names and ids, HEAD first. */
  refs: [string, string][]
  pack: Uint8Array
  /** Further capabilities. */
  capabilities?: string
}

const line = (text: string | Uint8Array) => {
  const bytes = typeof text === 'string' ? utf8(text) : text
  return joinBytes([utf8((bytes.byteLength + 4).toString(16).padStart(4, '0')), bytes])
}
const flush = utf8('0000')

export const HOSTILE_URL = 'https://git.example.com/evil.git'

export function hostileRemotes(answers: Answers): GitRemotes {
  return {
    policy: CLOSED,
    chosenBy: STRANGER,
    fetch: async (input, init) => {
      const isPack = init?.method === 'POST'
      const type = isPack ? 'application/x-git-upload-pack-result' : 'application/x-git-upload-pack-advertisement'
      const body = isPack ? packAnswer(answers.pack) : advertisement(answers)
      return String(input).startsWith(HOSTILE_URL)
        ? new Response(body, { headers: { 'content-type': type } })
        : new Response('elsewhere', { status: 404 })
    },
  }
}

function advertisement({ refs, capabilities = 'symref=HEAD:refs/heads/main' }: Answers): Uint8Array {
  const lines = refs.map(([name, oid], i) =>
    line(`${oid} ${name}${i === 0 ? `\0side-band-64k ofs-delta shallow ${capabilities}` : ''}\n`),
  )
  return joinBytes([line('# service=git-upload-pack\n'), flush, ...lines, flush])
}

function packAnswer(pack: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = []
  for (let at = 0; at < pack.byteLength; at += 60_000)
    parts.push(line(joinBytes([Uint8Array.of(1), pack.subarray(at, at + 60_000)])))
  return joinBytes([line('NAK\n'), ...parts, flush])
}

export interface PackedObject {
  /** 1 commit, 2 tree, 3 blob, 6 delta by offset, 7 delta by id. */
  type: number
  bytes: Uint8Array
  /** What the head says, if not the truth. */
  sizeBytes?: number
  /** Between head and contents: where the base of a delta is. */
  base?: Uint8Array
}

export function packOf(
  objects: readonly PackedObject[],
  { count = objects.length, tail = utf8('') }: { count?: number; tail?: Uint8Array } = {},
): Uint8Array {
  const head = new Uint8Array(12)
  head.set(utf8('PACK'))
  new DataView(head.buffer).setUint32(4, 2)
  new DataView(head.buffer).setUint32(8, count)
  const entries = objects.flatMap(({ type, bytes, sizeBytes = bytes.byteLength, base = new Uint8Array() }) => [
    headOf(type, sizeBytes),
    base,
    new Uint8Array(deflateSync(bytes)),
  ])
  const body = joinBytes([head, ...entries, tail])
  return joinBytes([body, new Uint8Array(createHash('sha1').update(body).digest())])
}

function headOf(type: number, sizeBytes: number): Uint8Array {
  const bytes = [(type << 4) | (sizeBytes & 15)]
  for (let left = Math.floor(sizeBytes / 16); left > 0; left = Math.floor(left / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80
    bytes.push(left & 0x7f)
  }
  return Uint8Array.from(bytes)
}

/** A size as deltas write it. */
export function sizeBytesOf(size: number): number[] {
  const bytes = [size & 0x7f]
  for (let left = Math.floor(size / 128); left > 0; left = Math.floor(left / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80
    bytes.push(left & 0x7f)
  }
  return bytes
}
