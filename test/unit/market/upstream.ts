import { fromBase64 } from '../../../src/lib/crypto.ts'
import type { Fetch } from '../../../src/lib/http-client.ts'
import { type Instrument, parseCode } from '../../../src/market/instruments.ts'
import { QUOTE_LINES } from '../../fixtures/market/tencent-quotes.ts'

type Reply = Response | 'hang' | Error

/** A stand-in for the outside: answers each address by the first rule that it contains, and remembers what was asked. */
export function upstream(rules: Record<string, () => Reply>): { fetch: Fetch; asked: string[] } {
  const asked: string[] = []
  const fetch: Fetch = async (url) => {
    asked.push(url)
    const rule = Object.keys(rules).find((part) => url.includes(part))
    const reply = rule === undefined ? new Error(`unexpected request: ${url}`) : rules[rule]?.()
    if (reply instanceof Response) return reply
    if (reply instanceof Error) throw reply
    return new Promise<Response>(() => {})
  }
  return { fetch, asked }
}

export const json = (value: unknown) => () => Response.json(value)
export const status = (code: number, headers: Record<string, string> = {}) => {
  return () => new Response('no', { status: code, headers })
}
export const html = () =>
  new Response('<html><title>One moment</title></html>', { headers: { 'content-type': 'text/html' } })
export const hang = () => 'hang' as const
export const quoteLine = (name: string) => () => new Response(fromBase64(QUOTE_LINES[name] ?? '') ?? '')

/** The same line with some fields replaced; its text turns into UTF-8, so only for tests that do not read names. */
export function changedLine(name: string, changes: Record<number, string>): () => Response {
  const bytes = fromBase64(QUOTE_LINES[name] ?? '') ?? new Uint8Array()
  const [head = '', body = ''] = new TextDecoder('gbk').decode(bytes).split('"')
  const fields = body.split('~')
  for (const [index, value] of Object.entries(changes)) fields[Number(index)] = value
  return () => new Response(`${head}"${fields.join('~')}";`)
}

export function instrument(code: string): Instrument {
  const parsed = parseCode(code)
  if (!parsed.ok) throw new Error(`${code}: ${parsed.reason}`)
  return parsed.instrument
}
