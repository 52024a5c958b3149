// `curl` of the shell. Every request passes the guarded door: no private addresses, bounded in size and time.

import { type AddressPolicy, STRANGER } from '../../../lib/address-policy.ts'
import { joinBytes } from '../../../lib/bytes.ts'
import { DoorError, type DoorLimits, guardedFetch } from '../../../lib/guarded-fetch.ts'
import { isFileError } from '../../../workspace/file-system.ts'
import { resolvePath } from '../../../workspace/paths.ts'
import { shellMessage } from '../interpreter-command.ts'
import type { ShellCall, ShellResult } from '../shell-extensions.ts'
import { readOptions } from './options.ts'

export type NetworkOptions = { policy: AddressPolicy; fetch?: typeof fetch; limits?: Partial<DoorLimits> }

const MAX_BYTES = 16 * 1024 * 1024
const DEFAULT_LIMITS: Partial<DoorLimits> = { maxBytes: MAX_BYTES, headersTimeoutMs: 30_000, totalTimeoutMs: 60_000 }
const USER_AGENT = 'curl/8 (Bellwether)'

const EXIT = {
  usage: 2,
  malformed: 3,
  refused: 7,
  httpError: 22,
  write: 23,
  read: 26,
  timeout: 28,
  tooLarge: 63,
} as const

const SPEC = {
  flags: {
    ...{
      '-s': 'silent',
      '--silent': 'silent',
      '-S': 'show-error',
      '--show-error': 'show-error',
      '-f': 'fail',
      '--fail': 'fail',
    },
    ...{
      '-L': 'location',
      '--location': 'location',
      '-i': 'include',
      '--include': 'include',
      '-I': 'head',
      '--head': 'head',
    },
    ...{
      '-O': 'remote-name',
      '--remote-name': 'remote-name',
      '-G': 'get',
      '--get': 'get',
      '-v': 'verbose',
      '--verbose': 'verbose',
    },
    ...{
      '--compressed': 'compressed',
      '--create-dirs': 'create-dirs',
      '--no-progress-meter': 'silent',
      '--fail-with-body': 'fail-with-body',
    },
  },
  values: {
    ...{
      '-X': 'request',
      '--request': 'request',
      '-H': 'header',
      '--header': 'header',
      '-o': 'output',
      '--output': 'output',
    },
    ...{
      '-d': 'data',
      '--data': 'data',
      '--data-ascii': 'data',
      '--data-raw': 'data-raw',
      '--data-binary': 'data-binary',
    },
    ...{ '--data-urlencode': 'data-urlencode', '--json': 'json', '-u': 'user', '--user': 'user', '-A': 'user-agent' },
    ...{
      '--user-agent': 'user-agent',
      '-e': 'referer',
      '--referer': 'referer',
      '-m': 'max-time',
      '--max-time': 'max-time',
    },
    ...{
      '--connect-timeout': 'connect-timeout',
      '-w': 'write-out',
      '--write-out': 'write-out',
      '-b': 'cookie',
      '--cookie': 'cookie',
    },
    ...{ '--retry': 'retry', '--url': 'url', '-T': 'upload-file', '--upload-file': 'upload-file' },
  },
} as const

class CurlError extends Error {
  readonly exitCode: number

