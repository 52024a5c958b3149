import { type Arguments, parseArguments } from '../arguments.ts'
import { branchRef, makeBranch, setUpstream } from '../branches.ts'
import { fatal, GitFailure } from '../failure.ts'
import { isAncestor } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { subjectOf } from '../message-parts.ts'
import { formatSignature } from '../objects.ts'
import { RefFormat } from '../ref-format.ts'
import { sortKeys, sortRefs } from '../ref-sorting.ts'
import { abbreviate, commitId, fullRefName, leftBranches, revision, upstreamOf } from '../revisions.ts'
import { idLength, refuseColor } from '../show-changes.ts'
import { gatherStatus, upstreaming } from '../status-report.ts'
import { refuseColumns } from './columns.ts'

const OPTIONS = [
  'all|a',
  'remotes|r',
  'list|l',
  'delete|d',
  'D',
  'move|m',
  'M',
  'show-current',
  'verbose|v',
  'force|f',
  'quiet|q',
  'set-upstream-to|u=',
  'set-upstream',
  'unset-upstream',
  'contains=?',
  'no-contains=?',
  'points-at=?',
  'ignore-case|i',
  'merged=?',
  'no-merged=?',
  'track|t?',
  'no-track',
  'copy|c',
  'C',
  'no-color',
  'color?',
  'column?',
  'no-column',
  'abbrev?',
  'no-abbrev',
  'create-reflog',
  'format=',
  'sort=',
]

