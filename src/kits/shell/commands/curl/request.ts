// The request of `curl`: the URL, the headers and the body, from its options.

import type { AddressPolicy } from '../../../../lib/address-policy.ts'
import { joinBytes } from '../../../../lib/bytes.ts'
import type { GuardedFetchLimits } from '../../../../lib/guarded-fetch.ts'
import { isFileError } from '../../../../workspace/file-system.ts'
import { resolvePath } from '../../../../workspace/paths.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { cookiesFor, readCookies } from './cookies.ts'
import { CurlError, EXIT } from './failure.ts'
import { formBody } from './form.ts'

export type NetworkOptions = { policy: AddressPolicy; fetch?: typeof fetch; limits?: Partial<GuardedFetchLimits> }

export type CurlRequest = {
  flags: ReadonlySet<string>
  values: ReadonlyMap<string, string[]>
  /** The data of the body: the kind and the value of each, in order. */
  data: readonly [string, string][]
  call: ShellCall
  options: NetworkOptions
}

const USER_AGENT = 'curl/8 (Bellwether)'

export async function requestOf(
  url: string,
  wanted: CurlRequest,
): Promise<{ address: string; init: RequestInit & { method: string } }> {
  const { flags, values } = wanted
  const { address: written, user } = withoutUser(/^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`)
  const headers = new Headers({ accept: '*/*', 'user-agent': values.get('user-agent')?.at(-1) ?? USER_AGENT })
  const upload = values.get('upload-file')?.at(-1)
  const sent = await sentBody(wanted, headers, upload)
  await setHeaders(headers, { user, address: written, wanted })
  const inQuery = flags.has('get') && sent !== null
  const target =
    upload !== undefined && written.endsWith('/')
      ? written + encodeURIComponent(upload.split('/').at(-1) ?? '')
      : written
  const address = inQuery ? `${target}${target.includes('?') ? '&' : '?'}${new TextDecoder().decode(sent)}` : target
  const hasBody = sent !== null && !inQuery
  const fallback = flags.has('head') ? 'HEAD' : upload !== undefined ? 'PUT' : hasBody ? 'POST' : 'GET'
  const method = values.get('request')?.at(-1) ?? fallback
  if (!/^[A-Za-z]+$/.test(method)) throw new CurlError(EXIT.usage, 'the method is malformed')
  if (hasBody && /^(GET|HEAD)$/i.test(method))
    throw new CurlError(EXIT.usage, `a body with the method ${method} is not available here`)
  // A copy is sent, because other code may change these bytes.
  return { address, init: { method, headers, ...(hasBody ? { body: sent.slice() } : {}) } }
}

/** The body from the option that was given; null for none. */
async function sentBody(wanted: CurlRequest, headers: Headers, upload: string | undefined): Promise<Uint8Array | null> {
  const { values, call, data } = wanted
  const [fields, strings] = [values.get('form') ?? [], values.get('form-string') ?? []]
  if (upload !== undefined) return fileBytes(upload, call)
  if (fields.length + strings.length > 0) {
    if (data.length > 0) throw new CurlError(EXIT.usage, 'only one of -d and -F can be given')
    const boundary = `------------------------${crypto.randomUUID().replaceAll('-', '').slice(0, 16)}`
    headers.set('content-type', `multipart/form-data; boundary=${boundary}`)
    return formBody({ fields, strings, boundary }, (name) => fileBytes(name, call))
  }
  if (data.length === 0) return null
  if (!wanted.flags.has('get'))
    headers.set('content-type', values.has('json') ? 'application/json' : 'application/x-www-form-urlencoded')
  if (values.has('json')) headers.set('accept', 'application/json')
  return joinedData(data, call)
}

/** A name and a password in a URL are sent like those of `-u`. */
function withoutUser(address: string): { address: string; user: string | null } {
  const [, scheme = '', user, rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)([^@/?#]*)@(.*)$/is.exec(address) ?? []
  return user === undefined
    ? { address, user: null }
    : { address: scheme + rest, user: decodeURIComponent(user.includes(':') ? user : `${user}:`) }
}

type Addressed = { user: string | null; address: string; wanted: CurlRequest }

async function setHeaders(headers: Headers, { user: own, address, wanted }: Addressed): Promise<void> {
  const { values, call } = wanted
  const one = (name: string) => values.get(name)?.at(-1)
  const cookie = await cookieHeader(address, wanted)
  if (cookie !== '') headers.set('cookie', cookie)
  const [referer, range, bearer, user] = [one('referer'), one('range'), one('bearer'), one('user') ?? own ?? undefined]
  if (referer !== undefined) headers.set('referer', referer)
  if (range !== undefined) headers.set('range', `bytes=${range}`)
  if (bearer !== undefined) headers.set('authorization', `Bearer ${bearer}`)
  if (user !== undefined) {
    if (!user.includes(':'))
      throw new CurlError(
        EXIT.usage,
        '-u without a password asks for it, which is not available here; write name:password',
      )
    headers.set('authorization', `Basic ${btoa(String.fromCharCode(...encode(user)))}`)
  }
  for (const given of values.get('header') ?? []) {
    const lines = given.startsWith('@') ? await fileLines(given.slice(1), call) : [given]
    for (const line of lines) setHeader(headers, line)
  }
}

/** `Name: value`; `Name:` removes a header, and `Name;` sends it empty. */
function setHeader(headers: Headers, line: string): void {
  const [, name = '', mark = '', value = ''] = /^([^:;]+)([:;])\s*(.*)$/.exec(line) ?? []
  if (name === '') throw new CurlError(EXIT.usage, 'a header has to be "Name: value"')
  if (/^host$/i.test(name.trim()))
    throw new CurlError(EXIT.usage, 'the header Host is that of the address, and no other')
  if (value === '' && mark === ':') headers.delete(name)
  else headers.set(name, value)
}

async function fileLines(name: string, call: ShellCall): Promise<string[]> {
  return new TextDecoder()
    .decode(await fileBytes(name, call))
    .split(/\r?\n/)
    .filter((line) => line !== '')
}

/** Cookies are given directly, or in a file that may not exist yet. */
async function cookieHeader(address: string, { values, call }: CurlRequest): Promise<string> {
  const parts: string[] = []
  for (const given of values.get('cookie') ?? []) {
    if (given.includes('=')) parts.push(given)
    else parts.push(cookiesFor(await storedCookies(given, call), new URL(address), Date.now() / 1000))
  }
  return parts.filter((part) => part !== '').join('; ')
}

export async function storedCookies(
  name: string,
  { fs, cwd, stdin }: ShellCall,
): Promise<ReturnType<typeof readCookies>> {
  if (name === '-') return readCookies(stdin)
  const path = resolvePath(cwd, name)
  return name !== '' && fs.exists(path) ? readCookies(new TextDecoder().decode(await fs.read(path))) : []
}

async function joinedData(data: readonly [string, string][], call: ShellCall): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for (const [kind, value] of data) {
    if (parts.length > 0 && kind !== 'json') parts.push(encode('&'))
    parts.push(await datum(kind, value, call))
  }
  return joinBytes(parts)
}

async function datum(kind: string, value: string, call: ShellCall): Promise<Uint8Array> {
  if (kind === 'data-urlencode') return urlEncoded(value, call)
  if (kind === 'data-raw' || !value.startsWith('@')) return encode(value)
  const bytes = await fileBytes(value.slice(1), call)
  return kind === 'data' ? bytes.filter((byte) => byte !== 0 && byte !== 10 && byte !== 13) : bytes
}

/** `text`, `=text`, `name=text`, `@file` and `name@file`. */
async function urlEncoded(value: string, call: ShellCall): Promise<Uint8Array> {
  const [, name = '', mark = '', rest = value] = /^([^=@]*)([=@])([\s\S]*)$/.exec(value) ?? []
  const bytes = mark === '@' ? await fileBytes(rest, call) : encode(rest)
  const isPlain = (char: string) => /[A-Za-z0-9._~-]/.test(char)
  const text = Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte)
    if (char === ' ') return '+'
    return isPlain(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
  return encode(`${name === '' ? '' : `${name}=`}${text}`)
}

export async function fileBytes(name: string, call: ShellCall): Promise<Uint8Array> {
  const { fs, cwd } = call
  if (name === '-') return call.stdinBytes
  try {
    return await fs.read(resolvePath(cwd, name))
  } catch (error) {
    if (isFileError(error)) throw new CurlError(EXIT.read, `cannot read '${name}'`)
    throw error
  }
}

export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
