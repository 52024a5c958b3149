import { env } from 'cloudflare:workers'
import { inject } from 'vitest'
import { storeTokens } from '../../src/db/provider-tokens.ts'
import { type Client, client, request } from './app.ts'

const host = inject('providerHost')

/** Sets the addresses of the three providers to loopback servers. */
export const PROVIDERS = {
  GITHUB_API_URL: `http://${host}/github`,
  GITLAB_API_URL: `http://${host}/gitlab`,
  BITBUCKET_API_URL: `http://${host}/bitbucket`,
  FETCH_TIMEOUT_SECONDS: '30',
}

type Token = { provider: string; token: string; host?: string }

export type Account = Client & {
  /** Requests user data from the loopback providers. */
  user<T = unknown>(path: string, vars?: Record<string, string>): Promise<{ status: number; body: T; headers: Headers }>
}

/** An owner with these stored tokens, in this order. */
export async function withTokens(...tokens: Token[]): Promise<Account> {
  const by = await client()
  for (const { provider, token, host: named = null } of tokens) {
    const changes = [{ provider, token, host: named, userId: null }]
    await storeTokens(env, { owner: by.owner, actor: 'test', changes })
  }
  const user = async <T>(path: string, vars: Record<string, string> = {}) => {
    const init = { headers: { 'x-session-api-key': by.key } }
    const response = await request(`/api/user/${path}`, init, { ...PROVIDERS, ...vars })
    return { status: response.status, body: (await response.json()) as T, headers: response.headers }
  }
  return { ...by, user }
}

/** The requests that the loopback providers received with a token. */
export async function askedWith(token: string): Promise<string[]> {
  const response = await fetch(`http://${host}/asked?token=${encodeURIComponent(token)}`)
  return response.json()
}
