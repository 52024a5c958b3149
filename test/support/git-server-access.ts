// Who may read and write the private repositories of the loopback git host, and the little of a provider's API that it
// has beside them, in the form of GitHub's (REST documentation, "Get a repository", read in 2025).

import { existsSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { CREDENTIALS } from './git-server-orders.ts'
import { GOOD_TOKENS } from './provider-host-types.ts'

const ACCEPTED: ReadonlySet<string> = new Set(
  [
    `${CREDENTIALS.username}:${CREDENTIALS.password}`,
    `x-access-token:${GOOD_TOKENS.github}`,
    `oauth2:${GOOD_TOKENS.gitlab}`,
    `x-token-auth:${GOOD_TOKENS.bitbucket}`,
    GOOD_TOKENS.appPassword,
  ].map((pair) => `Basic ${Buffer.from(pair).toString('base64')}`),
)

export function isAccepted({ headers }: IncomingMessage): boolean {
  return ACCEPTED.has(headers.authorization ?? '')
}

/** The open pull requests of this run, each as its repository and branch; their numbers are their places. */
const pulls: string[] = []

/**
 * `GET /api/v3/`, `GET /api/v3/repos/{owner}/{name}`, `POST …/pulls`. A private repository is a 404 for callers without access,
 * and a pull request for a branch that was not pushed is refused.
 */
export async function answerApi(
  root: string,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, owner = '', name = '', rest = ''] = /^\/api\/v3\/repos\/([\w-]+)\/([\w.-]+)(\/pulls)?$/.exec(path) ?? []
  const folder = join(root, owner, `${name}.git`)
  const answer = (status: number, body: object) => void response.writeHead(status).end(JSON.stringify(body))
  response.setHeader('content-type', 'application/json; charset=utf-8')
  if (request.headers.authorization !== `Bearer ${GOOD_TOKENS.github}`)
    return answer(401, { message: 'Bad credentials' })
  if (path === '/api/v3/') return answer(200, { current_user_url: 'user' })
  if (owner === '' || !existsSync(folder)) return answer(404, { message: 'Not Found' })
  if (rest === '') return answer(200, { id: 1, full_name: `${owner}/${name}`, private: true, owner: { type: 'User' } })
  const { head, draft } = JSON.parse((await request.toArray()).join('')) as { head: string; draft: boolean }
  const isThere = existsSync(join(folder, 'refs/heads', head))
  const pull = `${folder} ${head}`
  if (!isThere || pulls.includes(pull)) {
    const message = isThere ? `A pull request already exists for ${head}.` : 'head is invalid'
    return answer(422, { message: 'Validation Failed', errors: [{ resource: 'PullRequest', code: 'custom', message }] })
  }
  const number = pulls.push(pull)
  return answer(201, { number, draft, html_url: `http://${request.headers.host}/${owner}/${name}/pull/${number}` })
}
