import { valueError } from '../../http/validation.ts'
import type { InitSessionRequest } from './schemas.ts'

const HOSTS = { github: 'github.com', gitlab: 'gitlab.com', bitbucket: 'bitbucket.org', enterprise_sso: 'github.com' }
/** Two names or more: GitLab has groups within groups. */
const FULL_NAME = /^[\w.-]+(\/[\w.-]+)+$/

const MAX_LENGTH = 2_000
const TOO_LONG = `longer than ${MAX_LENGTH} characters`

export type Repository = {
  name: string
  url: string
  branch: string | null
  provider: string | null
  /** Whether a person chose where it is. */
  isTyped: boolean
}

/** What a request selects: `owner/name` at its provider, or an http(s) address. An empty branch means none. */
export function selectedRepository(body: InitSessionRequest, isTyped: boolean): Repository | null {
  const name = body.repository?.trim()
  if (!name) return null
  // They stand in the list and in the record of the conversation.
  if (name.length > MAX_LENGTH) throw valueError(['body', 'repository'], TOO_LONG, null)
  if ((body.selected_branch ?? '').length > MAX_LENGTH) throw valueError(['body', 'selected_branch'], TOO_LONG, null)
  const provider = body.git_provider ?? null
  const url = addressOf(name, provider ?? 'github')
  return { name, url, branch: body.selected_branch || null, provider, isTyped }
}

function addressOf(name: string, provider: keyof typeof HOSTS): string {
  if (FULL_NAME.test(name) && !name.split('/').includes('..')) return `https://${HOSTS[provider]}/${name}.git`
  const url = /^https?:\/\//i.test(name) && URL.canParse(name) ? new URL(name) : null
  if (url === null) throw valueError(['body', 'repository'], 'neither owner/name nor an http(s) address', name)
  if (url.username !== '' || url.password !== '') {
    throw valueError(['body', 'repository'], 'an address must not hold credentials', `${url.protocol}//…@${url.host}`)
  }
  return url.href
}
