// `curl` of the shell. Every request uses the guarded fetch: no private addresses, with limits of size and time.

import { STRANGER } from '../../../lib/address-policy.ts'
import { joinBytes } from '../../../lib/bytes.ts'
import { GuardedFetchError, type GuardedFetchLimits, guardedFetch } from '../../../lib/guarded-fetch.ts'
import { isFileError } from '../../../workspace/file-system.ts'
import { shellMessage } from '../interpreter-command.ts'
import { resolvePath } from '../named-path.ts'
import type { ShellCall, ShellResult } from '../shell-extensions.ts'
import { afterAnswer, cookieFile } from './curl/cookies.ts'
import { CurlError, EXIT } from './curl/failure.ts'
import { dataInOrder, SPEC } from './curl/options.ts'
import { type CurlRequest, encode, fileBytes, type NetworkOptions, requestOf, storedCookies } from './curl/request.ts'
import { writeOut } from './curl/write-out.ts'
import { readOptions } from './options.ts'

const MAX_BYTES = 16 * 1024 * 1024
const DEFAULT_LIMITS: Partial<GuardedFetchLimits> = {
  maxBytes: MAX_BYTES,
  headersTimeoutMs: 30_000,
  totalTimeoutMs: 60_000,
}

export async function runCurl(args: readonly string[], call: ShellCall, options: NetworkOptions): Promise<ShellResult> {
  const read = readOptions(args, SPEC)
  if (!read.ok) return failure(EXIT.usage, `${read.problem}`)
  const urls = [...(read.values.get('url') ?? []), ...read.operands]
  if (urls.length === 0) return failure(EXIT.usage, 'no URL specified')
  const unfit = read.flags.has('globoff') ? undefined : urls.find((url) => /[{}]|\[[^:]*\]/.test(url))
  if (unfit !== undefined)
    return failure(EXIT.malformed, `patterns in a URL (${unfit}) are not available here; -g takes it as it is`)
  const data = dataInOrder(args, read.values)
  const parts: Uint8Array[] = []
  const result = { stdout: '', stderr: '', exitCode: 0 }
  for (const [i, url] of urls.entries()) {
    try {
      const { shown, stderr, exitCode } = await transfer(url, i, { ...read, data, call, options })
      parts.push(shown)
      result.stderr += stderr
      result.exitCode = exitCode
    } catch (error) {
      if (call.signal.aborted) throw error
      const { exitCode, message } = asFailure(error)
      result.exitCode = exitCode
      if (!read.flags.has('silent') || read.flags.has('show-error')) result.stderr += `curl: (${exitCode}) ${message}\n`
      if (read.flags.has('insecure') && /^https:/i.test(url)) result.stderr += CHECKED_ALWAYS
    }
  }
  return { ...result, bytes: joinBytes(parts) }
}

/** If the request fails, this may be the reason. */
const CHECKED_ALWAYS = 'curl: option -k (--insecure) is not available here: certificates are always checked\n'

type Transferred = { shown: Uint8Array; stderr: string; exitCode: number }

