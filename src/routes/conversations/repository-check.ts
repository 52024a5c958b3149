// The repository that a conversation is to begin with, as far as it can be known before it is cloned. An owner with stored
// tokens learns at once that none of them may read it; without tokens the clone itself has to tell.

import type { Context } from 'hono'
import { ownerProviderTokens } from '../../db/provider-tokens.ts'
import type { Account } from '../../git-providers/api-client.ts'
import type { FailureWord } from '../../git-providers/failures.ts'
import { gitOriginOf } from '../../git-providers/git-access.ts'
import { hostOf } from '../../git-providers/index.ts'
import { isFamily } from '../../git-providers/provider.ts'
import { isRepositoryName, withoutDomain } from '../../git-providers/repository-names.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { AppError } from '../../http/errors.ts'
import { isAskedByModel } from '../../http/principal.ts'
import { valueError } from '../../http/validation.ts'
import { STORE_ANEW, sealedElsewhere } from './declared.ts'
import type { InitSessionRequest } from './schemas.ts'
import { askFirst } from './user-providers.ts'

type Candidate = { account: Account; name: string }

/** What the token may not read is not there; anything else that fails says nothing about the repository. */
const REFUSALS: ReadonlySet<FailureWord> = new Set(['unauthorized', 'forbidden', 'not-found'])

/** Null when none is selected. Throws a 400 for one that no stored token may read. */
export async function checkedRepository(c: Context<AppEnv>, body: InitSessionRequest): Promise<Repository | null> {
  const selected = selectedRepository(body, !isAskedByModel(c.req.raw))
  if (selected === null) return null
  const stored = await ownerProviderTokens(c.env, c.get('principal').owner)
  if (!stored.ok) {
    const msgId = 'STATUS$GIT_PROVIDER_AUTHENTICATION_ERROR'
    throw new AppError('unavailable', sealedElsewhere('tokens', stored.unreadable, STORE_ANEW), { msgId })
  }
  const accounts = stored.tokens.flatMap(({ provider, token, host }) =>
    isFamily(provider) ? [{ provider, token, host }] : [],
  )
  const candidates = candidatesFor(selected, accounts)
  const [first] = candidates
  if (first === undefined) return selected
  const names = new Map(candidates.map(({ account, name }) => [account, name]))
  const { found, failures } = await askFirst(c, [...names.keys()], async (provider, account) =>
    (await provider.isReadable(names.get(account) ?? '')) ? account : null,
  )
  if (found !== null) return at(selected, found.value, names.get(found.value) ?? '')
  const silent = failures.find(({ word }) => !REFUSALS.has(word))
  if (silent === undefined) throw unreadable(selected)
  const { account, name } = candidates.find((candidate) => candidate.account.provider === silent.provider) ?? first
  return at(selected, account, name)
}

/** The accounts that may know the repository, the named provider's first. */
function candidatesFor({ name, url, provider }: Repository, accounts: readonly Account[]): Candidate[] {
  if (/^https?:\/\//i.test(name)) {
    const { origin, pathname } = new URL(url)
    const path = pathname.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')
    const own = accounts.filter((account) => gitOriginOf(account) === origin)
    return isRepositoryName(path) ? own.map((account) => ({ account, name: path })) : []
  }
  const candidates = accounts.map((account) => ({ account, ...withoutDomain(name, hostOf(account)) }))
  const named = candidates.filter(({ isNamed }) => isNamed)
  const asked = named.length > 0 ? named : candidates
  return [
    ...asked.filter(({ account }) => account.provider === provider),
    ...asked.filter(({ account }) => account.provider !== provider),
  ]
}

function at(selected: Repository, account: Account, name: string): Repository {
  // Where an address was given, the clone goes there.
  const isAddress = /^https?:\/\//i.test(selected.name)
  const url = isAddress ? selected.url : `${gitOriginOf(account)}/${name}.git`
  // Either way it is at the host that was stored with the token.
  return { ...selected, url, provider: account.provider, isTyped: true }
}

function unreadable({ name }: Repository): AppError {
  return new AppError('bad_request', `Unable to access repo ${name}`, {
    msgId: 'STATUS$GIT_PROVIDER_AUTHENTICATION_ERROR',
  })
}

const HOSTS = { github: 'github.com', gitlab: 'gitlab.com', bitbucket: 'bitbucket.org', enterprise_sso: 'github.com' }
/** Two names or more: GitLab has groups within groups. */
const FULL_NAME = /^[\w.-]+(\/[\w.-]+)+$/

const MAX_LENGTH = 2_000
const TOO_LONG = `longer than ${MAX_LENGTH} characters`

type Repository = {
  name: string
  url: string
  branch: string | null
  provider: string | null
  /** Whether a person chose where it is. */
  isTyped: boolean
}

/** What a request selects: `owner/name` at its provider, or an http(s) address. An empty branch means none. */
function selectedRepository(body: InitSessionRequest, isTyped: boolean): Repository | null {
  const name = body.repository?.trim()
  if (!name) return null
  // They stand in the list and in the record of the conversation.
  if (name.length > MAX_LENGTH) throw valueError(['body', 'repository'], TOO_LONG, null)
  if ((body.selected_branch ?? '').length > MAX_LENGTH) throw valueError(['body', 'selected_branch'], TOO_LONG, null)
  const provider = body.git_provider ?? null
  const url = addressOf(name, provider ?? 'github')
  return { name, url, branch: body.selected_branch || null, provider, isTyped }
}

function addressOf(name: string, provider: keyof typeof HOSTS): string {
  if (FULL_NAME.test(name) && !name.split('/').includes('..')) return `https://${HOSTS[provider]}/${name}.git`
  const url = /^https?:\/\//i.test(name) && URL.canParse(name) ? new URL(name) : null
  if (url === null) throw valueError(['body', 'repository'], 'neither owner/name nor an http(s) address', name)
  if (url.username !== '' || url.password !== '') {
    throw valueError(['body', 'repository'], 'an address must not hold credentials', `${url.protocol}//…@${url.host}`)
  }
  return url.href
}
