import type { Scope } from '../db/keys.ts'

/** Who asks. */
export type Principal = {
  owner: string
  scopes: readonly Scope[]
  /** The API key behind the request; null for the root key and in local mode. */
  keyId: string | null
  /** When what was presented stops being good, epoch ms; null: never by time alone. */
  until: number | null
  via: 'local' | 'root' | 'header' | 'query' | 'cookie' | 'token'
}
