// A long text that stays the same while an isolate lives, kept as compressed bytes: encoding a megabyte for each
// answer, and sending it uncompressed, takes the thread longer than the rest of the request. Who has it already is not sent it again.

import { createHash } from 'node:crypto'

type Head = { request: Request; contentType: string }
type KeptBytes = { plain: Uint8Array; tag: string }

export class KeptText {
  #kept: KeptBytes | null = null
  #packed: Uint8Array | null = null

  /** `make` is called once, and only before the first answer. */
  async answer(make: () => string, { request, contentType }: Head): Promise<Response> {
    this.#kept ??= kept(make())
    const { plain, tag } = this.#kept
    const headers = new Headers({ etag: tag, 'cache-control': 'no-cache', vary: 'accept-encoding' })
    if (isTagIn(request.headers.get('if-none-match'), tag)) return new Response(null, { status: 304, headers })
    headers.set('content-type', contentType)
    if (!takesGzip(request.headers.get('accept-encoding'))) return new Response(plain, { headers })
    // Two concurrent first requests both compress it: a request must not await a promise that another request has
    // created.
    this.#packed ??= await gzipped(plain)
    headers.set('content-encoding', 'gzip')
    return new Response(this.#packed, { headers, encodeBody: 'manual' })
  }
}

/** One tag for the text and its packed form, so a weak one. */
function kept(text: string): KeptBytes {
  const plain = new TextEncoder().encode(text)
  return { plain, tag: `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"` }
}

/** As RFC 9110 compares them: weak and strong are the same. */
function isTagIn(known: string | null, tag: string): boolean {
  const opaque = (text: string) => text.trim().replace(/^W\//, '')
  return (known ?? '').split(',').some((one) => one.trim() === '*' || opaque(one) === opaque(tag))
}

/** An explicit `gzip` whose weight is not 0. */
export function takesGzip(accepted: string | null): boolean {
  return (accepted ?? '').split(',').some((one) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$)[\d.]+\s*)?$/i.test(one))
}

async function gzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const packed = new Response(bytes).body?.pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(packed).arrayBuffer())
}
