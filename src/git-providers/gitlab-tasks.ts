import { z } from 'zod'
import type { Api } from './api-client.ts'
import type { SuggestedTask, TaskType } from './provider.ts'

const NEWEST = 100

const REQUESTS = `query ($newest: Int!) {
  currentUser {
    authoredMergeRequests(state: opened, sort: UPDATED_DESC, first: $newest) {
      nodes {
        iid title conflicts
        project { fullPath }
        pipelines(first: 1) { nodes { status } }
        discussions(first: 100) { nodes { notes { nodes { resolvable resolved } } } }
      }
    }
  }
}`

const nodesOf = <T extends z.ZodType>(node: T) => z.object({ nodes: z.array(node.nullable()).nullish() }).nullish()

const MergeRequest = z.object({
  /** A number in text. */
  iid: z.string().regex(/^\d{1,15}$/),
  title: z.string(),
  conflicts: z.boolean().nullish(),
  project: z.object({ fullPath: z.string() }),
  pipelines: nodesOf(z.object({ status: z.string() })),
  discussions: nodesOf(
    z.object({ notes: nodesOf(z.object({ resolvable: z.boolean().nullish(), resolved: z.boolean().nullish() })) }),
  ),
})
type MergeRequest = z.infer<typeof MergeRequest>

const Requests = z.object({ currentUser: z.object({ authoredMergeRequests: nodesOf(MergeRequest) }) })

const Issues = z.array(z.object({ iid: z.int(), title: z.string(), references: z.object({ full: z.string() }) }))

/** GitLab keeps GraphQL beside version 4 of its REST API. */
const graphqlUrl = ({ base }: Api): string => (/\/v4$/.test(base) ? base.replace(/v4$/, 'graphql') : `${base}/graphql`)

/** What waits for the user: their open merge requests that are in trouble, and the issues assigned to them. */
export async function gitlabTasks(api: Api): Promise<SuggestedTask[]> {
  const question = { query: REQUESTS, variables: { newest: NEWEST }, schema: Requests }
  const path = `/issues?scope=assigned_to_me&state=opened&order_by=created_at&sort=desc&per_page=${NEWEST}`
  const [{ currentUser }, issues] = await Promise.all([api.graphql(graphqlUrl(api), question), api.get(path, Issues)])
  const requests = currentUser.authoredMergeRequests?.nodes ?? []
  return [...requests.flatMap(requestTasks), ...issues.map(issueTask)]
}

function requestTasks(request: MergeRequest | null): SuggestedTask[] {
  const type = request === null ? null : troubleOf(request)
  if (request === null || type === null) return []
  const { project, iid, title } = request
  return [{ provider: 'gitlab', type, repository: project.fullPath, number: Number(iid), title }]
}

function troubleOf({ conflicts, pipelines, discussions }: MergeRequest): TaskType | null {
  if (conflicts) return 'MERGE_CONFLICTS'
  if (pipelines?.nodes?.[0]?.status === 'FAILED') return 'FAILING_CHECKS'
  const notes = (discussions?.nodes ?? []).flatMap((discussion) => discussion?.notes?.nodes ?? [])
  return notes.some((note) => note?.resolvable && !note.resolved) ? 'UNRESOLVED_COMMENTS' : null
}

/** Of an issue's full reference, such as `group/project#12`, what stands before its number. */
const issueTask = ({ iid, title, references }: z.infer<typeof Issues>[number]): SuggestedTask => ({
  provider: 'gitlab',
  type: 'OPEN_ISSUE',
  repository: references.full.replace(/#\d+$/, ''),
  number: iid,
  title,
})
