import { z } from 'zod'
import type { Api } from './api-client.ts'
import { allPages, type SuggestedTask, type TaskType } from './provider.ts'

const NEWEST = 50

const TASKS = `query ($pulls: String!, $issues: String!, $newest: Int!) {
  pulls: search(query: $pulls, type: ISSUE, first: $newest) {
    nodes {
      ... on PullRequest {
        number title mergeable
        repository { nameWithOwner }
        commits(last: 1) { nodes { commit { statusCheckRollup { state } } } }
        reviews(first: 50, states: [CHANGES_REQUESTED, COMMENTED]) { nodes { state } }
      }
    }
  }
  issues: search(query: $issues, type: ISSUE, first: $newest) {
    nodes { ... on Issue { number title repository { nameWithOwner } } }
  }
}`

const DATES = `query ($owner: String!, $name: String!, $first: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    refs(refPrefix: "refs/heads/", first: $first, after: $after) {
      nodes { name target { ... on Commit { committedDate } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`

const Ticket = z.object({
  number: z.int(),
  title: z.string(),
  repository: z.object({ nameWithOwner: z.string() }),
})

const nodesOf = <T extends z.ZodType>(node: T) => z.object({ nodes: z.array(node.nullable()) })

const PullRequest = Ticket.extend({
  mergeable: z.string().nullish(),
  commits: nodesOf(
    z.object({ commit: z.object({ statusCheckRollup: z.object({ state: z.string() }).nullish() }) }),
  ).nullish(),
  reviews: nodesOf(z.object({ state: z.string() })).nullish(),
})
type PullRequest = z.infer<typeof PullRequest>

// A node that the token may not see is null, and an empty object where a search finds a thing of another kind.
const Nothing = z.strictObject({}).transform(() => null)
const Tasks = z.object({
  pulls: nodesOf(z.union([PullRequest, Nothing])),
  issues: nodesOf(z.union([Ticket, Nothing])),
})

const BranchDates = z.object({
  repository: z
    .object({
      refs: z
        .object({
          nodes: z.array(
            z
              .object({ name: z.string(), target: z.object({ committedDate: z.string().optional() }).nullish() })
              .nullable(),
          ),
          pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() }),
        })
        .nullish(),
    })
    .nullish(),
})

/** GitHub Enterprise Server keeps GraphQL beside its REST API, github.com below it. */
const graphqlUrl = ({ base }: Api): string =>
  /\/api\/v3$/.test(base) ? base.replace(/v3$/, 'graphql') : `${base}/graphql`

/** What waits for the user: their newest open pull requests that are in trouble, and the newest issues assigned to them. */
export async function githubTasks(api: Api): Promise<SuggestedTask[]> {
  const variables = {
    pulls: 'is:pr is:open archived:false author:@me sort:created-desc',
    issues: 'is:issue is:open archived:false assignee:@me sort:created-desc',
    newest: NEWEST,
  }
  const { pulls, issues } = await api.graphql(graphqlUrl(api), { query: TASKS, variables, schema: Tasks })
  const requests = pulls.nodes.flatMap((request) => {
    const type = request === null ? null : troubleOf(request)
    return request === null || type === null ? [] : [taskOf(request, type)]
  })
  return [...requests, ...issues.nodes.flatMap((issue) => (issue === null ? [] : [taskOf(issue, 'OPEN_ISSUE')]))]
}

function troubleOf({ mergeable, commits, reviews }: PullRequest): TaskType | null {
  if (mergeable === 'CONFLICTING') return 'MERGE_CONFLICTS'
  const checks = commits?.nodes[0]?.commit.statusCheckRollup?.state
  if (checks === 'FAILURE' || checks === 'ERROR') return 'FAILING_CHECKS'
  const isOpen = reviews?.nodes.some((review) => review?.state === 'CHANGES_REQUESTED' || review?.state === 'COMMENTED')
  return isOpen ? 'UNRESOLVED_COMMENTS' : null
}

const taskOf = ({ repository, number, title }: z.infer<typeof Ticket>, type: TaskType): SuggestedTask => ({
  provider: 'github',
  type,
  repository: repository.nameWithOwner,
  number,
  title,
})

/** When each branch was last committed to. */
export async function githubBranchDates(api: Api, repository: string): Promise<ReadonlyMap<string, string>> {
  const [owner, name] = repository.split('/')
  let after: string | null = null
  const found = await allPages(async ({ perPage }) => {
    const variables: Record<string, unknown> = { owner, name, first: perPage, after }
    const answer = await api.graphql(graphqlUrl(api), { query: DATES, variables, schema: BranchDates })
    const refs = answer.repository?.refs
    after = refs?.pageInfo.endCursor ?? null
    return { items: refs?.nodes ?? [], hasNext: refs?.pageInfo.hasNextPage === true && after !== null }
  })
  return new Map(
    found.flatMap((ref) => (ref?.target?.committedDate === undefined ? [] : [[ref.name, ref.target.committedDate]])),
  )
}
