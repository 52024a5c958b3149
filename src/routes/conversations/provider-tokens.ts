import { z } from '@hono/zod-openapi'
import { config } from '../../config.ts'
import {
  ownerProviderTokens,
  type ProviderToken,
  storeTokens,
  type TokenChange,
  unsetTokens,
} from '../../db/provider-tokens.ts'
import { readHost } from '../../git-providers/addresses.ts'
import { checkToken, type TokenToCheck, type TokenVerdict } from '../../git-providers/check-token.ts'
import { actorOf } from '../../http/app-env.ts'
import { AppError, type ValidationItem } from '../../http/errors.ts'
import { endpoint, errorBody } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { invalid, line } from '../../http/validation.ts'
import { changingSecrets } from '../secrets-changed.ts'
import { maskedErrorEnvelope, orDeclared, STORE_ANEW, sealedElsewhere } from './errors.ts'
import { MCPConfig, ProviderType } from './schemas.ts'

const ProviderTokenModel = z
  .object({
    token: z.string().max(16_384).nullish(),
    user_id: line({ max: 255 }).nullish(),
    host: line({ max: 255 }).nullish(),
  })
  .openapi('ProviderToken')

const POSTProviderModel = z
  .object({
    mcp_config: MCPConfig.nullish(),
    provider_tokens: z.partialRecord(z.string().pipe(ProviderType), ProviderTokenModel).default({}),
  })
  .openapi('POSTProviderModel')

const Message = z.object({ message: z.string() })

const app = router(maskedErrorEnvelope)
const tag = 'Settings'
const FAILED = 'Something went wrong storing git providers'

endpoint(
  app,
  {
    method: 'post',
    path: '/api/add-git-providers',
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Store tokens of git providers, each after its provider accepted it',
    body: { schema: POSTProviderModel, required: true },
    replies: {
      200: { description: 'Stored', schema: Message },
      401: { description: 'A provider refused its token, or the key is not valid', schema: errorBody('error') },
      500: { description: 'The store failed' },
      502: { description: 'A provider could not be asked' },
    },
  },
  async (c, { body }) => {
    const principal = c.get('principal')
    const { owner } = principal
    const incoming = readIncoming(body.provider_tokens)
    const stored = needsStored(incoming) ? await orDeclared(storedTokens(c.env, owner), FAILED) : []
    const plan = planOf(incoming, stored)
    const verdicts = await Promise.all(plan.map(({ check }) => checked(c.env, check)))
    const invalid = verdicts.find(({ verdict }) => !verdict.ok && verdict.reason === 'invalid')
    // The only 401 that is not about the caller's own key; it has the form of the other errors of this family.
    if (invalid) return c.json({ error: refusal(invalid.provider) }, 401)
    for (const { provider, verdict } of verdicts) demandReached(provider, verdict)
    const changes = plan.map(({ change }) => change)
    const write = () => storeTokens(c.env, { owner, actor: actorOf(principal), changes })
    await orDeclared(changingSecrets(c.env, owner, write), FAILED)
    return c.json({ message: 'Git providers stored' })
  },
)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/unset-provider-tokens',
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Remove all tokens of git providers',
    replies: { 200: { description: 'Removed', schema: Message }, 500: { description: 'The store failed' } },
  },
  async (c) => {
    const principal = c.get('principal')
    const by = { owner: principal.owner, actor: actorOf(principal) }
    const removal = changingSecrets(c.env, by.owner, () => unsetTokens(c.env, by))
    await orDeclared(removal, 'Something went wrong unsetting tokens')
    return c.json({ message: 'Unset Git provider tokens' })
  },
)

async function storedTokens(env: Env, owner: string): Promise<ProviderToken[]> {
  const found = await ownerProviderTokens(env, owner)
  if (found.ok) return found.tokens
  throw new AppError('declared_failure', sealedElsewhere('tokens', found.unreadable, STORE_ANEW))
}

async function checked(env: Env, token: TokenToCheck): Promise<{ provider: string; verdict: TokenVerdict }> {
  const { githubApiUrl, gitlabApiUrl, bitbucketApiUrl, addressPolicy, fetchTimeoutMs } = config(env)
  const verdict = await checkToken(token, {
    urls: { github: githubApiUrl, gitlab: gitlabApiUrl, bitbucket: bitbucketApiUrl },
    door: { policy: addressPolicy },
    timeoutMs: fetchTimeoutMs,
  })
  return { provider: token.provider, verdict }
}

function demandReached(provider: string, verdict: TokenVerdict): void {
  if (verdict.ok || verdict.reason !== 'unreachable') return
  throw new AppError('upstream_failed', `The ${provider} token could not be checked: ${verdict.detail}`)
}

const refusal = (provider: string) => `Invalid token. Please make sure it is a valid ${provider} token.`

export { app as providerTokens }

// The result of a request with tokens: which tokens must be checked with which provider, and what is stored if all
// checks succeed. The web client always sends all providers, with empty texts for the unchanged ones.

type Incoming = {
  provider: string
  /** Null: keep the stored one. */
  token: string | null
  /** Null: the provider's own host. Undefined: no host was given. */
  host: string | null | undefined
  userId: string | null
}

type Step = { check: TokenToCheck; change: TokenChange }

type WireToken = {
  token?: string | null | undefined
  host?: string | null | undefined
  user_id?: string | null | undefined
}

/** Throws the 422 with every invalid host. */
function readIncoming(tokens: Record<string, WireToken>): Incoming[] {
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

/** Whether the plan depends on stored tokens. */
function needsStored(incoming: readonly Incoming[]): boolean {
  return incoming.some(({ token, host }) => token === null && host !== undefined)
}

function planOf(incoming: readonly Incoming[], stored: readonly ProviderToken[]): Step[] {
  return incoming.flatMap(({ provider, token, host, userId }): Step[] => {
    if (token !== null) {
      const given = { provider, token, host: host ?? null }
      return [{ check: given, change: { ...given, userId } }]
    }
    const kept = stored.find((one) => one.provider === provider)
    if (kept === undefined || host === undefined || host === kept.host) return []
    // The stored token is used for the new host only after that host has accepted it.
    return [{ check: { provider, token: kept.token, host }, change: { provider, token: null, host, userId: null } }]
  })
}
