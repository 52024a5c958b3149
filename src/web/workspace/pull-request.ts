// Sends the changes of a workspace to the conversation's git host, as a pull or merge request. Commit and push are
// commands of the user in the conversation; the request is opened with the stored token, and its number is stored in
// the conversation.

import { ApiError, getConversation, newestStateEvent, request, sendJson } from '../api.ts'
import { getSettings } from '../settings/settings-api.ts'
import { say, type Text } from '../texts.ts'
import type { EventPage, StoredEvent } from '../wire.ts'
import { startAgain } from './workspace-api.ts'

const PROVIDERS = {
  github: { name: 'GitHub', tool: 'create_pr', repository: 'repo_name', text: 'body', hasDrafts: true },
  gitlab: { name: 'GitLab', tool: 'create_mr', repository: 'id', text: 'description', hasDrafts: false },
  bitbucket: {
    name: 'Bitbucket',
    tool: 'create_bitbucket_pr',
    repository: 'repo_name',
    text: 'description',
    hasDrafts: false,
  },
} as const
export type Provider = keyof typeof PROVIDERS

export const nameOfProvider = (provider: Provider): string => PROVIDERS[provider].name
/** The host's name for it; only GitLab has a different one. */
export const nameOfRequest = (provider: string | null): Text =>
  provider === 'gitlab' ? 'Merge request' : 'Pull request'
export const hasDrafts = (provider: Provider): boolean => PROVIDERS[provider].hasDrafts

/** Why a request cannot be made, and where to fix this. */
export class Hindrance extends Error {
  override readonly name = 'Hindrance'
  readonly to: string | null
  /** The message of the program or the host. */
  readonly said: string

  constructor(sentence: string, { to = null, said = '' }: { to?: string | null; said?: string } = {}) {
    super(sentence)
    this.to = to
    this.said = said
  }
}

export type Draft = { branch: string; into: string; title: string; text: string; isDraft: boolean }
export type Target = { provider: Provider; repository: string; draft: Draft; numbers: readonly number[] }

const TOKENS = '/settings/git-hosts'

/** The target of the request, with the initial values of the form. */
export async function targetOf(id: string): Promise<Target> {
  const [found, settings] = await Promise.all([getConversation(id), getSettings()])
  const provider = found?.git_provider ?? null
  if (found === null || !found.selected_repository)
    throw new Hindrance(say('This conversation was not begun with a repository of a git host.'), { to: '/' })
  // Without stored settings, the tokens are unknown: then the host decides.
  const lacksToken = settings !== null && !((provider ?? '') in (settings.provider_tokens_set ?? {}))
  if (provider === null || !(provider in PROVIDERS) || lacksToken)
    throw new Hindrance(
      say('No token is stored for the host of {repository}.', { repository: found.selected_repository }),
      {
        to: TOKENS,
      },
    )
  const repository = found.selected_repository
  const into = found.selected_branch ?? (await mainBranch(repository))
  const draft = { branch: `bellwether-${id.slice(0, 8)}`, into, title: found.title, text: '', isDraft: true }
  return { provider: provider as Provider, repository, draft, numbers: found.pr_number }
}

/** The main branch is the first in the list; users who may not list branches enter the name. */
async function mainBranch(repository: string): Promise<string> {
  try {
    const path = `/api/user/repository/branches?repository=${encodeURIComponent(repository)}`
    return (await request<{ name: string }[]>(path))[0]?.name ?? 'main'
  } catch (error) {
    if (error instanceof ApiError) return 'main'
    throw error
  }
}