async function transfer(url: string, index: number, wanted: CurlRequest): Promise<Transferred> {
  const { flags, values } = wanted
  const { address, init } = await requestOf(url, wanted)
  const startedAt = Date.now()
  const { response, warnings, passed } = await askAgain(address, init, wanted)
  const body = new Uint8Array(await response.arrayBuffer())
  const seconds = (Date.now() - startedAt) / 1000
  await keepCookies(response, address, wanted)
  const hasFailed = response.status >= 400 && (flags.has('fail') || flags.has('fail-with-body'))
  const isHidden = hasFailed && flags.has('fail')
  const saying = hasFailed ? `The requested URL returned error: ${response.status}` : ''
  const exitCode = hasFailed ? EXIT.httpError : 0
  const head = headOf(response)
  const shown = flags.has('include') || flags.has('head') ? joinBytes([encode(head), body]) : body
  const file = isHidden ? '-' : fileFor(response, { address, index, wanted })
  if (file !== '-') await save(file, shown, wanted)
  const dumped = await dumpedHead(head, wanted)
  const sent = { method: init.method, uploaded: init.body instanceof Uint8Array ? init.body.byteLength : 0 }
  const got = { response, body: isHidden ? new Uint8Array() : body, seconds, file }
  const format = await formatOf(values.get('write-out')?.at(-1) ?? '', wanted)
  const isSaid = hasFailed && (!flags.has('silent') || flags.has('show-error'))
  return {
    shown: joinBytes([
      ...(file === '-' && !isHidden ? passed : []),
      dumped,
      ...(file === '-' && !isHidden ? [shown] : []),
      encode(writeOut(format, { ...sent, ...got, exitCode, error: saying })),
    ]),
    stderr:
      warnings +
      (flags.has('verbose') ? `> ${init.method} ${address}\n${head}` : '') +
      (isSaid ? `curl: (${EXIT.httpError}) ${saying}\n` : ''),
    exitCode,
  }
}

/** With `-D` the header is written to a file, or to the output before the body. */
async function dumpedHead(head: string, wanted: CurlRequest): Promise<Uint8Array> {
  const name = wanted.values.get('dump-header')?.at(-1)
  if (name === '-') return encode(head)
  if (name !== undefined) await save(name, encode(head), wanted)
  return new Uint8Array()
}

async function formatOf(given: string, { call }: CurlRequest): Promise<string> {
  return given.startsWith('@') ? new TextDecoder().decode(await fileBytes(given.slice(1), call)) : given
}

/** The file for the body; `-` for the output. */
function fileFor(
  response: Response,
  { address, index, wanted }: { address: string; index: number; wanted: CurlRequest },
): string {
  const { flags, values } = wanted
  const named = values.get('output')?.[index] ?? (flags.has('remote-name') ? ownName(response, address, flags) : '-')
  const folder = values.get('output-dir')?.at(-1)
  return named === '-' || folder === undefined ? named : `${folder.replace(/\/+$/, '')}/${named}`
}

function ownName(response: Response, address: string, flags: ReadonlySet<string>): string {
  const told = /filename="?([^";]+)"?/i.exec(response.headers.get('content-disposition') ?? '')?.[1]
  const name = flags.has('remote-header-name') ? told?.split(/[\\/]/).at(-1) : undefined
  return name === undefined || name === '' || name === '..' ? remoteName(address) : name
}

const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])

/**
 * `--retry`: repeats the request after a temporary error, after a second and then after twice as long;
 * `--retry-max-time` limits the time until the last wait may start.
 */
async function askAgain(
  address: string,
  init: RequestInit,
  wanted: CurlRequest,
): Promise<{ response: Response; warnings: string; passed: Uint8Array[] }> {
  const { flags, values, call } = wanted
  const times = Number(values.get('retry')?.at(-1) ?? 0)
  const delay = Number(values.get('retry-delay')?.at(-1) ?? 0)
  const mostSeconds = Number(values.get('retry-max-time')?.at(-1) ?? 0) || Number.POSITIVE_INFINITY
  const stopAt = Date.now() + mostSeconds * 1000
  let warnings = ''
  // Earlier output stays; a file is written from its beginning.
  const passed: Uint8Array[] = []
  for (let left = times, seconds = delay || 1; ; left--, seconds = delay || seconds * 2) {
    const outcome = await ask(address, init, wanted).then(
      (response) => ({ response, error: null }),
      (error: unknown) => ({ response: null, error }),
    )
    const isPassing = outcome.response
      ? PASSING.has(outcome.response.status) || (flags.has('retry-all-errors') && outcome.response.status >= 400)
      : outcome.error instanceof GuardedFetchError && mayPass(outcome.error, flags)
    if (!isPassing || left <= 0 || Date.now() >= stopAt) {
      if (outcome.response) return { response: outcome.response, warnings, passed }
      throw outcome.error
    }
    if (outcome.response) passed.push(new Uint8Array(await outcome.response.arrayBuffer()))
    if (!flags.has('silent'))
      warnings += `Warning: Problem: ${outcome.response ? 'HTTP error' : 'timeout'}. Will retry in ${seconds} seconds. ${left} retries left.\n`
    await waited(seconds * 1000, call.signal)
  }
}

