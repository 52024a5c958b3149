import type { Scope } from '../db/keys.ts'

/** The authenticated client of a request. */
export type Principal = {
  owner: string
  scopes: readonly Scope[]
  /** The API key behind the request; null for the root key and in local mode. */
  keyId: string | null
  /** When the credential expires, epoch ms; null: it does not expire. */
  until: number | null
  via: 'local' | 'root' | 'header' | 'query' | 'cookie' | 'token'
}

/** Who did something, for the audit log: the id of the key, or "local" or "root" where there is none. */
export const actorOf = ({ keyId, via }: Principal): string => keyId ?? via

// Requests that an MCP tool makes because a client's model called it. They have their caller's rights, but a model chose the
// addresses in them, so these are not trusted.

const asked = new WeakSet<Request>()

export function noteAskedByModel(request: Request): Request {
  asked.add(request)
  return request
}

export function isAskedByModel(request: Request): boolean {
  return asked.has(request)
}
