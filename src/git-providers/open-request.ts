// Asks a provider to review a branch: GitHub and Bitbucket call it a pull request, GitLab a merge request.

import { z } from 'zod'
import { UpstreamError } from '../lib/http-client.ts'
import { log } from '../lib/log.ts'
import type { Api } from './api-client.ts'
import type { NewRequest, OpenedRequest } from './provider.ts'
import { encodedPath, isRepositoryName } from './repository-names.ts'

const GitHubPull = z.object({ number: z.int(), html_url: z.url() })
const GitLabMerge = z.object({ iid: z.int(), web_url: z.url() })
const BitbucketPull = z.object({ id: z.int(), links: z.object({ html: z.object({ href: z.url() }) }) })

const MALFORMED: OpenedRequest = { ok: false, reason: 'the repository is not named as owner/name' }

export async function openOnGitHub(api: Api, request: NewRequest): Promise<OpenedRequest> {
  if (!isRepositoryName(request.repository)) return MALFORMED
  const path = `/repos/${encodedPath(request.repository)}`
  const { title, sourceBranch: head, targetBranch: base, description: body, draft } = request
  const posted = await api.post(`${path}/pulls`, { title, head, base, body, draft }, GitHubPull)
  if (!posted.ok) return posted
  const { number, html_url: url } = posted.value
  const labelled = request.labels.length === 0 || (await labelOnGitHub(api, `${path}/issues/${number}/labels`, request))
  return { ok: true, url, number, labelled }
}

/** Labels are added afterwards: the pull request exists even if this fails. */
async function labelOnGitHub(api: Api, path: string, { labels }: NewRequest): Promise<boolean> {
  try {
    return (await api.post(path, { labels }, z.unknown())).ok
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    log.warn('git_providers.no_labels', { provider: 'github', reason: error.reason, status: error.status })
    return false
  }
}

export async function openOnGitLab(api: Api, request: NewRequest): Promise<OpenedRequest> {
  const project = request.repository
  if (!/^\d+$/.test(project) && !isRepositoryName(project)) return MALFORMED
  const { title, description, labels, sourceBranch: source_branch, targetBranch: target_branch } = request
  const body = { source_branch, target_branch, title, description, labels: labels.join(',') }
  const posted = await api.post(`/projects/${encodeURIComponent(project)}/merge_requests`, body, GitLabMerge)
  return posted.ok ? { ok: true, url: posted.value.web_url, number: posted.value.iid, labelled: true } : posted
}

export async function openOnBitbucket(api: Api, request: NewRequest): Promise<OpenedRequest> {
  if (!isRepositoryName(request.repository)) return MALFORMED
  const { title, description, sourceBranch, targetBranch } = request
  const body = {
    title,
    description,
    source: { branch: { name: sourceBranch } },
    destination: { branch: { name: targetBranch } },
    close_source_branch: false,
  }
  const posted = await api.post(`/repositories/${encodedPath(request.repository)}/pullrequests`, body, BitbucketPull)
  if (!posted.ok) return posted
  const { id, links } = posted.value
  return { ok: true, url: links.html.href, number: id, labelled: true }
}
