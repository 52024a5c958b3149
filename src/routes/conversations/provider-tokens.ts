import { z } from '@hono/zod-openapi'
import { config } from '../../config.ts'
import { ownerProviderTokens, type ProviderToken, storeTokens, unsetTokens } from '../../db/provider-tokens.ts'
import { checkToken, type TokenToCheck, type TokenVerdict } from '../../git-providers/check-token.ts'
import { actorOf } from '../../http/actor.ts'
import { errorBody } from '../../http/error-shapes.ts'
import { AppError } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { line } from '../../http/text.ts'
import { orDeclared, STORE_ANEW, sealedElsewhere } from './declared.ts'
import { maskedErrorEnvelope } from './masked-errors.ts'
import { MCPConfig, ProviderType } from './schemas.ts'
import { changingSecrets } from './secrets-changed.ts'
import { needsStored, planOf, readIncoming } from './token-plan.ts'

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
    // The one 401 that is not about the caller's own key, and worded like the other answers of this family.
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
