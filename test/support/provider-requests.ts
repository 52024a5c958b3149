// Pull and merge requests at the loopback providers. Answers follow the public REST documentation of the three, read in
// 2025; the title of a request selects the result.

import { filesOf, type ProviderRequest, type Reply } from './provider-files.ts'

type Body = Record<string, unknown>

/** The response to a request that creates something, or null for any other request. */
export function requestReply(family: string, asked: ProviderRequest): Reply | null {
  const { request, path } = asked
  if (request.method !== 'POST' || path === '/graphql') return null
  const body = JSON.parse(asked.body) as Body
  const decoded = decodeURIComponent(path)
  if (family === 'github') return onGitHub(decoded, body)
  return family === 'gitlab' ? onGitLab(decoded, body) : onBitbucket(decoded, body)
}

function onGitHub(path: string, body: Body): Reply | null {
  const [, repository = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)\/(.*)$/.exec(path) ?? []
  if (filesOf(repository) === null) return { status: 404, body: { message: 'Not Found' } }
  if (rest === 'issues/17/labels') {
    const isKnown = !JSON.stringify(body.labels).includes('no such')
    return isKnown ? { status: 200, body: [{ name: 'bug' }] } : { status: 422, body: { message: 'Validation Failed' } }
  }
  if (rest !== 'pulls') return null
  if (body.title === 'again') {
    const errors = [
      { resource: 'PullRequest', code: 'custom', message: `A pull request already exists for ${body.head}.` },
    ]
    return { status: 422, body: { message: 'Validation Failed', errors } }
  }
  if (body.title === 'page') return { status: 422, body: '<html>unprocessable</html>' }
  const draft = body.draft === true ? '?draft' : ''
  return { status: 201, body: { number: 17, html_url: `https://github.com/${repository}/pull/17${draft}` } }
}

function onGitLab(path: string, body: Body): Reply | null {
  const [, project = ''] = /^\/projects\/(.+)\/merge_requests$/.exec(path) ?? []
  if (project === '') return null
  if (body.title === 'again') {
    const message = ['Another open merge request already exists for this source branch: !8']
    return { status: 409, body: { message } }
  }
  if (body.title === 'strange') return { status: 201, body: { iid: 'nine' } }
  return { status: 201, body: { iid: 9, web_url: `https://gitlab.com/${project}/-/merge_requests/9?${body.labels}` } }
}

function onBitbucket(path: string, body: Body): Reply | null {
  const [, repository = ''] = /^\/repositories\/([^/]+\/[^/]+)\/pullrequests$/.exec(path) ?? []
  if (repository === '') return null
  if (body.title === 'again') {
    return { status: 400, body: { type: 'error', error: { message: 'There are no changes to be pulled' } } }
  }
  const { branch } = body.source as { branch: { name: string } }
  const href = `https://bitbucket.org/${repository}/pull-requests/4?${branch.name}`
  return { status: 201, body: { id: 4, links: { html: { href } } } }
}
