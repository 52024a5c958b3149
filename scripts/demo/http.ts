/** Sends a request and returns the JSON response; an unexpected status ends the demo with the response's text. */
export async function ask<T>(url: string, init: RequestInit & { json?: unknown; expect?: number } = {}): Promise<T> {
  const { json, expect = 200, ...rest } = init
  const body = json === undefined ? {} : { body: JSON.stringify(json), headers: { 'content-type': 'application/json' } }
  const response = await fetch(url, { ...rest, ...body, ...(json === undefined ? {} : { method: 'POST' }) })
  const text = await response.text()
  if (response.status !== expect) throw new Error(`${response.status} from ${url}: ${text.slice(0, 500)}`)
  return JSON.parse(text) as T
}