/** The names that git accepts for a branch, except for rare cases that git itself refuses. */
export const isBranchName = (name: string): boolean =>
  /^[^\s~^:?*[\\\p{Cc}]+$/u.test(name) && !/^[-/.]|\.\.|@\{|\/\/|\/\.|[/.]$|\.lock$/.test(name)

export const STEPS = ['Committing…', 'Pushing…', 'Opening the request…'] as const satisfies readonly Text[]
export type Step = (typeof STEPS)[number]

/** The URL of the opened request. */
export async function openRequest(
  id: string,
  { provider, repository, draft }: Pick<Target, 'provider' | 'repository' | 'draft'>,
  onStep: (step: Step) => void,
): Promise<string> {
  await demandRest(id)
  const folder = `/workspace/${repository
    .split('/')
    .at(-1)
    ?.replace(/\.git$/, '')}`
  onStep('Committing…')
  const committed = await runCommand(id, inFolder(folder, commitCommand(draft)))
  if (committed.exitCode !== 0) throw new Hindrance(say('The commit failed.'), { said: committed.output })
  onStep('Pushing…')
  const pushed = await runCommand(id, inFolder(folder, `git push -u origin ${quoted(draft.branch)}`))
  if (pushed.exitCode !== 0) throw pushHindrance(pushed.output, draft.branch)
  onStep('Opening the request…')
  return askHost(id, { provider, repository, draft })
}

async function demandRest(id: string): Promise<void> {
  const state = (await newestStateEvent(id))?.extras?.agent_state
  if (state === 'running' || state === 'awaiting_user_confirmation')
    throw new Hindrance(say('The agent is at work here. Wait until it has done it, or stop it.'), {
      to: `/conversations/${encodeURIComponent(id)}`,
    })
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A machine without a sandbox has another path for the workspace; there, it is the current folder of the commands. */
const inFolder = (folder: string, command: string): string =>
  `(cd ${quoted(folder)} 2>/dev/null || cd "$(git rev-parse --show-toplevel)" || exit 1; ${command})`

/** An existing branch is continued; if everything is committed, no commit is made. */
const commitCommand = ({ branch, title }: Draft): string =>
  `git checkout -q -b ${quoted(branch)} 2>/dev/null || git checkout -q ${quoted(branch)} || exit 1; ` +
  `git add -A && { [ -z "$(git status --porcelain)" ] || git commit -q -m ${quoted(title)}; }`

const ASK_EVERY_MS = 500
const LONGEST_MS = 5 * 60_000

type Outcome = { exitCode: number; output: string }

/** The result of the command of this event. Other commands may run at the same time; a stopped command has only an error. */
export function outcomeOf(events: readonly StoredEvent[], action: number): Outcome | null {
  const ends = (kind: string | undefined): boolean => kind === 'run' || kind === 'error'
  const outcome = events.find(({ observation, cause }) => ends(observation) && cause === action)
  if (outcome === undefined) return null
  const metadata = outcome.extras?.metadata as { exit_code?: number } | undefined
  return { exitCode: metadata?.exit_code ?? -1, output: outcome.content ?? '' }
}

async function runCommand(id: string, command: string): Promise<Outcome> {
  const place = `/api/conversations/${encodeURIComponent(id)}`
  const send = () =>
    request<{ event_id: number }>(`${place}/events?wait=0`, sendJson('POST', { action: 'run', args: { command } }))
  const { event_id: action } = await send().catch(async (error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
    await startAgain(id)
    return send()
  })
  for (
    const end = Date.now() + LONGEST_MS;
    Date.now() < end;
    await new Promise((done) => setTimeout(done, ASK_EVERY_MS))
  ) {
    const kinds = 'include_types=run&include_types=error'
    const { events } = await request<EventPage>(`${place}/events?start_id=${action}&limit=100&${kinds}`)
    const outcome = outcomeOf(events, action)
    if (outcome !== null) return outcome
  }
  throw new Hindrance(say('The command has not ended yet. The conversation shows it.'), {
    to: `/conversations/${encodeURIComponent(id)}`,
  })
}

/** The meaning of a host's error after a refused push. */
export function pushHindrance(said: string, branch: string): Hindrance {
  if (/protected branch|GH006|not allowed to push|hook declined/i.test(said))
    return new Hindrance(say('The host takes no push to {branch}: it is protected. Choose another name.', { branch }), {
      said,
    })
  if (/\b40[13]\b|authenticat|credential|permission|denied|could not read username/i.test(said))
    return new Hindrance(say('The host does not take the stored token for a push.'), { to: TOKENS, said })
  if (/non-fast-forward|fetch first|\[rejected\]/i.test(said))
    return new Hindrance(say('At the host {branch} has commits that are not here. Choose another name.', { branch }), {
      said,
    })
  return new Hindrance(say('The push failed.'), { said })
}

type Called = { result?: { content: { text: string }[]; isError?: boolean }; error?: { message: string } }

/** Uses the service's own tools for this, which use the token and never open a second request for one call. */
async function askHost(id: string, { provider, repository, draft }: Pick<Target, 'provider' | 'repository' | 'draft'>) {
  const { tool, repository: named, text, hasDrafts: canDraft } = PROVIDERS[provider]
  const args = {
    [named]: repository,
    source_branch: draft.branch,
    target_branch: draft.into,
    title: draft.title,
    [text]: draft.text,
    ...(canDraft && { draft: draft.isDraft }),
  }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args } }
  const answer = await request<Called>('/mcp', {
    ...sendJson('POST', call),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-bellwether-serverconversation-id': id,
    },
  })
  const said = answer.result?.content[0]?.text ?? answer.error?.message ?? ''
  if (answer.result === undefined || answer.result.isError === true) throw hostHindrance(said, draft.branch)
  return said.split('\n')[0] ?? ''
}

/** The service's message about a host that opened no request. */
export function hostHindrance(said: string, branch: string): Hindrance {
  if (/stored tokens?\b|token is stored/.test(said))
    return new Hindrance(say('The host does not take the stored token for a request.'), { to: TOKENS, said })
  if (/no such thing/.test(said))
    return new Hindrance(say('The host shows no such repository to the stored token.'), { to: TOKENS, said })
  if (/already exists|already open/i.test(said))
    return new Hindrance(say('A request for {branch} is open already: the push has gone there.', { branch }), { said })
  return new Hindrance(say('The host opened no request.'), { said })
}

// The requests that were opened from this browser, so that they are found again and not opened twice.

const storedAs = (id: string): string => `bellwether.request.${id}`

export function openedBefore(id: string): string | null {
  const address = ofBrowser(() => localStorage.getItem(storedAs(id)))
  return address !== null && /^https?:\/\//.test(address) ? address : null
}

export const noteOpened = (id: string, address: string): void => {
  ofBrowser(() => localStorage.setItem(storedAs(id), address))
}

/** If the browser stores nothing for pages, earlier requests are unknown. */
function ofBrowser<T>(ask: () => T): T | null {
  try {
    return ask()
  } catch (error) {
    if (error instanceof DOMException) return null
    throw error
  }
}