function mayPass(error: GuardedFetchError, flags: ReadonlySet<string>): boolean {
  return (
    error.reason === 'timeout' ||
    (error.reason === 'network' && (flags.has('retry-connrefused') || flags.has('retry-all-errors')))
  )
}

function waited(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    const timer = setTimeout(done, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      fail(signal.reason)
    })
  })
}

function headOf({ status, statusText, headers }: Response): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${statusText}\r\n${lines.join('')}\r\n`
}

async function ask(
  address: string,
  init: RequestInit,
  { flags, values, call, options }: CurlRequest,
): Promise<Response> {
  const seconds = Number(values.get('max-time')?.at(-1) ?? 0)
  const limits = { ...DEFAULT_LIMITS, ...options.limits, ...(seconds > 0 ? { totalTimeoutMs: seconds * 1000 } : {}) }
  const { policy, fetch } = options
  const showsRedirects = !flags.has('location')
  const door = { policy, chosenBy: STRANGER, limits, showsRedirects, ...(fetch && { fetch }) }
  return guardedFetch(address, { ...init, signal: call.signal }, door)
}

async function keepCookies(response: Response, address: string, wanted: CurlRequest): Promise<void> {
  const { values, call } = wanted
  const jar = values.get('cookie-jar')?.at(-1)
  if (jar === undefined) return
  const asked = new URL(address)
  if (response.url !== asked.href)
    throw new CurlError(EXIT.usage, 'the cookies of an answer that redirects are not available here; ask without -L')
  const known = (
    await Promise.all(
      (values.get('cookie') ?? []).filter((given) => !given.includes('=')).map((name) => storedCookies(name, call)),
    )
  ).flat()
  const text = cookieFile(afterAnswer(known, response.headers.getSetCookie(), asked, Date.now() / 1000))
  if (jar === '-') throw new CurlError(EXIT.usage, '-c - is not available here')
  await save(jar, encode(text), wanted)
}

function remoteName(address: string): string {
  const name = new URL(address).pathname.split('/').at(-1) ?? ''
  // Not decoded, so that nothing in it becomes a slash.
  if (name === '' || name === '.' || name === '..') throw new CurlError(EXIT.write, 'the URL has no file name in it')
  return name
}

async function save(name: string, bytes: Uint8Array, { flags, call: { fs, cwd } }: CurlRequest): Promise<void> {
  const path = resolvePath(cwd, name)
  try {
    if (flags.has('create-dirs')) fs.makeDirectory(path.slice(0, path.lastIndexOf('/')) || '/', { recursive: true })
    if (path !== '/dev/null') await fs.write(path, bytes)
  } catch (error) {
    if (isFileError(error)) throw new CurlError(EXIT.write, `cannot write '${name}': ${shellMessage(error)}`)
    throw error
  }
}

const DOOR_EXITS = {
  refused: EXIT.refused,
  redirect: EXIT.redirects,
  'too-large': EXIT.tooLarge,
  timeout: EXIT.timeout,
  network: EXIT.refused,
} as const

function asFailure(error: unknown): { exitCode: number; message: string } {
  if (error instanceof CurlError) return error
  if (error instanceof GuardedFetchError) return { exitCode: DOOR_EXITS[error.reason], message: error.message }
  if (error instanceof TypeError) return { exitCode: EXIT.malformed, message: 'the request is malformed' }
  throw error
}

function failure(exitCode: number, message: string): ShellResult {
  return { stdout: '', stderr: `curl: ${message}\n`, exitCode }
}
