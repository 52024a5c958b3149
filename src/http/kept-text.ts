// A long text that stays the same while an isolate lives, kept as compressed bytes: encoding a megabyte for each
// answer, and sending it uncompressed, takes the thread longer than the rest of the request.

type Head = { request: Request; contentType: string }

export class KeptText {
  #plain: Uint8Array | null = null
  #packed: Uint8Array | null = null

  /** `make` is called once, and only before the first answer. */
  async answer(make: () => string, { request, contentType }: Head): Promise<Response> {
    const plain = this.#plain ?? new TextEncoder().encode(make())
    this.#plain = plain
    const headers = new Headers({ 'content-type': contentType, vary: 'accept-encoding' })
    if (!takesGzip(request.headers.get('accept-encoding'))) return new Response(plain, { headers })
    // Two concurrent first requests both compress it: a request must not await a promise that another request has
    // created.
    this.#packed ??= await gzipped(plain)
    headers.set('content-encoding', 'gzip')
    return new Response(this.#packed, { headers, encodeBody: 'manual' })
  }
}

/** An explicit `gzip` whose weight is not 0. */
export function takesGzip(accepted: string | null): boolean {
  return (accepted ?? '').split(',').some((one) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$)[\d.]+\s*)?$/i.test(one))
}

async function gzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const packed = new Response(bytes).body?.pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(packed).arrayBuffer())
}
