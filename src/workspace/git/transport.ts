// Git over HTTP, through the guarded door. The git library speaks the protocol; here stands what it is given to speak
// with. A pack that arrives is taken out of the answer, checked and stored before the library learns that it came, so
// that no ref ever points to an object that is not there.

import type { GitHttpRequest, GitHttpResponse } from 'isomorphic-git'
import { DEFAULT_DOOR_LIMITS, DoorError, type DoorFailure, guardedFetch } from '../../lib/guarded-fetch.ts'
import { joined, textOf, utf8 } from './bytes.ts'
import { type FailureReason, fatal, GitFailure } from './failure.ts'
import { indexPack } from './pack-indexer.ts'
import { isRefName } from './refs.ts'
import type { Credential, GitRemotes, TransferLimits } from './remotes.ts'
import type { Repository } from './repository.ts'

/** A pack stands in memory two or three times while it is taken in, in an isolate of 128 MB. */
export const DEFAULT_TRANSFER_LIMITS: TransferLimits = {
  ...DEFAULT_DOOR_LIMITS,
  maxBytes: 24 * 1024 * 1024,
  headersTimeoutMs: 60_000,
  totalTimeoutMs: 300_000,
  maxObjects: 200_000,
}
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024
const MAX_REFS_BYTES = 16 * 1024 * 1024
const MAX_REFS = 50_000

const USER_AGENT = 'git/2.40 (bellwether)'

export interface TransferParts {
  repo: Repository
  remotes: GitRemotes
  /** What an address given on the command line had in it. */
  credential: Credential | null
  signal?: AbortSignal | undefined
  /** Told how many bytes have come. */
  onBytes?: (received: number) => void
}

export class Transport {
  readonly #parts: TransferParts
  readonly #limits: TransferLimits
  /** Where the remote said that it has moved to. */
  #moved: { from: string; to: string } | null = null

  constructor(parts: TransferParts) {
    this.#parts = parts
    this.#limits = { ...DEFAULT_TRANSFER_LIMITS, ...parts.remotes.limits }
  }

  /** The library's HTTP client. */
  readonly client = {
    request: async ({ url, method = 'GET', headers = {}, body }: GitHttpRequest): Promise<GitHttpResponse> => {
      const address =
        this.#moved && url.startsWith(this.#moved.from) ? this.#moved.to + url.slice(this.#moved.from.length) : url
      const sent = body === undefined ? null : joined(await collected(body))
      const response = await this.#ask(address, {
        method,
        headers: this.#headersFor(address, url, headers),
        ...(sent && { body: sent }),
      })
      this.#noteMove(url, response.url)
      const bytes = await this.#read(response)
      const isPack = response.headers.get('content-type') === 'application/x-git-upload-pack-result'
      const answer = response.ok && isPack ? await this.#takePack(bytes) : bytes
      if (response.ok && method === 'GET') {
        if (!isAdvertisement(response)) throw noGitServer(url.replace(/\/info\/refs\?.*$/, ''))
        assertRefs(bytes)
      }
      return {
        url,
        method,
        statusCode: response.status,
        statusMessage: response.statusText,
        headers: Object.fromEntries(response.headers),
        body: oneChunk(answer),
      }
    },
  }

  /** The library's question for a name and a password; none means that there are none. */
  readonly onAuth = async (url: string) => {
    const { credential, remotes } = this.#parts
    return credential ?? (await remotes.credentialFor?.(new URL(url))) ?? { cancel: true }
  }

  /** There is no second answer: the refusal stands. */
  readonly onAuthFailure = () => undefined

  async #ask(address: string, init: RequestInit): Promise<Response> {
    const { remotes, signal } = this.#parts
    const door = { policy: remotes.policy, limits: this.#limits, ...(remotes.fetch && { fetch: remotes.fetch }) }
    return guardedFetch(address, { ...init, ...(signal && { signal }) }, door)
  }

  #headersFor(address: string, asked: string, headers: Record<string, string>): Record<string, string> {
    const isElsewhere = new URL(address).origin !== new URL(asked).origin
    const kept = Object.entries(headers).filter(([name]) => !isElsewhere || name.toLowerCase() !== 'authorization')
    return { ...Object.fromEntries(kept), 'user-agent': USER_AGENT }
  }

  /** What is sent later goes where the first question was led to. */
  #noteMove(asked: string, answered: string): void {
    const suffix = /\/info\/refs\?service=[\w-]+$/.exec(asked)?.[0]
    if (!suffix || answered === '' || answered === asked || !answered.endsWith(suffix)) return
    this.#moved = { from: asked.slice(0, -suffix.length), to: answered.slice(0, -suffix.length) }
  }

  async #read(response: Response): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    let received = 0
    for await (const part of response.body ?? []) {
      parts.push(part)
      received += part.byteLength
      this.#parts.onBytes?.(received)
    }
    return joined(parts)
  }

  /** Stores the pack in the answer. What is left of the answer says the same, without the pack. */
  async #takePack(answer: Uint8Array): Promise<Uint8Array> {
    const { lines, pack, failure } = demultiplexed(answer)
    if (failure !== null) throw new GitFailure(`fatal: remote error: ${failure}`, 128)
    const { repo } = this.#parts
    if (pack.byteLength > 0) {
      const limits = { maxObjects: this.#limits.maxObjects, maxUnpackedBytes: MAX_UNPACKED_BYTES }
      const stored = (oid: string) => repo.objects.find(oid)
      const { index, checksum, objects } = await indexPack(pack, { limits, pace: repo.pace, stored })
      if (objects > 0) {
        const name = `${repo.gitDir}/objects/pack/pack-${checksum}`
        repo.fs.makeDirectory(`${repo.gitDir}/objects/pack`, { recursive: true })
        await repo.fs.write(`${name}.pack`, pack, { mode: 0o444 })
        await repo.fs.write(`${name}.idx`, index, { mode: 0o444 })
      }
    }
    return joined([...lines, utf8('0000')])
  }
}

