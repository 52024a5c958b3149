// The request from the form, and the same as a curl command.

import type { Endpoint, Parameter } from './document.ts'

export type Filled = {
  /** By parameter, with the key from `placeOf`. */
  values: Record<string, string>
  body: string
  files: File[]
  /** Empty if the browser's own session or the local mode is enough. */
  key: string
}

export type Answer = {
  status: number
  statusText: string
  ms: number
  headers: [string, string][]
  body: { kind: 'text'; text: string } | { kind: 'file'; blob: Blob; name: string }
}

/** The rest of a longer answer is not rendered. */
export const MAX_SHOWN = 200_000

export const placeOf = ({ in: place, name }: Parameter): string => `${place}:${name}`

export const bodyTypeOf = ({ operation }: Endpoint): string | undefined =>
  Object.keys(operation.requestBody?.content ?? {})[0]

/** The initial values of the form: required parameters and the body from the document's examples. */
export function firstFilling(endpoint: Endpoint): Filled {
  const parameters = endpoint.operation.parameters ?? []
  const asked = parameters.filter(({ required }) => required === true)
  const type = bodyTypeOf(endpoint)
  const example = type === undefined ? undefined : endpoint.operation.requestBody?.content[type]?.example
  return {
    values: Object.fromEntries(asked.map((parameter) => [placeOf(parameter), exampleText(parameter)])),
    body: example === undefined || type !== 'application/json' ? '' : JSON.stringify(example, null, 2),
    files: [],
    key: '',
  }
}

function exampleText({ example, schema }: Parameter): string {
  const value = example ?? schema?.example ?? schema?.default ?? ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The path with its parameters and query, beginning with `/`. */
export function targetOf({ path, operation }: Endpoint, { values }: Filled): string {
  const parameters = operation.parameters ?? []
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[`path:${name}`] ?? ''))
  const query = new URLSearchParams(
    parameters.flatMap((parameter): [string, string][] => {
      const value = values[placeOf(parameter)] ?? ''
      return parameter.in === 'query' && value !== '' ? [[parameter.name, value]] : []
    }),
  )
  return query.size === 0 ? filled : `${filled}?${query}`
}

function headersOf(endpoint: Endpoint, { values, key, body }: Filled): [string, string][] {
  const named = (endpoint.operation.parameters ?? []).flatMap((parameter): [string, string][] => {
    const value = values[placeOf(parameter)] ?? ''
    return parameter.in === 'header' && value !== '' ? [[parameter.name, value]] : []
  })
  const type: [string, string][] =
    bodyTypeOf(endpoint) === 'application/json' && body !== '' ? [['Content-Type', 'application/json']] : []
  return [...named, ...type, ...(key === '' ? [] : ([['X-Session-API-Key', key]] satisfies [string, string][]))]
}

/** For a POSIX shell. */
export function curlLine(endpoint: Endpoint, filled: Filled, origin: string): string {
  const words = ['curl']
  if (endpoint.method !== 'GET') words.push('-X', endpoint.method)
  for (const [name, value] of headersOf(endpoint, filled)) words.push('-H', quoted(`${name}: ${value}`))
  if (bodyTypeOf(endpoint) === 'multipart/form-data') {
    for (const { name } of filled.files) words.push('-F', quoted(`files=@${name}`))
  } else if (filled.body !== '') words.push('--data', quoted(filled.body))
  return [...words, quoted(origin + targetOf(endpoint, filled))].join(' ')
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * Sends the request and reads the answer, an event stream until `signal` ends it. @param onText gets the text so far of
 * an event stream
 */
export async function send(
  endpoint: Endpoint,
  filled: Filled,
  signal: AbortSignal,
  onText: (text: string) => void,
): Promise<Answer> {
  const began = performance.now()
  const response = await fetch(targetOf(endpoint, filled), {
    method: endpoint.method,
    headers: headersOf(endpoint, filled),
    body: bodyOf(endpoint, filled),
    signal,
  })
  const type = response.headers.get('content-type') ?? ''
  const body = type.startsWith('text/event-stream')
    ? { kind: 'text' as const, text: await streamText(response, onText) }
    : /^(text\/|image\/svg|application\/(problem\+)?json)|^$/.test(type)
      ? { kind: 'text' as const, text: pretty(await response.text(), type) }
      : { kind: 'file' as const, blob: await response.blob(), name: fileName(response, endpoint) }
  const { status, statusText } = response
  return { status, statusText, ms: Math.round(performance.now() - began), headers: [...response.headers], body }
}

function bodyOf(endpoint: Endpoint, { body, files }: Filled): BodyInit | null {
  if (bodyTypeOf(endpoint) !== 'multipart/form-data') return body === '' ? null : body
  const form = new FormData()
  for (const file of files) form.append('files', file, file.name)
  return form
}

async function streamText(response: Response, onText: (text: string) => void): Promise<string> {
  let text = ''
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (;;) {
      const part = await reader?.read()
      if (part === undefined || part.done) return text
      text = (text + part.value).slice(-MAX_SHOWN)
      onText(text)
    }
  } catch (error) {
    // The user ended it: the received text is the answer.
    if (error instanceof DOMException && error.name === 'AbortError') return text
    throw error
  }
}

function pretty(text: string, type: string): string {
  if (!type.includes('json')) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

function fileName(response: Response, { operation }: Endpoint): string {
  const named = /filename="?([^";]+)/.exec(response.headers.get('content-disposition') ?? '')
  return named?.[1] ?? `${operation.operationId}.bin`
}
