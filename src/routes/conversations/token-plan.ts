// What a request for tokens comes to: which token must be asked about where, and what is stored if every provider says
// yes. The web client sends all providers each time, with empty texts for those that the user left alone.

import type { ProviderToken, TokenChange } from '../../db/provider-tokens.ts'
import { readHost } from '../../git-providers/api-url.ts'
import type { TokenToCheck } from '../../git-providers/check-token.ts'
import type { ValidationItem } from '../../http/errors.ts'
import { invalid } from '../../http/validation.ts'

export type Incoming = {
  provider: string
  /** Null: keep the stored one. */
  token: string | null
  /** Null: the provider's own. Undefined: none was named. */
  host: string | null | undefined
  userId: string | null
}

export type Step = { check: TokenToCheck; change: TokenChange }

type WireToken = {
  token?: string | null | undefined
  host?: string | null | undefined
  user_id?: string | null | undefined
}

/** Throws the 422 with every host that is none. */
export function readIncoming(tokens: Record<string, WireToken>): Incoming[] {
  const items: ValidationItem[] = []
  const incoming = Object.entries(tokens).map(([provider, { token, host, user_id = null }]): Incoming => {
    const common = { provider, token: token?.trim() || null, userId: user_id }
    if (!host?.trim()) return { ...common, host: undefined }
    const read = readHost(provider, host)
    if (read.ok) return { ...common, host: read.host }
    const loc = ['body', 'provider_tokens', provider, 'host']
    items.push({ type: 'value_error', loc, msg: `Value error, ${read.reason}`, input: host, ctx: { error: {} } })
    return { ...common, host: undefined }
  })
  if (items.length > 0) throw invalid(items)
  return incoming
}

/** Whether the plan depends on tokens that are stored. */
export function needsStored(incoming: readonly Incoming[]): boolean {
  return incoming.some(({ token, host }) => token === null && host !== undefined)
}

export function planOf(incoming: readonly Incoming[], stored: readonly ProviderToken[]): Step[] {
  return incoming.flatMap(({ provider, token, host, userId }): Step[] => {
    if (token !== null) {
      const given = { provider, token, host: host ?? null }
      return [{ check: given, change: { ...given, userId } }]
    }
    const kept = stored.find((one) => one.provider === provider)
    if (kept === undefined || host === undefined || host === kept.host) return []
    // The stored token goes to the new host only after that host accepted it.
    return [{ check: { provider, token: kept.token, host }, change: { provider, token: null, host, userId: null } }]
  })
}
