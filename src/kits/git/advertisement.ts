// A remote's first answer: its refs and its capabilities.

import { textOf } from './bytes.ts'
import { fatal } from './failure.ts'
import { NULL_ID } from './objects.ts'
import { packetsOf } from './packet-lines.ts'
import { isRefName } from './ref-names.ts'

const MAX_REFS_BYTES = 16 * 1024 * 1024
const MAX_REFS = 50_000

export interface Advertisement {
  /** By full name, in the remote's order, including `HEAD`. */
  refs: ReadonlyMap<string, string>
  /** The targets of annotated tags. */
  peeled: ReadonlyMap<string, string>
  capabilities: ReadonlySet<string>
  /** The branch that HEAD names; null if there is none. */
  head: string | null
}

/** Names of refs become paths of files, so an invalid one fails the whole operation. */
export async function readAdvertisement(answer: AsyncIterable<Uint8Array>): Promise<Advertisement> {
  const refs = new Map<string, string>()
  const peeled = new Map<string, string>()
  let capabilities: string[] = []
  for await (const line of packetsOf(bounded(answer))) {
    const text = textOf(line ?? new Uint8Array()).replace(/\n$/, '')
    if (text.startsWith('ERR ')) throw fatal(`remote error: ${text.slice(4)}`)
    const [, oid = '', name = '', extra] = /^([0-9a-f]{40}) ([^\0]*)(?:\0(.*))?$/s.exec(text) ?? []
    if (name === '') continue
    if (extra !== undefined) capabilities = extra.split(' ').filter((word) => word !== '')
    if (name === 'capabilities^{}') continue
    const plain = name.replace(/\^\{\}$/, '')
    assertRef(plain)
    if (oid === NULL_ID) throw fatal('the remote has a ref that names nothing')
    if (plain === name) refs.set(name, oid)
    else peeled.set(plain, oid)
    if (refs.size > MAX_REFS) throw tooMany()
  }
  return { refs, peeled, capabilities: new Set(capabilities), head: headOf(refs, capabilities) }
}

async function* bounded(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let sizeBytes = 0
  for await (const part of answer) {
    sizeBytes += part.byteLength
    if (sizeBytes > MAX_REFS_BYTES) throw tooMany()
    yield part
  }
}

function tooMany() {
  return fatal('the remote has more refs than can be handled here')
}

function assertRef(ref: string): void {
  if (ref === 'HEAD' || ref === '.have' || (ref.startsWith('refs/') && isRefName(ref))) return
  throw fatal('the remote has a ref with an unusable name')
}

/** For hosts that do not name HEAD's branch, it is found by its commit. */
function headOf(refs: ReadonlyMap<string, string>, capabilities: readonly string[]): string | null {
  const links = capabilities.map((word) => /^symref=([^:]*):(.*)$/s.exec(word)).filter((link) => link !== null)
  for (const [, from = '', to = ''] of links) for (const name of [from, to]) assertRef(name)
  const named = links.find(([, from]) => from === 'HEAD')?.[2]
  if (named !== undefined) return named
  const oid = refs.get('HEAD')
  return [...refs].find(([name, at]) => name.startsWith('refs/heads/') && at === oid)?.[0] ?? null
}

/** The ref that a short name refers to, by git's rules; null if there is none. */
export function remoteRefOf({ refs }: Advertisement, name: string): string | null {
  const places = [name, `refs/${name}`, `refs/tags/${name}`, `refs/heads/${name}`, `refs/remotes/${name}`]
  return places.find((place) => refs.has(place)) ?? null
}