  constructor(exitCode: number, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

type Wanted = {
  flags: ReadonlySet<string>
  values: ReadonlyMap<string, string[]>
  call: ShellCall
  options: NetworkOptions
}

export async function runCurl(args: readonly string[], call: ShellCall, options: NetworkOptions): Promise<ShellResult> {
  const read = readOptions(args, SPEC)
  if (!read.ok) return failure(EXIT.usage, `${read.problem}`)
  const urls = [...(read.values.get('url') ?? []), ...read.operands]
  if (urls.length === 0) return failure(EXIT.usage, 'no URL specified')
  const parts: Uint8Array[] = []
  const result = { stdout: '', stderr: '', exitCode: 0 }
  for (const [i, url] of urls.entries()) {
    try {
      const { shown, stderr, exitCode } = await transfer(url, i, { ...read, call, options })
      parts.push(shown)
      result.stderr += stderr
      result.exitCode = exitCode
    } catch (error) {
      if (call.signal.aborted) throw error
      const { exitCode, message } = asFailure(error)
      result.exitCode = exitCode
      if (!read.flags.has('silent') || read.flags.has('show-error')) result.stderr += `curl: (${exitCode}) ${message}\n`
    }
  }
  return { ...result, bytes: joinBytes(parts) }
}

type Transferred = { shown: Uint8Array; stderr: string; exitCode: number }

async function transfer(url: string, index: number, wanted: Wanted): Promise<Transferred> {
  const { flags, values } = wanted
  const { address, init } = await requestOf(url, wanted)
  const response = await ask(address, init, wanted)
  const body = new Uint8Array(await response.arrayBuffer())
  const hasFailed = response.status >= 400 && (flags.has('fail') || flags.has('fail-with-body'))
  const saying = `The requested URL returned error: ${response.status}`
  if (hasFailed && flags.has('fail')) throw new CurlError(EXIT.httpError, saying)
  const head = headOf(response)
  const shown = flags.has('include') || flags.has('head') ? joinBytes([encode(head), body]) : body
  const file = values.get('output')?.[index] ?? (flags.has('remote-name') ? remoteName(address) : '-')
  if (file !== '-') await save(file, shown, wanted)
  const summary = (values.get('write-out') ?? []).map((format) => writeOut(format, { response, body })).join('')
  return {
    shown: joinBytes([...(file === '-' ? [shown] : []), encode(summary)]),
    stderr:
      (flags.has('verbose') ? `> ${init.method} ${address}\n${head}` : '') +
      (hasFailed ? `curl: (${EXIT.httpError}) ${saying}\n` : ''),
    exitCode: hasFailed ? EXIT.httpError : 0,
  }
}

function headOf({ status, statusText, headers }: Response): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\n`)
  return `HTTP/1.1 ${status} ${statusText}\n${lines.join('')}\n`
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

async function ask(address: string, init: RequestInit, { flags, values, call, options }: Wanted): Promise<Response> {
  const seconds = Number(values.get('max-time')?.at(-1) ?? 0)
  const limits = { ...DEFAULT_LIMITS, ...options.limits, ...(seconds > 0 ? { totalTimeoutMs: seconds * 1000 } : {}) }
  const { policy, fetch } = options
  const showsRedirects = !flags.has('location')
  const door = { policy, chosenBy: STRANGER, limits, showsRedirects, ...(fetch && { fetch }) }
  return guardedFetch(address, { ...init, signal: call.signal }, door)
}

async function requestOf(
  url: string,
  wanted: Wanted,
): Promise<{ address: string; init: RequestInit & { method: string } }> {
  const { flags, values, call } = wanted
  const headers = new Headers({ accept: '*/*', 'user-agent': values.get('user-agent')?.at(-1) ?? USER_AGENT })
  const data = await dataOf(wanted)
  const upload = values.get('upload-file')?.at(-1)
  const body = upload === undefined ? data : await fileBytes(upload, call)
  if (data !== null)
    headers.set('content-type', values.has('json') ? 'application/json' : 'application/x-www-form-urlencoded')
  if (values.has('json')) headers.set('accept', 'application/json')
  setHeaders(headers, values)
  const written = /^[a-z][a-z0-9+.-]*:/i.test(url) ? url : `http://${url}`
  const inQuery = flags.has('get') && data !== null
  const address = inQuery ? `${written}${written.includes('?') ? '&' : '?'}${new TextDecoder().decode(data)}` : written
  const fallback = flags.has('head')
    ? 'HEAD'
    : upload !== undefined
      ? 'PUT'
      : body !== null && !inQuery
        ? 'POST'
        : 'GET'
  const method = values.get('request')?.at(-1)?.toUpperCase() ?? fallback
  if (!/^[A-Z]+$/.test(method)) throw new CurlError(EXIT.usage, 'the method is malformed')
  const sends = body !== null && !inQuery && method !== 'GET' && method !== 'HEAD'
  // Sent from a copy: who else holds these bytes may go on writing into them.
  return { address, init: { method, headers, ...(sends ? { body: body.slice() } : {}) } }
}

function setHeaders(headers: Headers, values: ReadonlyMap<string, string[]>): void {
  const cookie = values.get('cookie')?.at(-1)
  const referer = values.get('referer')?.at(-1)
  const user = values.get('user')?.at(-1)
  if (cookie?.includes('=')) headers.set('cookie', cookie)
  if (referer !== undefined) headers.set('referer', referer)
  if (user !== undefined) headers.set('authorization', `Basic ${btoa(String.fromCharCode(...encode(user)))}`)
  for (const line of values.get('header') ?? []) {
    const [, name = '', value = ''] = /^([^:;]+)[:;]\s*(.*)$/.exec(line) ?? []
    if (name === '') throw new CurlError(EXIT.usage, 'a header has to be "Name: value"')
    if (/^host$/i.test(name.trim()))
      throw new CurlError(EXIT.usage, 'the header Host is that of the address, and no other')
    if (value === '') headers.delete(name)
    else headers.set(name, value)
  }
}

/** Null when there is nothing to send. */
async function dataOf({ values, call }: Wanted): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = []
  for (const kind of ['data', 'data-raw', 'data-binary', 'data-urlencode', 'json'] as const) {
    for (const value of values.get(kind) ?? []) {
      if (parts.length > 0 && kind !== 'json') parts.push(encode('&'))
      parts.push(await datum(kind, value, call))
    }
  }
  return parts.length === 0 ? null : joinBytes(parts)
}

