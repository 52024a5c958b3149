// Generates requests from the OpenAPI document: valid and invalid ones, in sequences that use data of earlier responses. Every response must
// come in time, have a declared status, and match its schema.

import { faultsOf, type JsonSchema } from '../../helpers/json-schema.ts'
import type { Random } from '../broken-requests.ts'
import { below, type Components, pick, Values } from './values.ts'

type Parameter = { name: string; in: string; required?: boolean; schema: JsonSchema }
type Operation = {
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, { schema: JsonSchema }> }
  responses: Record<string, { content?: Record<string, { schema: JsonSchema }> }>
}
export type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Components }
}
type Call = { method: string; path: string; operation: Operation }

const BROKEN_SHARE = 0.45
/** Texts of 500 responses that the interface requires although the service itself did not fail. */
const FORESEEN = /Error opening file|Not a git repository|^\{"error":"analysis_failed"/
/** If another request deletes an export during its download, the rest never arrives; this is documented. */
const MAY_BREAK_OFF = 'GET /api/export'
/** How long a stream is read. */
const LISTEN_MS = 150

/** Operations that create resources for others: they run more often. */
const BEGINNINGS =
  /^POST \/api\/(conversations|v1\/(alerts\/rules|watchlists|portfolio\/accounts|schedules|channels|screens?))$/

/** `patienceMs`: a request without a response after this time counts as hanging. */
type Options = { random: Random; key: string | null; patienceMs: number }

export type FuzzReport = {
  readonly sent: Map<string, number>
  readonly statuses: Map<number, number>
  readonly faults: string[]
}

export class Fuzz {
  readonly told: FuzzReport = { sent: new Map(), statuses: new Map(), faults: [] }
  readonly #url: string
  readonly #random: Random
  readonly #patienceMs: number
  readonly #values: Values
  readonly #calls: readonly Call[]
  readonly #components: Components
  readonly #headers: Readonly<Record<string, string>>

  constructor(url: string, document: Document, { random, key, patienceMs }: Options) {
    this.#url = url
    this.#patienceMs = patienceMs
    this.#random = random
    this.#components = document.components.schemas
    this.#values = new Values(random, this.#components)
    this.#headers = key === null ? {} : { 'x-session-api-key': key }
    this.#calls = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    )
  }

  get values(): Values {
    return this.#values
  }

  /** Sends this number of requests, several in parallel. */
  async run(count: number, atOnce: number): Promise<void> {
    let left = count
    const worker = async () => {
      while (left > 0) {
        left -= 1
        await this.#one()
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
  }

  async #one(): Promise<void> {
    const call = this.#choice()
    const name = `${call.method} ${call.path}`
    this.told.sent.set(name, (this.told.sent.get(name) ?? 0) + 1)
    const { path, init } = this.#request(call)
    const shown = `${call.method} ${path.slice(0, 300)} ${typeof init.body === 'string' ? init.body.slice(0, 600) : ''}`
    const startedAt = performance.now()
    let stage = 'no answer'
    try {
      const response = await fetch(`${this.#url}${path}`, { ...init, signal: AbortSignal.timeout(this.#patienceMs) })
      stage = `${response.status}, and no end`
      const { status } = response
      this.told.statuses.set(status, (this.told.statuses.get(status) ?? 0) + 1)
      for (const fault of await this.#faults(call, response)) this.#fault(`${fault}\n    ${shown}`)
    } catch (error) {
      if (name === MAY_BREAK_OFF && /terminated/.test(String(error))) return
      const ms = Math.round(performance.now() - startedAt)
      this.#fault(`${name}: ${stage} after ${ms} ms: ${String(error)}\n    ${shown}`)
    }
  }

  #fault(text: string): void {
    this.told.faults.push(text)
  }

  #choice(): Call {
    const random = this.#random
    const call = pick(random, this.#calls)
    if (random() > 0.1) return call
    const beginnings = this.#calls.filter(({ method, path }) => BEGINNINGS.test(`${method} ${path}`))
    return beginnings.length === 0 ? call : pick(random, beginnings)
  }

  #request({ method, path, operation }: Call): { path: string; init: RequestInit } {
    const random = this.#random
    const isBroken = random() < BROKEN_SHARE
    const parameters = operation.parameters ?? []
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(this.#pathValue(name, isBroken)))
    const query = new URLSearchParams()
    for (const { name, in: place, required, schema } of parameters) {
      if (place !== 'query' || !(required || random() < 0.35)) continue
      const value = this.#values.valid(schema, name)
      const sent = isBroken && random() < 0.4 ? this.#values.broken(value) : value
      query.append(name, typeof sent === 'string' ? wellFormed(sent) : String(JSON.stringify(sent)).slice(0, 2_000))
    }
    const url = `${filled}${query.size === 0 ? '' : `?${query}`}`
    const { body, type } = this.#body(operation, isBroken)
    const headers = {
      ...this.#headers,
      ...this.#ownHeaders(parameters, isBroken),
      ...(type === null ? {} : { 'content-type': type }),
    }
    const canCarry = method !== 'GET' && method !== 'HEAD' && body !== null
    return { path: url, init: { method, headers, redirect: 'manual', ...(canCarry ? { body } : {}) } }
  }

  #ownHeaders(parameters: readonly Parameter[], isBroken: boolean): Record<string, string> {
    const random = this.#random
    const sent = parameters.filter(({ in: place, required }) => place === 'header' && (required || random() < 0.35))
    return Object.fromEntries(
      sent.map(({ name, schema }) => {
        const value = this.#values.valid(schema, name)
        return [name, asHeader(String(isBroken ? this.#values.broken(value) : value))]
      }),
    )
  }

  #pathValue(name: string, isBroken: boolean): string {
    if (isBroken && this.#random() < 0.3) return wellFormed(String(this.#values.broken('a'))).slice(0, 200) || 'x'
    return wellFormed(this.#values.idFor(name)) || 'x'
  }

  #body({ requestBody }: Operation, isBroken: boolean): { body: BodyInit | null; type: string | null } {
    const random = this.#random
    const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
    if (type === undefined || media === undefined) return { body: null, type: null }
    if (type === 'multipart/form-data') return { body: this.#form(isBroken), type: null }
    const value = this.#values.valid(media.schema)
    if (!isBroken || random() < 0.2) return { body: JSON.stringify(value), type: 'application/json' }
    const text = JSON.stringify(this.#values.broken(value)) ?? ''
    if (random() < 0.1) return { body: text.slice(0, below(random, text.length + 1)), type: 'application/json' }
    return { body: text, type: random() < 0.95 ? 'application/json' : pick(random, ['text/plain', 'text/xml', 'x']) }
  }

  #form(isBroken: boolean): FormData {
    const random = this.#random
    const form = new FormData()
    for (let left = below(random, 4); left >= 0; left--) {
      const name = isBroken ? String(this.#values.broken('a.txt')).slice(0, 300) : `file-${below(random, 20)}.txt`
      const field = isBroken && random() < 0.3 ? 'other' : pick(random, ['files', 'file'])
      form.append(field, new File(['x'.repeat(below(random, 5_000))], wellFormed(name)))
    }
    return form
  }

  async #faults({ method, path, operation }: Call, response: Response): Promise<string[]> {
    const place = `${method} ${path} ${response.status}`
    const reply = operation.responses[response.status]
    const type = response.headers.get('content-type')?.split(';')[0] ?? null
    if (type === 'text/event-stream') {
      await listen(response)
      return reply === undefined ? [`${place} is not declared`] : []
    }
    const text = await response.text()
    if (reply === undefined) return [`${place} is not declared: ${text.slice(0, 300)}`]
    // Every operation declares a 500 for unexpected errors; here it would be an expected one.
    if (response.status === 500 && !FORESEEN.test(text)) return [`${place}: ${text.slice(0, 300)}`]
    if (reply.content === undefined)
      return type === null || text === '' ? [] : [`${place} is declared without a body: ${type}`]
    const media = type === null ? undefined : reply.content[type]
    if (media === undefined) return [`${place} is declared as ${Object.keys(reply.content)}, not as ${type}`]
    if (type !== 'application/json') return []
    const value: unknown = JSON.parse(text)
    if (response.ok) this.#values.learn(value)
    return faultsOf(value, media.schema, { path: place, components: this.#components })
  }
}

/** Values that cannot be sent in a URL or a form are not tests of the service. */
const wellFormed = (text: string): string => text.toWellFormed().slice(0, 2_000)

/** The part of a value that a header can contain. */
const asHeader = (text: string): string => text.replace(/[^\x21-\x7e]/g, '').slice(0, 2_000)

/** The beginning of a stream, which would not end by itself. */
async function listen(response: Response): Promise<void> {
  const reader = response.body?.getReader()
  if (reader === undefined) return
  const over = new Promise<void>((resolve) => setTimeout(resolve, LISTEN_MS))
  await Promise.race([reader.read(), over])
  await reader.cancel()
}
