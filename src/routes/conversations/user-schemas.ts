// The wire shapes of what git providers tell about a user, and how domain values become them.

import { z } from '@hono/zod-openapi'
import type * as providers from '../../git-providers/provider.ts'
import { ProviderType, type SuggestedTask } from './schemas.ts'

export const User = z
  .object({
    id: z.string(),
    login: z.string(),
    avatar_url: z.string(),
    company: z.string().nullable(),
    name: z.string().nullable(),
    email: z.string().nullable(),
  })
  .openapi('User')

export const Repository = z
  .object({
    id: z.string(),
    full_name: z.string(),
    git_provider: ProviderType,
    is_public: z.boolean(),
    stargazers_count: z.int().nullable(),
    link_header: z.string().nullable(),
    pushed_at: z.string().nullable(),
    owner_type: z.enum(['user', 'organization']).nullable(),
    main_branch: z.string().nullable(),
  })
  .openapi('Repository')

export const Branch = z
  .object({
    name: z.string(),
    commit_sha: z.string(),
    protected: z.boolean(),
    last_push_date: z.string().nullable().optional(),
  })
  .openapi('Branch')

export const MicroagentResponse = z
  .object({ name: z.string(), path: z.string(), created_at: z.iso.datetime() })
  .openapi('MicroagentResponse')

export const MicroagentContentResponse = z
  .object({
    content: z.string(),
    path: z.string(),
    triggers: z.array(z.string()),
    git_provider: ProviderType.nullable(),
  })
  .openapi('MicroagentContentResponse')

export const userOnTheWire = (user: providers.User): z.infer<typeof User> => ({
  id: user.id,
  login: user.login,
  avatar_url: user.avatarUrl,
  company: user.company,
  name: user.name,
  email: user.email,
})

export const repositoryOnTheWire = (repository: providers.Repository): z.infer<typeof Repository> => ({
  id: repository.id,
  full_name: repository.fullName,
  git_provider: repository.provider,
  is_public: repository.isPublic,
  stargazers_count: repository.stars,
  // The client reads it from the first item of a page.
  link_header: repository.link,
  pushed_at: repository.pushedAt,
  owner_type: repository.ownerType,
  main_branch: repository.mainBranch,
})

export const branchOnTheWire = (branch: providers.Branch): z.infer<typeof Branch> => ({
  name: branch.name,
  commit_sha: branch.sha,
  protected: branch.isProtected,
  last_push_date: branch.pushedAt,
})

export const taskOnTheWire = (task: providers.SuggestedTask): z.infer<typeof SuggestedTask> => ({
  git_provider: task.provider,
  task_type: task.type,
  repo: task.repository,
  issue_number: task.number,
  title: task.title,
})
