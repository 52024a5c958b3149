import { type Arguments, parseArguments } from '../arguments.ts'
import { setUpstream } from '../branches.ts'
import { fatal, GitFailure } from '../failure.ts'
import { isAncestor } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { parseAddress } from '../remote-address.ts'
import { abbreviate, fullRefName, upstreamOf } from '../revisions.ts'
import { type Pushed, pushTo } from '../transfers.ts'
import { addressOf, usualRemote } from './remote.ts'

const OPTIONS = [
  'set-upstream|u',
  'force|f',
  'force-with-lease?',
  'tags',
  'delete|d',
  'quiet|q',
  'verbose|v',
  'all',
  'dry-run|n',
  'no-verify',
  'progress',
  'no-progress',
  'porcelain',
  'follow-tags',
  'force-if-includes',
]

interface Update {
  /** Null removes the remote's ref. */
  ref: string | null
  remoteRef: string
  force: boolean
  /** Where the remote's ref was when it was last seen. */
  before: string | null
}

export async function push(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('push', OPTIONS, args)
  const repo = git.repo()
  const [given, ...specs] = options.rest
  const head = await repo.refs.head()
  const branch = head.ref?.replace(/^refs\/heads\//, '') ?? null
  const upstream = branch === null ? null : await upstreamOf(repo, branch)
  const name =
    given ??
    (await git.setting('remote.pushDefault')) ??
    (upstream?.remote !== '.' ? upstream?.remote : undefined) ??
    (await usualRemote(git))
  const { remote, url } = await target(git, name, given === undefined)
  const updates = await updatesFor(git, {
    options,
    specs,
    branch,
    upstream: upstream?.remote === remote ? upstream.branch : null,
    remote,
  })
  const shown = parseAddress(url).url
  const rows: string[] = []
  let isRefused = false
  for (const update of updates) {
    const row = await pushOne(git, { update, remote, url, isDry: options.has('dry-run') })
    if (row.text !== null) rows.push(row.text)
    isRefused ||= row.isRefused
    if (!row.isRefused && options.has('set-upstream') && update.ref?.startsWith('refs/heads/')) {
      await setUpstream(
        git,
        update.ref.slice('refs/heads/'.length),
        update.remoteRef.replace('refs/heads/', `refs/remotes/${remote}/`),
      )
    }
  }
  if (isRefused) throw refused(shown, rows)
  if (!options.has('quiet')) git.err(rows.length === 0 ? 'Everything up-to-date' : [`To ${shown}`, ...rows].join('\n'))
  return 0
}

async function target(git: Invocation, name: string, isGuessed: boolean): Promise<{ remote: string; url: string }> {
  if (isGuessed && (await git.repo().config()).get(`remote.${name}.url`) === null) {
    throw fatal(
      'No configured push destination.\nEither specify the URL from the command-line or configure a remote repository using\n\n' +
        '    git remote add <name> <url>\n\nand then push using the remote name\n\n    git push <name>\n',
    )
  }
  return addressOf(git, name, 'push')
}

type Wish = { options: Arguments; specs: string[]; branch: string | null; upstream: string | null; remote: string }

async function updatesFor(git: Invocation, wish: Wish): Promise<Update[]> {
  const { options, specs } = wish
  const repo = git.repo()
  const wanted = [...specs]
  if (options.has('tags')) wanted.push(...(await repo.refs.list('refs/tags/')).keys())
  if (options.has('all')) wanted.push(...(await repo.refs.list('refs/heads/')).keys())
  if (wanted.length === 0 || (options.has('follow-tags') && specs.length === 0)) wanted.push(defaultSpec(wish))
  const updates: Update[] = []
  for (const spec of wanted) updates.push(await updateOf(git, spec, wish))
  return updates
}

/** The current branch, to the branch of the same name that it follows. */
function defaultSpec({ options, branch, upstream, remote }: Wish): string {
  if (branch === null) {
    throw fatal(
      'You are not currently on a branch.\nTo push the history leading to the current (detached HEAD)\nstate now, use\n\n' +
        `    git push ${remote} HEAD:<name-of-remote-branch>\n`,
    )
  }
  if (options.has('set-upstream')) return branch
  if (upstream === null) {
    throw fatal(
      `The current branch ${branch} has no upstream branch.\nTo push the current branch and set the remote as upstream, use\n\n` +
        `    git push --set-upstream ${remote} ${branch}\n`,
    )
  }
  if (upstream !== `refs/heads/${branch}`) {
    throw fatal(
      'The upstream branch of your current branch does not match\nthe name of your current branch.  To push to the upstream branch\n' +
        `on the remote, use\n\n    git push ${remote} HEAD:${upstream.replace('refs/heads/', '')}\n\nTo push to the branch of the same name on the remote, use\n\n    git push ${remote} HEAD\n`,
    )
  }
  return branch
}

async function updateOf(git: Invocation, spec: string, { options, branch, remote }: Wish): Promise<Update> {
  const repo = git.repo()
  const force = spec.startsWith('+') || options.has('force') || options.has('force-with-lease')
  const [source = '', goal] = spec.replace(/^\+/, '').split(':')
  const isRemoval = options.has('delete') || (source === '' && goal !== undefined)
  const own = isRemoval
    ? null
    : source === 'HEAD' && branch !== null
      ? `refs/heads/${branch}`
      : await fullRefName(repo, source)
  if (!isRemoval && own === null) {
    throw new GitFailure(
      `error: src refspec ${source} does not match any\nerror: failed to push some refs to '${await shownUrl(git, remote)}'`,
      1,
    )
  }
  if (own === 'HEAD')
    throw new GitFailure(
      'git push: pushing a detached HEAD is not available here; make a branch first (git switch -c <name>)',
      1,
    )
  const name = goal ?? (isRemoval ? source : (own ?? source))
  const remoteRef = name.startsWith('refs/')
    ? name
    : own?.startsWith('refs/tags/')
      ? `refs/tags/${name}`
      : `refs/heads/${name}`
  const before = await repo.refs.resolve(remoteRef.replace('refs/heads/', `refs/remotes/${remote}/`))
  return { ref: own, remoteRef, force, before }
}

async function shownUrl(git: Invocation, remote: string): Promise<string> {
  return parseAddress((await addressOf(git, remote, 'push')).url).url
}

type Push = { update: Update; remote: string; url: string; isDry: boolean }

async function pushOne(
  git: Invocation,
  { update, remote, url, isDry }: Push,
): Promise<{ text: string | null; isRefused: boolean }> {
  const repo = git.repo()
  const { ref, remoteRef, before, force } = update
  const own = ref === null ? null : await repo.refs.resolve(ref)
  if (ref !== null && own === before && remoteRef.startsWith('refs/heads/')) return { text: null, isRefused: false }
  const result: Pushed = isDry
    ? { ok: true }
    : await pushTo(repo, { remotes: git.remotes, signal: git.signal, remote, url, ref, remoteRef, force })
  const short = (name: string) => name.replace(/^refs\/(heads|tags)\//, '')
  const names = `${ref === null ? '' : `${short(ref)} -> `}${short(remoteRef)}`
  if (!result.ok)
    return {
      text: ` ! ${result.isRejection ? '[rejected]       ' : '[remote rejected]'} ${names} (${result.reason})`,
      isRefused: true,
    }
  if (ref === null) return { text: ` - ${'[deleted]'.padEnd(17)} ${names}`, isRefused: false }
  if (before === null)
    return {
      text: ` * ${(ref.startsWith('refs/tags/') ? '[new tag]' : '[new branch]').padEnd(17)} ${names}`,
      isRefused: false,
    }
  const isForward = own !== null && (await isAncestor(repo, before, own))
  const ids = `${await abbreviate(repo, before)}${isForward ? '..' : '...'}${await abbreviate(repo, own ?? '')}`
  return {
    text: ` ${isForward ? ' ' : '+'} ${ids.padEnd(17)} ${names}${isForward ? '' : ' (forced update)'}`,
    isRefused: false,
  }
}

function refused(url: string, rows: readonly string[]): GitFailure {
  const isBehind = rows.some((row) => row.includes('non-fast-forward') || row.includes('fetch first'))
  const hint =
    'hint: Updates were rejected because the remote contains work that you do\nhint: not have locally. This is usually caused by another repository pushing\n' +
    "hint: to the same ref. You may want to first integrate the remote changes\nhint: (e.g., 'git pull ...') before pushing again."
  return new GitFailure(
    [`To ${url}`, ...rows, `error: failed to push some refs to '${url}'`, ...(isBehind ? [hint] : [])].join('\n'),
    1,
  )
}
