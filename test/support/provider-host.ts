// GitHub, GitLab and Bitbucket on loopback, for the tests that run in the Workers runtime. Answers follow the public REST
// and GraphQL documentation of the three, read in 2025 (the fixtures name the pages), with only the fields that a client reads.
// A suffix after a dash of a valid token selects a misbehaviour of the provider.

import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { ecbFile } from './ecb-files.ts'
import { bitbucketData } from './provider-bitbucket.ts'
import type { ProviderRequest, Reply } from './provider-files.ts'
import { githubData } from './provider-github.ts'
import { gitlabData } from './provider-gitlab.ts'
import { GOOD_TOKENS } from './provider-host-types.ts'
import { requestReply } from './provider-requests.ts'

type Family = {
  prefix: RegExp
  tokens: readonly string[]
  open: RegExp
  serve: (asked: ProviderRequest) => Reply
  refusal: unknown
}

const documentation_url = 'https://docs.github.com/rest'

const FAMILIES: Readonly<Record<string, Family>> = {
  github: {
    prefix: /^\/(github|api\/v3)(?=\/)/,
    tokens: [GOOD_TOKENS.github],
    open: /^\/repos\//,
    serve: githubData,
    refusal: { message: 'Bad credentials', documentation_url, status: '401' },
  },
  gitlab: {
    prefix: /^\/(gitlab|api\/v4)(?=\/)/,
    tokens: [GOOD_TOKENS.gitlab],
    open: /^\/projects\//,
    serve: gitlabData,
    refusal: { message: '401 Unauthorized' },
  },
  bitbucket: {
    prefix: /^\/bitbucket(?=\/)/,
    tokens: [GOOD_TOKENS.bitbucket, GOOD_TOKENS.appPassword],
    open: /^\/repositories\//,
    serve: bitbucketData,
    refusal: { type: 'error', error: { message: 'Token is invalid, expired, or not supported for this endpoint.' } },
  },
}

/** The requests of each token: `GET /user/repos?page=1 200`. */
const journal = new Map<string, string[]>()

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { host, stop } = await startProviderHost()
  project.provide('providerHost', host)
  return stop
}

/** `host`: its address and port. */
export async function startProviderHost(): Promise<{ host: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`)
  const token = tokenOf(request)
  // The provider that never answers; closed with the server at the latest.
  if (url.pathname.startsWith('/silent') || token.endsWith('-silent')) return
  const body = (await request.toArray()).join('')
  const reply = unlessKnown(replyTo(url, request, body), request)
  journal.set(token, [...(journal.get(token) ?? []), `${request.method} ${url.pathname}${url.search} ${reply.status}`])
  send(reply, response)
}

function send({ status, body, headers = {}, contentType }: Reply, response: ServerResponse): void {
  const isText = typeof body === 'string'
  const type = contentType ?? (isText ? 'text/html' : 'application/json; charset=utf-8')
  response.writeHead(status, { 'content-type': type, ...headers })
  response.end(isText ? body : body === null ? undefined : JSON.stringify(body))
}

/** An entity tag on every success, and "not modified" for a client that has it. */
function unlessKnown(reply: Reply, { headers }: IncomingMessage): Reply {
  if (reply.status !== 200 || reply === HUGE) return reply
  const etag = `W/"${createHash('sha256').update(JSON.stringify(reply.body)).digest('hex').slice(0, 16)}"`
  const told = { 'x-ratelimit-remaining': '4999', etag, ...reply.headers }
  if (headers['if-none-match'] !== etag) return { ...reply, headers: told }
  return { status: 304, body: null, headers: { etag } }
}

function tokenOf({ headers }: IncomingMessage): string {
  const [, scheme, value = ''] = /^(Basic|Bearer) (.*)$/.exec(headers.authorization ?? '') ?? []
  return scheme === 'Basic' ? Buffer.from(value, 'base64').toString() : value
}

function replyTo(url: URL, request: IncomingMessage, body: string): Reply {
  const { pathname: path } = url
  if (path === '/asked') return { status: 200, body: journal.get(url.searchParams.get('token') ?? '') ?? [] }
  if (path.startsWith('/down')) return DOWN
  if (path.startsWith('/page')) return { status: 200, body: '<html>Sign in to the network</html>' }
  if (path.startsWith('/huge')) return HUGE
  if (path.startsWith('/ecb/')) return ecbReply(path)
  // Self-managed servers keep GraphQL beside their REST API, both kinds at the same place.
  const isLab = path === '/api/graphql' && tokenOf(request).startsWith(GOOD_TOKENS.gitlab)
  const where = path === '/api/graphql' ? `/api/${isLab ? 'v4' : 'v3'}/graphql` : path
  for (const family of Object.values(FAMILIES)) {
    const [prefix] = family.prefix.exec(where) ?? []
    if (prefix === undefined) continue
    const base = `${url.origin}${prefix}`
    return replyOf(family, { path: where.slice(prefix.length), query: url.searchParams, request, base, body })
  }
  return { status: 404, body: '<html>Not found</html>' }
}

/** The central bank's rates; with `inward` it redirects to an address of this machine. */
function ecbReply(path: string): Reply {
  if (path.startsWith('/ecb/inward')) return { status: 302, body: null, headers: { location: 'http://127.0.0.2/' } }
  const file = ecbFile(path.split('/').at(-1) ?? '')
  return file === null ? { status: 404, body: 'none' } : { status: 200, body: file, contentType: 'text/xml' }
}

const DOWN: Reply = { status: 503, body: 'Service Unavailable', headers: { 'retry-after': '0' } }
/** Made once and not hashed, because the test measures the client's timeout, not this machine's speed. */
const HUGE: Reply = {
  status: 200,
  body: JSON.stringify({ id: 1, padding: 'x'.repeat(50_000_000) }),
  contentType: 'application/json; charset=utf-8',
}

function replyOf(family: Family, asked: ProviderRequest): Reply {
  if (family === FAMILIES.github && asked.request.headers['user-agent'] === undefined) {
    return { status: 403, body: 'Request forbidden by administrative rules. Please send a User-Agent header' }
  }
  const token = tokenOf(asked.request)
  if (token === 'ghp_overquota') return OVER_QUOTA
  const isGood = family.tokens.some((good) => token === good || token.startsWith(`${good}-`))
  const isOpen = token === '' && family.open.test(asked.path)
  if (!isGood && !isOpen) return { status: 401, body: family.refusal }
  const name = Object.keys(FAMILIES).find((key) => FAMILIES[key] === family) ?? ''
  const made = () => requestReply(name, asked) ?? family.serve(asked)
  return misbehaviour(token) ?? (asked.path === '/' ? ROOT : made())
}

const ROOT: Reply = { status: 200, body: { current_user_url: 'https://api.github.com/user', emojis_url: '/emojis' } }
const OVER_QUOTA: Reply = {
  status: 403,
  body: { message: 'API rate limit exceeded for user ID 1.', documentation_url },
  headers: { 'x-ratelimit-remaining': '0' },
}

function misbehaviour(token: string): Reply | null {
  if (token.endsWith('-down')) return DOWN
  if (token.endsWith('-quota') && !token.endsWith('-graphql-quota')) return OVER_QUOTA
  if (token.endsWith('-huge')) return HUGE
  if (token.endsWith('-page')) return { status: 200, body: '<html>Sign in to the network</html>' }
  if (token.endsWith('-odd')) return { status: 200, body: [{ id: 'one' }] }
  if (token.endsWith('-revoked')) return { status: 401, body: { message: 'Bad credentials', documentation_url } }
  return null
}