async function datum(kind: string, value: string, call: ShellCall): Promise<Uint8Array> {
  if (kind === 'data-urlencode') {
    const [, name = '', text = value] = /^([^=]*)=([\s\S]*)$/.exec(value) ?? []
    return encode(`${name === '' ? '' : `${name}=`}${encodeURIComponent(text)}`)
  }
  if (kind === 'data-raw' || !value.startsWith('@')) return encode(value)
  const bytes = await fileBytes(value.slice(1), call)
  return kind === 'data' ? encode(new TextDecoder().decode(bytes).replace(/[\r\n]/g, '')) : bytes
}

async function fileBytes(name: string, call: ShellCall): Promise<Uint8Array> {
  const { fs, cwd } = call
  if (name === '-') return call.stdinBytes
  try {
    return await fs.read(resolvePath(cwd, name))
  } catch (error) {
    if (isFileError(error)) throw new CurlError(EXIT.read, `cannot read '${name}'`)
    throw error
  }
}

function remoteName(address: string): string {
  const name = new URL(address).pathname.split('/').at(-1) ?? ''
  // As it is written: nothing in it is decoded into a slash.
  if (name === '' || name === '.' || name === '..') throw new CurlError(EXIT.write, 'the URL has no file name in it')
  return name
}

async function save(name: string, bytes: Uint8Array, { flags, call: { fs, cwd } }: Wanted): Promise<void> {
  const path = resolvePath(cwd, name)
  try {
    if (flags.has('create-dirs')) fs.makeDirectory(path.slice(0, path.lastIndexOf('/')) || '/', { recursive: true })
    if (path !== '/dev/null') await fs.write(path, bytes)
  } catch (error) {
    if (isFileError(error)) throw new CurlError(EXIT.write, `cannot write '${name}': ${shellMessage(error)}`)
    throw error
  }
}

function writeOut(format: string, { response, body }: { response: Response; body: Uint8Array }): string {
  const known: Record<string, string> = {
    http_code: String(response.status).padStart(3, '0'),
    response_code: String(response.status).padStart(3, '0'),
    size_download: String(body.byteLength),
    content_type: response.headers.get('content-type') ?? '',
    url_effective: response.url,
  }
  return format
    .replace(/%\{(\w+)\}/g, (_, name: string) => (Object.hasOwn(known, name) ? (known[name] ?? '') : ''))
    .replace(/\\n/g, '\n')
    .replace(/\\t/g, '\t')
}

const DOOR_EXITS = {
  refused: EXIT.refused,
  redirect: 47,
  'too-large': EXIT.tooLarge,
  timeout: EXIT.timeout,
  network: EXIT.refused,
} as const

function asFailure(error: unknown): { exitCode: number; message: string } {
  if (error instanceof CurlError) return error
  if (error instanceof DoorError) return { exitCode: DOOR_EXITS[error.reason], message: error.message }
  if (error instanceof TypeError) return { exitCode: EXIT.malformed, message: 'the request is malformed' }
  throw error
}

function failure(exitCode: number, message: string): ShellResult {
  return { stdout: '', stderr: `curl: ${message}\n`, exitCode }
}
