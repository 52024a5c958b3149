// What every handler can use besides its request.

import type { Scope } from '../db/keys.ts'
import type { LimitKind } from '../limits/limits.ts'

export type AppEnv = {
  Bindings: Env
  Variables: {
    requestId: string
    /** Answers with a text that is JSON already. */
    jsonText(text: string): Response
    /** The authenticated client; absent only on calls that need no key. */
    principal: Principal
    /** When the client was authenticated, epoch ms. */
    admittedAt: number | undefined
    /** The limit that the request counts against; not set for a request that was refused before. */
    limitClass?: Admission['limit']
    /** How the endpoint reads a body. */
    bodyLimit: BodyLimit
    /** Whether the conversation of the path is known not to exist; set below `/api/conversations/{conversation_id}`. */
    isUnusedId: boolean | undefined
    /** The conversation of a request whose path does not name it. */
    conversationId?: string
  }
}

// The requirements that an endpoint checks before its handler runs. Each endpoint declares all of them.

/** The rate limit that a request counts against. Wrong keys have a limit of their own, which endpoints do not choose. */
type LimitClass = Exclude<LimitKind, 'wrongKeys'>

/**
 * The size limit of a body. `standard`: up to MAX_BODY_BYTES, and large bodies wait for room. `forwarded`: the same size
 * without waiting, because the handler sends it as further requests. `upload`: up to MAX_UPLOAD_BYTES, streamed.
 */
type BodyLimit = 'standard' | 'forwarded' | 'upload'

export type Admission = { readonly bodyLimit: BodyLimit } & (
  | {
      /** The scope that the key needs; `any`: every valid key. */
      readonly scope: Scope | 'any'
      readonly limit: LimitClass
    }
  | {
      /**
       * `open`: no key is needed. `itself`: the handler authenticates. The client is not known before it, so nothing is
       * counted.
       */
      readonly scope: 'open' | 'itself'
      readonly limit: 'uncounted'
    }
)

/** The authenticated client of a request. */
export type Principal = {
  owner: string
  scopes: readonly Scope[]
  /** The API key behind the request; null for the root key and in local mode. */
  keyId: string | null
  /** When the credential expires, epoch ms; null: it does not expire. */
  until: number | null
  via: 'local' | 'root' | 'header' | 'query' | 'cookie' | 'token'
  /** Whether the owner of the key is being deleted. */
  isLeaving: boolean
}

/** Who did something, for the audit log: the id of the key, or "local" or "root" without a key. */
export const actorOf = ({ keyId, via }: Principal): string => keyId ?? via

// Requests that an MCP tool makes for a client's model. They have their caller's rights, but a model chose the
// addresses in them, so these are not trusted.

const asked = new WeakSet<Request>()

export function noteAskedByModel(request: Request): Request {
  asked.add(request)
  return request
}

export function isAskedByModel(request: Request): boolean {
  return asked.has(request)
}
