// The data of one repository from the owner's git providers: its branches and its microagents.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { OWN_DIRECTORY, parseMicroagent, plainMicroagent, REFERENCE_DIRECTORY } from '../../agent/microagents.ts'
import type { Account } from '../../git-providers/addresses.ts'
import { hostOf } from '../../git-providers/index.ts'
import { FAMILIES, type GitProvider } from '../../git-providers/provider.ts'
import {
  isFilePath,
  isRepositoryName,
  type ListedFile,
  microagentFolders,
  microagentsAmong,
  withoutDomain,
} from '../../git-providers/repository-names.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { AppError, stringEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { valueError } from '../../http/validation.ts'
import { isoMicros, systemClock } from '../../lib/clock.ts'
import { Branch, branchOnTheWire, FAILED, MicroagentContentResponse, MicroagentResponse } from './user.ts'
import { allFailed, askFirst, demandAccounts, failedHeader, storedAccounts, TOKEN_REQUIRED } from './user-providers.ts'

const app = router(stringEnvelope)
const tag = 'Git providers'

const RepositoryPath = z.object({ repository_name: z.string() })

const HIDDEN = [OWN_DIRECTORY, REFERENCE_DIRECTORY]
const RULES = { name: 'cursorrules', path: '.cursorrules' }

endpoint(
  app,
  {
    method: 'get',
    path: '/api/user/repository/branches',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Branches of a repository, main and master first, then the last pushed',
    query: z.object({ repository: z.string() }),
    replies: { 200: { description: 'Up to 1000', schema: z.array(Branch) }, ...FAILED },
  },
  async (c, { query }) => {
    demandName(query.repository, ['query', 'repository'])
    const { accounts, nameFor } = namedBy(await demandAccounts(c, TOKEN_REQUIRED), query.repository)
    const { found, failures } = await askFirst(c, accounts, async (provider, account) =>
      someOf(await provider.branches(nameFor(account))),
    )
    // A provider without such a repository has answered; it is an error only if all providers failed.
    if (found === null && failures.length === accounts.length) throw allFailed(failures)
    return c.json((found?.value ?? []).map(branchOnTheWire), 200, failedHeader(failures))
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/user/repository/{repository_name}/microagents',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Microagents that a repository keeps',
    params: RepositoryPath,
    replies: { 200: { description: 'Rules of the root first', schema: z.array(MicroagentResponse) }, ...FAILED },
  },
  async (c, { params }) => {
    const { accounts, nameFor, isAnonymous } = await readers(c, params.repository_name)
    const { found, failures } = await askFirst(c, accounts, async (provider, account) =>
      someOf(await microagentFiles(provider, nameFor(account))),
    )
    if (found === null && !isAnonymous && failures.length === accounts.length) throw allFailed(failures)
    // No provider returns the creation time of a file; clients expect a time, so it is the time of the answer.
    const created_at = isoMicros(systemClock())
    const listed = (found?.value ?? []).map(({ name, path }) => ({ name, path, created_at }))
    return c.json(listed, 200, failedHeader(failures))
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/user/repository/{repository_name}/microagents/content',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'One microagent of a repository',
    params: RepositoryPath,
    query: z.object({ file_path: z.string() }),
    replies: {
      200: { description: 'Without its front matter', schema: MicroagentContentResponse },
      404: { description: 'No such microagent' },
      ...FAILED,
    },
  },
  async (c, { params, query: { file_path: path } }) => {
    const { accounts, nameFor, isAnonymous } = await readers(c, params.repository_name)
    if (!isFilePath(path)) throw notFound(path, params.repository_name)
    const { found, failures } = await askFirst(c, accounts, (provider, account) =>
      provider.fileText(nameFor(account), path),
    )
    const parsed = found === null ? null : read(path, found.value)
    if (found === null || parsed === null) {
      if (found === null && !isAnonymous && failures.length === accounts.length) throw allFailed(failures)
      throw notFound(path, params.repository_name, failedHeader(failures))
    }
    const { content, triggers } = parsed
    return c.json({ content, path, triggers, git_provider: found.provider }, 200, failedHeader(failures))
  },
)

const someOf = <T>(items: T[]): T[] | null => (items.length > 0 ? items : null)

function notFound(path: string, repository: string, headers: Record<string, string> = {}): AppError {
  return new AppError('not_found', `Microagent file ${path} not found in ${repository}`, { headers })
}

/** The accounts for requests about a repository: the owner's, or, without any, each provider without a token. */
async function readers(c: Context<AppEnv>, repository: string) {
  demandName(repository, ['path', 'repository_name'])
  const stored = await storedAccounts(c)
  const isAnonymous = stored.length === 0
  const accounts = isAnonymous ? FAMILIES.map((provider) => ({ provider, token: null, host: null })) : stored
  return { ...namedBy(accounts, repository), isAnonymous }
}

/** Only the providers for which the name starts with their host, if there are any; each gets the name without its host. */
function namedBy(accounts: readonly Account[], repository: string) {
  const read = (account: Account) => withoutDomain(repository, hostOf(account))
  const named = accounts.filter((account) => read(account).isNamed)
  return {
    accounts: named.length > 0 ? named : accounts,
    nameFor: (account: Account) => read(account).name,
  }
}

function demandName(repository: string, loc: string[]): void {
  if (!isRepositoryName(repository)) throw valueError(loc, 'a repository is written as owner/name', repository)
}

/** The rules in the root, then the microagents of all folders; the first one with a name is used. */
async function microagentFiles(provider: GitProvider, repository: string): Promise<ListedFile[]> {
  const folders = microagentFolders(repository, HIDDEN)
  const [rules, ...lists] = await Promise.all([
    provider.fileText(repository, RULES.path),
    ...folders.map(async (folder) => microagentsAmong(folder, await provider.files(repository, folder))),
  ])
  const found = new Map<string, ListedFile>()
  for (const { key, name, path } of lists.flat()) {
    if (!found.has(key)) found.set(key, { name, path })
  }
  return [...(rules === null ? [] : [RULES]), ...found.values()]
}

/** The instructions in a file, or null if it is not a microagent. */
function read(path: string, text: string): { content: string; triggers: string[] } | null {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.md$/, '')
  if (path === RULES.path) return plainMicroagent(RULES.name, text)
  const parsed = parseMicroagent(name, text)
  return parsed.ok ? parsed.microagent : null
}

export { app as userRepository }
