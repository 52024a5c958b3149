// An agent with a model on a runner works through packages, one conversation for each; the git host shows the results.

import { GOOD_TOKENS } from '../../../test/support/provider-host-types.ts'
import { Follower, type SeenEvent } from '../follower.ts'
import { order, type Repository } from './packages.ts'
import { BRANCH, COMMIT, taskOf } from './script.ts'

export type TaskResult = {
  readonly ended: string
  readonly codes: string
  readonly pushed: string
  readonly requests: readonly number[]
}

/** The expected results. */
export const RIGHT: TaskResult = { ended: 'finished', codes: 'failed, then passed', pushed: COMMIT, requests: [17] }

/** The service's own tokens for the hosts that it talks to. */
export async function storeToken(service: string): Promise<void> {
  await send(`${service}/api/add-git-providers`, { provider_tokens: { github: { token: GOOD_TOKENS.github } } })
}

export async function workOn(
  service: string,
  host: string,
  { repository, screen }: { repository: Repository; screen: (event: SeenEvent) => void },
): Promise<TaskResult> {
  const { conversation_id: id } = await send<{ conversation_id: string }>(
    `${service}/api/conversations?runtime=runner`,
    {},
  )
  const path = `${service}/api/conversations/${id}`
  const follower = new Follower(`${path}/ws`, screen, () => {})
  await follower.connect()
  try {
    const isOpen = ({ extras }: SeenEvent) => extras?.agent_state === 'awaiting_user_input'
    await follower.until('the session', (seen) => seen.some(isOpen))
    follower.send({ action: 'message', args: { content: taskOf(repository) } })
    await follower.until('the end of the turn', (seen) => endOf(seen) !== null, TURN_MS)
    const codes = follower.seen.flatMap(({ observation, content = '' }) =>
      observation === 'run' ? [...content.matchAll(/tests ended with (\d+)/g)].map(([, code]) => code) : [],
    )
    const { pr_number: requests } = (await (await fetch(path)).json()) as { pr_number: number[] }
    return {
      ended: endOf(follower.seen) ?? '',
      codes: codes.length === 2 && codes[0] !== '0' && codes[1] === '0' ? RIGHT.codes : codes.join(', '),
      pushed: (await order(host, { cwd: repository.folder, git: [['log', '-1', '--format=%s', BRANCH]] }).catch(String))
        .toString()
        .trim(),
      requests,
    }
  } finally {
    follower.drop()
  }
}

/** A long timeout, because the time of an installation depends on the registry. */
const TURN_MS = 600_000
const RESTING = /^(finished|error|awaiting_user_input|stopped|rejected)$/

function endOf(seen: readonly SeenEvent[]): string | null {
  const begun = seen.findLastIndex(({ action, source }) => action === 'message' && source === 'user')
  const newest = seen.slice(begun + 1).findLast(({ observation }) => observation === 'agent_state_changed')
  const { agent_state: state = '' } = newest?.extras ?? {}
  return begun >= 0 && RESTING.test(state) ? state : null
}

async function send<T>(url: string, body: object): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}