async function collected(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return parts
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield bytes
}

interface Demultiplexed {
  /** Whole packet lines that carry no pack. */
  lines: Uint8Array[]
  pack: Uint8Array
  failure: string | null
}

function demultiplexed(answer: Uint8Array): Demultiplexed {
  const lines: Uint8Array[] = []
  const parts: Uint8Array[] = []
  let failure: string | null = null
  for (const { line, at } of packetLines(answer)) {
    const band = line?.[0]
    if (band === 1) parts.push(line?.subarray(1) ?? utf8(''))
    else if (band === 3) failure = textOf(line?.subarray(1) ?? utf8('')).trim()
    else lines.push(answer.subarray(at, at + (line ? line.byteLength + 4 : 4)))
  }
  return { lines, pack: joined(parts), failure }
}

/** `line` is null for a flush. */
function* packetLines(bytes: Uint8Array): Generator<{ line: Uint8Array | null; at: number }> {
  for (let at = 0; at < bytes.byteLength; ) {
    const length = Number.parseInt(textOf(bytes.subarray(at, at + 4)), 16)
    if (Number.isNaN(length) || (length !== 0 && length < 4) || at + length > bytes.byteLength) {
      throw fatal('the remote broke off in the middle of its answer', { reason: 'unreachable' })
    }
    yield { line: length === 0 ? null : bytes.subarray(at + 4, at + length), at }
    at += Math.max(4, length)
  }
}

/** The library would try to read anything; a page of HTML is better called what it is. */
function isAdvertisement(response: Response): boolean {
  return /^application\/x-git-[\w-]+-advertisement$/.test(response.headers.get('content-type') ?? '')
}

function noGitServer(url: string): GitFailure {
  return fatal(`'${url}/' is not a git server that speaks the smart protocol`, { reason: 'not-found' })
}

/** Names of refs become paths of files: one that leads elsewhere ends the matter. */
function assertRefs(advertisement: Uint8Array): void {
  if (advertisement.byteLength > MAX_REFS_BYTES) throw fatal('the remote has more refs than can be handled here')
  let count = 0
  for (const { line } of packetLines(advertisement)) {
    const match = /^[0-9a-f]{40} ([^\0\n]*)(?:\0(.*))?/s.exec(textOf(line ?? utf8('')))
    if (!match) continue
    const name = (match[1] ?? '').replace(/\^\{\}$/, '')
    const targets = [...(match[2] ?? '').matchAll(/symref=([^ :]+):([^ \n]+)/g)].flatMap(([, from = '', to = '']) => [
      from,
      to,
    ])
    const isFine = (ref: string) =>
      ref === 'HEAD' || ref === 'capabilities' || (ref.startsWith('refs/') && isRefName(ref))
    if (![name, ...targets].every(isFine)) throw fatal('the remote has a ref with an unusable name')
    if (++count > MAX_REFS) throw fatal('the remote has more refs than can be handled here')
  }
}

interface LibraryError {
  code?: string
  message?: string
  data?: { statusCode?: number; reason?: string; what?: string; prettyDetails?: string }
}

/** What went wrong, in git's words. */
export function transferFailure(error: unknown, url: string): unknown {
  if (error instanceof GitFailure) return error
  if (error instanceof DoorError)
    return fatal(`unable to access '${url}/': ${error.message}`, { cause: error, reason: DOOR_REASONS[error.reason] })
  const { code, data, message = '' } = (error ?? {}) as LibraryError
  const status = data?.statusCode
  if (code === 'UserCanceledError') return authenticationFailure(url)
  if (status === 401) return fatal(`Authentication failed for '${url}/'`, { reason: 'authentication' })
  if (status === 404) return fatal(`repository '${url}/' not found`, { reason: 'not-found' })
  if (status !== undefined)
    return fatal(`unable to access '${url}/': The requested URL returned error: ${status}`, {
      reason: status === 403 ? 'authentication' : 'unreachable',
    })
  if (code === 'SmartHttpError') return noGitServer(url)
  if (code === 'NotFoundError')
    return fatal(`couldn't find remote ref ${data?.what ?? ''}`.trimEnd(), { reason: 'not-found' })
  if (code === 'ParseError' || code === 'EmptyServerResponseError' || code === 'RemoteCapabilityError') {
    return fatal(`the answer of '${url}/' is not understood: ${message.split('\n')[0]}`, { reason: 'unreachable' })
  }
  return error
}

const DOOR_REASONS: Record<DoorFailure, FailureReason> = {
  refused: 'refused',
  redirect: 'refused',
  'too-large': 'too-large',
  timeout: 'unreachable',
  network: 'unreachable',
}

function authenticationFailure(url: string): GitFailure {
  return fatal(
    `could not read Username for '${new URL(url).origin}': nobody can be asked here.\n` +
      'The repository does not exist, or a token for this host has to be stored first.',
    { reason: 'authentication' },
  )
}
