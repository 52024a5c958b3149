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

/** `GET /api/v3/repos/{owner}/{name}`; a private repository is not there for who may not read it. */
export function answerApi(root: string, path: string, { headers }: IncomingMessage, response: ServerResponse): void {
  const [, owner = '', name = ''] = /^\/api\/v3\/repos\/([\w-]+)\/([\w.-]+)$/.exec(path) ?? []
  const isKnown = headers.authorization === `Bearer ${GOOD_TOKENS.github}`
  const isThere = owner !== '' && existsSync(join(root, owner, `${name}.git`))
  response.setHeader('content-type', 'application/json; charset=utf-8')
  if (!isKnown) {
    response.writeHead(401).end(JSON.stringify({ message: 'Bad credentials' }))
  } else if (isThere) {
    const repository = { id: 1, full_name: `${owner}/${name}`, private: true, owner: { type: 'User' } }
    response.end(JSON.stringify(repository))
  } else {
    response.writeHead(404).end(JSON.stringify({ message: 'Not Found' }))
  }
}
