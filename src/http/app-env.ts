// What every handler can use beside its request.

import type { Scope } from '../db/keys.ts'
import type { LimitKind } from '../limits/limits.ts'
import type { Principal } from './principal.ts'

export type AppEnv = {
  Bindings: Env
  Variables: {
    requestId: string
    /** Answers with a text that is JSON already. */
    jsonText(text: string): Response
    /** The authenticated client; absent only on calls that need no key. */
    principal: Principal
    /** How the endpoint reads a body. */
    bodyLimit: BodyLimit
    /** Whether the conversation of the path is known not to exist; set below `/api/conversations/{conversation_id}`. */
    isUnusedId: boolean | undefined
    /** The conversation of the request, where the path does not name it. */
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
      /** `open`: no key is needed. `itself`: the handler authenticates. The client is not known yet, so nothing is counted. */
      readonly scope: 'open' | 'itself'
      readonly limit: 'uncounted'
    }
)
