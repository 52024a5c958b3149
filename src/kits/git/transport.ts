// Git over HTTP, through the guarded fetch: requests to one remote, with credentials if it requires them.

import type { GitHttpRequest, GitHttpResponse } from 'isomorphic-git'
import {
  DEFAULT_FETCH_LIMITS,
  GuardedFetchError,
  type GuardedFetchFailure,
  guardedFetch,
} from '../../lib/guarded-fetch.ts'
import { type Advertisement, readAdvertisement } from './advertisement.ts'
import { type FailureReason, fatal, type GitFailure } from './failure.ts'
import type { Credential, GitRemotes, TransferLimits } from './remotes.ts'

/**
 * A pack is in memory twice while it is indexed, together with the data of each of its objects, in an isolate of 128
 * MB; and it becomes one file of the workspace.
 */
export const DEFAULT_TRANSFER_LIMITS: TransferLimits = {
  ...DEFAULT_FETCH_LIMITS,
  maxBytes: 24 * 1024 * 1024,
  headersTimeoutMs: 60_000,
  totalTimeoutMs: 300_000,
  maxObjects: 100_000,
}

const USER_AGENT = 'git/2.40 (bellwether)'

export type Service = 'git-upload-pack' | 'git-receive-pack'

export interface TransportDeps {
  /** Without user name and password. */
  url: string
  remotes: GitRemotes
  /** The credentials in the URL on the command line. */
  credential: Credential | null
  signal?: AbortSignal | undefined
  /** Called with the number of received bytes of an answer. */
  onBytes?: (received: number) => void
}

export class Transport {
  readonly url: string
  readonly limits: TransferLimits
  readonly #deps: TransportDeps
  #authorization: string | null = null
  /** The URL to which the remote has redirected. */
  #moved: string | null = null

  constructor(deps: TransportDeps) {
    this.#deps = deps
    this.url = deps.url
    this.limits = { ...DEFAULT_TRANSFER_LIMITS, ...deps.remotes.limits }
  }

  async advertised(service: Service): Promise<Advertisement> {
    return this.#explaining(async () => {
      const response = await this.#ask(`/info/refs?service=${service}`, { method: 'GET' })
      return readAdvertisement(
        this.#counted(await this.#demandType(response, `application/x-${service}-advertisement`)),
      )
    })
  }

  /** Sends a request of the service, and passes the answer to `read` as it arrives. */
  async exchange<T>(
    service: Service,
    body: Uint8Array,
    read: (answer: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<T> {
    const headers = { 'content-type': `application/x-${service}-request`, accept: `application/x-${service}-result` }
    return this.#explaining(async () => {
      const response = await this.#ask(`/${service}`, { method: 'POST', headers, body })
      return read(this.#counted(await this.#demandType(response, headers.accept)))
    })
  }

  /** For the library, which requests a remote's refs: the same fetch and credentials. */
  readonly client = {
    request: async ({ url, method = 'GET' }: GitHttpRequest): Promise<GitHttpResponse> => {
      const response = await this.#explaining(() => this.#ask(url.slice(this.url.length), { method }))
      await this.#demandType(response, 'application/x-git-upload-pack-advertisement')
      return {
        url,
        method,
        statusCode: response.status,
        statusMessage: response.statusText,
        headers: Object.fromEntries(response.headers),
        body: this.#counted(response),
      }
    },
  }

  /** An HTML page gets a clear error message. */
  async #demandType(response: Response, type: string): Promise<Response> {
    if (response.headers.get('content-type') === type) return response
    await response.body?.cancel()
    throw noGitServer(this.url)
  }

  async #ask(suffix: string, init: RequestInit): Promise<Response> {
    const response = await this.#send(suffix, init)
    if (response.status !== 401 || this.#authorization !== null) return this.#succeeded(response)
    await response.body?.cancel()
    const { credential, remotes } = this.#deps
    const found = credential ?? (await remotes.credentialFor?.(new URL(this.url))) ?? null
    if (found === null) throw authenticationFailure(this.url)
    this.#authorization = `Basic ${base64(`${found.username}:${found.password}`)}`
    return this.#succeeded(await this.#send(suffix, init))
  }

  async #send(suffix: string, init: RequestInit): Promise<Response> {
    const { remotes, signal } = this.#deps
    const address = (this.#moved ?? this.url) + suffix
    const isElsewhere = new URL(address).origin !== new URL(this.url).origin
    const authorization = isElsewhere ? null : this.#authorization
    const { policy, chosenBy, fetch } = remotes
    const door = { policy, chosenBy, limits: this.limits, ...(fetch && { fetch }) }
    const headers = { ...init.headers, 'user-agent': USER_AGENT, ...(authorization !== null && { authorization }) }
    const response = await guardedFetch(address, { ...init, headers, ...(signal && { signal }) }, door)
    // Later requests are sent to the URL to which the first one was redirected.
    if (init.method === 'GET' && response.url !== address && response.url.endsWith(suffix))
      this.#moved = response.url.slice(0, -suffix.length)
    return response
  }

  async #succeeded(response: Response): Promise<Response> {
    if (response.ok) return response
    await response.body?.cancel()
    throw refusal(this.url, response.status)
  }

  async *#counted(response: Response): AsyncGenerator<Uint8Array> {
    let received = 0
    for await (const part of response.body ?? []) {
      received += part.byteLength
      this.#deps.onBytes?.(received)
      yield part
    }
  }

  async #explaining<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof GuardedFetchError)) throw error
      const reason = DOOR_REASONS[error.reason]
      throw fatal(`unable to access '${this.url}/': ${error.message}`, { cause: error, reason })
    }
  }
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}

function noGitServer(url: string): GitFailure {
  return fatal(`'${url}/' is not a git server that speaks the smart protocol`, { reason: 'not-found' })
}

function refusal(url: string, status: number): GitFailure {
  if (status === 401) return fatal(`Authentication failed for '${url}/'`, { reason: 'authentication' })
  if (status === 404) return fatal(`repository '${url}/' not found`, { reason: 'not-found' })
  const reason = status === 403 ? 'authentication' : 'unreachable'
  return fatal(`unable to access '${url}/': The requested URL returned error: ${status}`, { reason })
}

const DOOR_REASONS: Record<GuardedFetchFailure, FailureReason> = {
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
