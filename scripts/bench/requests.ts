import type { Side } from './stage.ts'

type RequestSpec = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: string }

/** The bytes of a request as a program would send them. `key` is the API key, where one is needed. */
export function rawRequest({ port }: Side, { method, path, body }: RequestSpec, key: string | null): string {
  const content =
    body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${keyHeader(key)}${content}\r\n${body ?? ''}`
}

export function keyHeader(key: string | null): string {
  return key === null ? '' : `X-Session-API-Key: ${key}\r\n`
}
