// The three tools that open pull and merge requests, under the names that the reference's agents know. They are served
// to clients, and offered to the agent itself; the callers send the request to the provider.

import { z } from 'zod'
import type { Family, NewRequest, OpenedRequest } from '../git-providers/provider.ts'
import type { ServedTool, ToolAnswer } from './serve.ts'
import type { McpTool } from './session-tools.ts'

export type RequestTool = ServedTool & { readonly provider: Family; newRequest(args: unknown): NewRequest }

const MAX_TITLE_CHARS = 1_000
const MAX_BODY_CHARS = 65_000
const MAX_LABELS = 100

const name = z.string().min(1).max(500)
const title = z.string().min(1).max(MAX_TITLE_CHARS)
const text = z.string().max(MAX_BODY_CHARS).nullish()
const labels = z.array(z.string().min(1).max(255)).max(MAX_LABELS).nullish().describe('Labels to set')
const source_branch = name.describe('The branch with the changes; it has to be pushed')
const target_branch = name.describe('The branch that is to take them up')
const repo_name = name.describe('The repository, as owner/name')

const PullArgs = z.object({
  repo_name,
  source_branch,
  target_branch,
  title,
  body: text.describe('The description, in Markdown'),
  draft: z.boolean().default(true).describe('Whether it is a draft'),
  labels,
})

const MergeArgs = z.object({
  id: z.union([z.int().positive(), name]).describe('The id of the project, or its path such as group/name'),
  source_branch,
  target_branch,
  title,
  description: text.describe('In Markdown'),
  labels,
})

const BitbucketArgs = z.object({
  repo_name: name.describe('The repository, as workspace/name'),
  source_branch,
  target_branch,
  title,
  description: text.describe('In Markdown'),
})

type Common = { source_branch: string; target_branch: string; title: string }

const common = ({ source_branch: sourceBranch, target_branch: targetBranch, title }: Common) => ({
  sourceBranch,
  targetBranch,
  title,
})

const TELLS = 'Uses the token that the user has stored, and answers with its URL.'

export const REQUEST_TOOLS: readonly RequestTool[] = [
  {
    name: 'create_pr',
    title: 'Open a GitHub pull request',
    description: `Open a pull request in GitHub. ${TELLS}`,
    input: PullArgs,
    readOnly: false,
    provider: 'github',
    newRequest: (args) => {
      const { repo_name: repository, body, draft, labels, ...rest } = PullArgs.parse(args)
      return { ...common(rest), repository, description: body ?? '', draft, labels: labels ?? [] }
    },
  },
  {
    name: 'create_mr',
    title: 'Open a GitLab merge request',
    description: `Open a merge request in GitLab. ${TELLS}`,
    input: MergeArgs,
    readOnly: false,
    provider: 'gitlab',
    newRequest: (args) => {
      const { id, description, labels, ...rest } = MergeArgs.parse(args)
      return {
        ...common(rest),
        repository: String(id),
        description: description ?? '',
        draft: false,
        labels: labels ?? [],
      }
    },
  },
  {
    name: 'create_bitbucket_pr',
    title: 'Open a Bitbucket pull request',
    description: `Open a pull request in Bitbucket. ${TELLS}`,
    input: BitbucketArgs,
    readOnly: false,
    provider: 'bitbucket',
    newRequest: (args) => {
      const { repo_name: repository, description, ...rest } = BitbucketArgs.parse(args)
      return { ...common(rest), repository, description: description ?? '', draft: false, labels: [] }
    },
  },
]

/** The answer to a request tool's call; `failure` says why the provider could not be asked. */
export function requestAnswer(provider: Family, opened: OpenedRequest | { failure: string }): ToolAnswer {
  if ('failure' in opened) return { ok: false, message: `${provider} did not open it: ${opened.failure}` }
  if (!opened.ok) return { ok: false, message: `${provider} did not open it: ${opened.reason}` }
  const remark = opened.labelled ? '' : '\nIt is open, but its labels could not be set.'
  return { ok: true, text: opened.url + remark }
}

/** The id of this service itself among the session's servers, for tools that it runs directly. */
const OWN_SERVER_ID = 'own'

/** The same tools in the form that an agent is offered. */
export function requestToolListing(tools: readonly RequestTool[]): McpTool[] {
  return tools.map(({ name, description, input }) => ({
    name,
    remoteName: name,
    description,
    parameters: z.toJSONSchema(input, { io: 'input' }),
    repeatable: false,
    serverId: OWN_SERVER_ID,
    serverLabel: 'this service',
  }))
}