export async function branch(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('branch', OPTIONS, args)
  if (options.has('set-upstream'))
    throw fatal(
      "the '--set-upstream' option is no longer supported. Please use '--track' or '--set-upstream-to' instead.",
    )
  const head = await git.repo().refs.head()
  const current = head.ref?.replace(/^refs\/heads\//, '') ?? null
  if (options.has('show-current')) {
    if (current !== null) git.line(current)
    return 0
  }
  if (options.has('delete') || options.has('D')) return deleteBranches(git, options, current)
  if (options.has('move') || options.has('M')) return renameBranch(git, options, current)
  if (options.has('copy') || options.has('C')) return copyBranch(git, options, current)
  const upstream = options.value('set-upstream-to')
  if (upstream !== null) return follow(git, upstream, options.rest[0] ?? current)
  if (options.has('unset-upstream')) return unfollow(git, options.rest[0] ?? current)
  if (!['', 'direct', 'inherit'].includes(options.value('track') ?? ''))
    throw new GitFailure('error: option `--track\' expects "direct" or "inherit"', 129)
  const listing = ['list', 'all', 'remotes', 'contains', 'no-contains', 'merged', 'no-merged', 'points-at'].some(
    (name) => options.has(name),
  )
  const [name, start] = options.rest
  if (name === undefined || listing) return list(git, options, current)
  if (!['', 'direct'].includes(options.value('track') ?? ''))
    throw fatal(`git branch --track=${options.value('track')} is not available here`)
  const track = options.has('no-track') ? false : options.has('track') ? true : undefined
  await makeBranch(git, {
    name,
    start: start ?? null,
    startName: current ?? 'HEAD',
    force: options.has('force'),
    track,
  })
  return 0
}

async function list(git: Invocation, options: Arguments, current: string | null): Promise<number> {
  refuseColor(options)
  refuseColumns(options)
  const repo = git.repo()
  const rows = await allRows(git, options, current)
  const wanted: Row[] = []
  for (const row of rows) if (await isListed(git, row, options)) wanted.push(row)
  const given = options.value('format')
  const format = given === null ? null : new RefFormat({ repo, env: git.env }, given)
  const isVerbose = options.has('verbose')
  const width = Math.max(0, ...wanted.map(({ name }) => name.replace(ARROW, '').length))
  for (const { name, oid, isCurrent, ref } of await sortRefs(
    repo,
    wanted,
    await sortKeys(git, options, 'branch.sort'),
  )) {
    if (format !== null) {
      git.line(await format.fill({ ref, oid }))
      continue
    }
    const details =
      isVerbose && !ARROW.test(name)
        ? await verboseDetails(git, { ref, oid, isVery: options.all('verbose').length > 1, length: idLength(options) })
        : ''
    const shown = isVerbose ? name.replace(ARROW, '').padEnd(width) + (ARROW.exec(name)?.[0] ?? '') : name
    git.line(`${isCurrent ? '*' : ' '} ${shown}${details}`)
  }
  return 0
}

/** After the name of a symbolic ref. */
const ARROW = / -> .*/

type Row = { name: string; ref: string; oid: string; isCurrent: boolean }

async function allRows(git: Invocation, options: Arguments, current: string | null): Promise<Row[]> {
  const repo = git.repo()
  const rows: Row[] = []
  const head = await repo.refs.head()
  if (current === null && !options.has('remotes') && head.oid !== null) {
    const { detached } = await gatherStatus(git, { untracked: 'no' })
    rows.push({ name: `(HEAD detached ${detached})`, ref: 'HEAD', oid: head.oid, isCurrent: true })
  }
  if (!options.has('remotes')) {
    for (const [ref, oid] of await repo.refs.list('refs/heads/')) {
      rows.push({ name: ref.slice('refs/heads/'.length), ref, oid, isCurrent: ref === head.ref })
    }
  }
  if (options.has('remotes') || options.has('all')) {
    for (const [ref, oid] of await repo.refs.list('refs/remotes/')) {
      const target = await repo.refs.symbolicTarget(ref)
      const short = ref.slice((options.has('remotes') ? 'refs/remotes/' : 'refs/').length)
      rows.push({
        name: target === null ? short : `${short} -> ${target.replace('refs/remotes/', '')}`,
        ref,
        oid,
        isCurrent: false,
      })
    }
  }
  return rows
}

async function isListed(
  git: Invocation,
  { name, oid }: { name: string; oid: string },
  options: Arguments,
): Promise<boolean> {
  const repo = git.repo()
  const patterns = options.rest
  const isMatch = (pattern: string) =>
    new RegExp(
      `^${pattern
        .replace(/[.+^${}()|[\]\\]/g, '\\$&')
        .replace(/\*+/g, '.*')
        .replaceAll('?', '.')}$`,
      options.has('ignore-case') ? 'i' : '',
    ).test(name)
  if (patterns.length > 0 && !patterns.some((pattern) => pattern.length <= 200 && isMatch(pattern))) return false
  const at = (option: string) => commitAt(git, option, options.value(option) || 'HEAD')
  if (options.has('points-at') && oid !== (await at('points-at'))) return false
  if (options.has('contains') && !(await isAncestor(repo, await at('contains'), oid))) return false
  if (options.has('no-contains') && (await isAncestor(repo, await at('no-contains'), oid))) return false
  if (options.has('merged') && !(await isAncestor(repo, oid, await at('merged')))) return false
  return !options.has('no-merged') || !(await isAncestor(repo, oid, await at('no-merged')))
}

async function commitAt(git: Invocation, option: string, word: string): Promise<string> {
  if ((await revision(git.repo(), word)) !== null) return commitId(git.repo(), word)
  if (option.endsWith('merged')) throw fatal(`malformed object name ${word}`)
  throw new GitFailure(`error: malformed object name ${word}`, 129)
}

async function verboseDetails(
  git: Invocation,
  { ref, oid, isVery, length }: { ref: string; oid: string; isVery: boolean; length: number | undefined },
): Promise<string> {
  const repo = git.repo()
  const subject = subjectOf((await repo.commit(oid)).message)
  const following = ref.startsWith('refs/heads/') ? await upstreaming(git, ref.slice('refs/heads/'.length)) : null
  let said = ''
  if (following) {
    const { name, distance } = following
    const parts = distance
      ? [
          distance.ahead > 0 ? `ahead ${distance.ahead}` : '',
          distance.behind > 0 ? `behind ${distance.behind}` : '',
        ].filter((part) => part !== '')
      : ['gone']
    const words = parts.join(', ')
    said = isVery ? ` [${name}${words === '' ? '' : `: ${words}`}]` : words === '' ? '' : ` [${words}]`
  }
  return ` ${await abbreviate(repo, oid, length)}${said} ${subject}`
}

async function deleteBranches(git: Invocation, options: Arguments, current: string | null): Promise<number> {
  const repo = git.repo()
  const isForced = options.has('D') || options.has('force')
  if (options.rest.length === 0) throw fatal('branch name required')
  let exitCode = 0
  for (const given of options.rest) {
    const name = given === '-' ? ((await leftBranches(repo))[0] ?? given) : given
    const ref = options.has('remotes') ? `refs/remotes/${name}` : `refs/heads/${name}`
    const oid = await repo.refs.resolve(ref)
    const refusal = await deletionRefusal(git, { name, ref, oid, current, isForced })
    if (refusal !== null || oid === null) {
      git.err(`error: ${refusal}`)
      exitCode = 1
      continue
    }
    await repo.refs.change(ref, { oid: null, by: await git.signature('committer'), message: '' })
    const config = await repo.config()
    if (!options.has('remotes') && config.removeSection(`branch.${name}`) > 0) await repo.saveConfig(config)
    if (!options.has('quiet'))
      git.line(
        `Deleted ${options.has('remotes') ? 'remote-tracking ' : ''}branch ${name} (was ${await abbreviate(repo, oid)}).`,
      )
  }
  return exitCode
}

type Deletion = { name: string; ref: string; oid: string | null; current: string | null; isForced: boolean }

async function deletionRefusal(
  git: Invocation,
  { name, ref, oid, current, isForced }: Deletion,
): Promise<string | null> {
  const repo = git.repo()
  if (ref === `refs/heads/${current}`) return `Cannot delete branch '${name}' checked out at '${repo.root}'`
  if (oid === null)
    return ref.startsWith('refs/remotes/')
      ? `remote-tracking branch '${name}' not found.`
      : `branch '${name}' not found.`
  if (isForced || ref.startsWith('refs/remotes/')) return null
  const upstream = await upstreamOf(repo, name)
  const into = upstream ? await repo.refs.resolve(upstream.ref) : (await repo.refs.head()).oid
  if (into !== null && (await isAncestor(repo, oid, into))) return null
  return `The branch '${name}' is not fully merged.\nIf you are sure you want to delete it, run 'git branch -D ${name}'.`
}

async function renameBranch(git: Invocation, options: Arguments, current: string | null): Promise<number> {
  const repo = git.repo()
  const [from, to] = options.rest.length > 1 ? options.rest : [current, options.rest[0]]
  if (!from || to === undefined)
    throw fatal(from ? 'branch name required' : 'cannot rename the current branch while not on any.')
  const [before, after] = [`refs/heads/${from}`, branchRef(to)]
  const oid = await repo.refs.resolve(before)
  const head = await repo.refs.head()
  const by = await git.signature('committer')
  if (oid === null && head.ref !== before) throw fatal(`No branch named '${from}'.`)
  const isTaken = (await repo.refs.resolve(after)) !== null && before !== after
  if (isTaken && !options.has('M') && !options.has('force')) throw fatal(`a branch named '${to}' already exists`)
  if (oid === null) await repo.refs.setSymbolic('HEAD', after)
  else if (before !== after)
    await repo.refs.rename(before, after, { by, message: `Branch: renamed ${before} to ${after}` })
  const config = await repo.config()
  config.renameSection(`branch.${from}`, `branch.${to}`)
  await repo.saveConfig(config)
  return 0
}

async function copyBranch(git: Invocation, options: Arguments, current: string | null): Promise<number> {
  const repo = git.repo()
  const [from, to] = options.rest.length > 1 ? options.rest : [current, options.rest[0]]
  if (!from || to === undefined)
    throw fatal(from ? 'branch name required' : 'cannot copy the current branch while not on any.')
  const [before, after] = [`refs/heads/${from}`, branchRef(to)]
  const oid = await repo.refs.resolve(before)
  if (oid === null) throw fatal(`No branch named '${from}'.`)
  const isTaken = (await repo.refs.resolve(after)) !== null
  if (isTaken && !options.has('C') && !options.has('force')) throw fatal(`a branch named '${to}' already exists`)
  const by = await git.signature('committer')
  const message = `Branch: copied ${before} to ${after}`
  await repo.refs.change(after, { oid, by, message })
  const copied = { before: oid, after: oid, by: formatSignature(by), message }
  await repo.refs.setLog(after, [copied, ...(await repo.refs.log(before))])
  const config = await repo.config()
  for (const name of ['remote', 'merge']) {
    const value = config.get(`branch.${from}.${name}`)
    if (value !== null) config.set(`branch.${to}.${name}`, value)
  }
  await repo.saveConfig(config)
  return 0
}

const UPSTREAM_ADVICE = `hint: 
hint: If you are planning on basing your work on an upstream
hint: branch that already exists at the remote, you may need to
hint: run "git fetch" to retrieve it.
hint: 
hint: If you are planning to push out a new local branch that
hint: will track its remote counterpart, you may want to use
hint: "git push -u" to set the upstream config as you push.
hint: Disable this message with "git config advice.setUpstreamFailure false"`

async function follow(git: Invocation, upstream: string, name: string | null): Promise<number> {
  if (name === null) throw fatal(`could not set upstream of HEAD to ${upstream} when it does not point to any branch.`)
  const repo = git.repo()
  const ref = await fullRefName(repo, upstream)
  if (ref === null) throw fatal(`the requested upstream branch '${upstream}' does not exist\n${UPSTREAM_ADVICE}`)
  if ((await repo.refs.resolve(`refs/heads/${name}`)) === null) throw fatal(`branch '${name}' does not exist`)
  await setUpstream(git, name, { followed: ref, quiet: false })
  return 0
}

async function unfollow(git: Invocation, name: string | null): Promise<number> {
  const repo = git.repo()
  const config = await repo.config()
  if (name === null || (await upstreamOf(repo, name)) === null)
    throw fatal(`Branch '${name}' has no upstream information`)
  config.unset(`branch.${name}.remote`)
  config.unset(`branch.${name}.merge`)
  await repo.saveConfig(config)
  return 0
}
