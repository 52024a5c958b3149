import { type Advertisement, remoteRefOf } from '../advertisement.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { setUpstream } from '../branches.ts'
import { fatal, GitFailure } from '../failure.ts'
import { isAncestor } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { addressOf, usualRemote } from '../named-remotes.ts'
import { report } from '../push-report.ts'
import { type Judged, pushRefs, type RefUpdate } from '../receive-pack.ts'
import { isRefName } from '../ref-names.ts'
import { fullRefName, revision, upstreamOf } from '../revisions.ts'
import { openTransport } from '../transfers.ts'

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
  'mirror',
]

export async function push(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('push', OPTIONS, args)
  const repo = git.repo()
  const [given, ...specs] = options.rest
  refuseSpecs(options, specs)
  const branch = (await repo.refs.head()).ref?.replace(/^refs\/heads\//, '') ?? null
  const upstream = branch === null ? null : await upstreamOf(repo, branch)
  const name = given ?? (await defaultRemote(git, upstream?.remote))
  const { remote, url } = await target(git, name, given === undefined)
  const follows = upstream?.remote === remote ? upstream.branch : null
  const wanted = await specsOf(git, { options, specs, branch, upstream: follows, remote })
  const transport = openTransport(git.transfers(), url)
  const advertisement = await transport.advertised('git-receive-pack')
  if (options.has('mirror')) wanted.push(...(await mirrored(git, advertisement)))
  if (options.has('verbose')) git.err(`Pushing to ${transport.url}`)
  const updates = await updatesFor(git, wanted, { options, remote, branch, advertisement, url: transport.url })
  const said = new RemoteWords(git)
  const session = {
    repo,
    transport,
    advertisement,
    isDry: options.has('dry-run'),
    onMessage: said.add,
    by: await git.signature('committer'),
  }
  const judged = await pushRefs(session, updates)
  said.end()
  if (!session.isDry)
    await noteResults(git, { judged, remote, sets: options.has('set-upstream'), quiet: options.has('quiet') })
  await report(git, {
    judged: inOrder(judged, advertisement),
    url: transport.url,
    branch,
    quiet: options.has('quiet'),
    verbose: options.has('verbose'),
    isPorcelain: options.has('porcelain'),
  })
  return 0
}

/** Some options cannot be combined with given refs. */
function refuseSpecs(options: Arguments, specs: readonly string[]): void {
  for (const name of ['all', 'mirror'])
    if (options.has(name) && specs.length > 0) throw fatal(`--${name} can't be combined with refspecs`)
  if (!options.has('delete')) return
  if (specs.length === 0) throw fatal("--delete doesn't make sense without any refs")
  if (specs.some((spec) => spec.includes(':'))) throw fatal('--delete only accepts plain target ref names')
}

async function defaultRemote(git: Invocation, upstream: string | undefined): Promise<string> {
  const configured = await git.setting('remote.pushDefault')
  return configured ?? (upstream !== '.' ? upstream : undefined) ?? (await usualRemote(git))
}

/** In the order of the remote's refs, with new ones at the end. */
function inOrder(judged: readonly Judged[], { refs }: Advertisement): Judged[] {
  const names = [...refs.keys()]
  const place = ({ update }: Judged) => names.indexOf(update.remoteRef) + 1 || names.length + 1
  return [...judged].sort((a, b) => place(a) - place(b))
}

/** The remote's messages during the work, in whole lines. */
class RemoteWords {
  readonly #git: Invocation
  #rest = ''

  constructor(git: Invocation) {
    this.#git = git
  }

  readonly add = (text: string): void => {
    const lines = (this.#rest + text).split(/[\r\n]/)
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#say(line)
  }

  /** The blanks at the end erase earlier text on a terminal. */
  #say(line: string): void {
    this.#git.err(line === '' ? 'remote: ' : `remote: ${line}        `)
  }

  end(): void {
    if (this.#rest !== '') this.#say(this.#rest)
  }
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

async function specsOf(git: Invocation, wish: Wish): Promise<string[]> {
  const { options, specs } = wish
  const { refs } = git.repo()
  const wanted = [...specs]
  if (options.has('tags')) wanted.push(...(await refs.list('refs/tags/')).keys())
  if (options.has('all')) wanted.push(...(await refs.list('refs/heads/')).keys())
  const isWhole = ['tags', 'all', 'mirror'].some((name) => options.has(name))
  if (options.has('mirror') && specs.length > 0) throw fatal("--mirror can't be combined with refspecs")
  if (wanted.length === 0 && !isWhole) wanted.push(defaultSpec(wish))
  if (options.has('follow-tags')) wanted.push(...(await annotatedTags(git)))
  return wanted
}

/** All local refs; the remote's other refs are deleted. */
async function mirrored(git: Invocation, { refs }: Advertisement): Promise<string[]> {
  const own = await git.repo().refs.list('refs/')
  const gone = [...refs.keys()].filter((name) => name.startsWith('refs/') && !own.has(name))
  return [...[...own.keys()].map((name) => `+${name}:${name}`), ...gone.map((name) => `:${name}`)]
}

/** Annotated tags that lead to the current commit's history. */
async function annotatedTags(git: Invocation): Promise<string[]> {
  const repo = git.repo()
  const { oid: head } = await repo.refs.head()
  const found: string[] = []
  for (const [name, oid] of await repo.refs.list('refs/tags/')) {
    if (head === null || (await repo.objects.read(oid)).type !== 'tag') continue
    if (await isAncestor(repo, await repo.peel(oid, 'commit'), head)) found.push(name)
  }
  return found
}

/** The current branch, to its upstream branch with the same name. */
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

type Matching = {
  options: Arguments
  remote: string
  branch: string | null
  advertisement: Advertisement
  url: string
}

async function updatesFor(git: Invocation, specs: readonly string[], matching: Matching): Promise<RefUpdate[]> {
  const updates: RefUpdate[] = []
  for (const spec of specs) updates.push(...(await updateFor(git, spec, matching)))
  return updates
}

/** One update; none for a tag of `--follow-tags` that the remote has. */
async function updateFor(git: Invocation, spec: string, matching: Matching): Promise<RefUpdate[]> {
  const { options, advertisement, branch } = matching
  const force = spec.startsWith('+') || options.has('force')
  const [source = '', goal] = spec.replace(/^\+/, '').split(':')
  if (options.has('delete') || (source === '' && goal !== undefined)) {
    const name = goal ?? source
    const remoteRef = advertisement.refs.has(name) ? name : remoteRefOf(advertisement, name)
    if (remoteRef === null) throw unpushable(`unable to delete '${name}': remote ref does not exist`, matching.url)
    return [await withLease(git, { source: null, remoteRef, oid: null, force }, matching)]
  }
  const repo = git.repo()
  const isHead = source === 'HEAD' || source === '@'
  const ref = isHead ? (branch === null ? null : `refs/heads/${branch}`) : await fullRefName(repo, source)
  const oid = ref === null ? await revision(repo, source) : await repo.refs.resolve(ref)
  if (oid === null) throw unpushable(`src refspec ${source} does not match any`, matching.url)
  const remoteRef = goalOf(goal ?? ref ?? source, ref, matching)
  if (options.has('follow-tags') && remoteRef.startsWith('refs/tags/') && advertisement.refs.has(remoteRef)) return []
  const shown = isHead ? 'HEAD' : (ref ?? source)
  return [await withLease(git, { source: shown, remoteRef, oid, force }, matching)]
}

function unpushable(why: string, url: string): GitFailure {
  return new GitFailure(`error: ${why}\nerror: failed to push some refs to '${url}'`, 1)
}

/** The full name at the remote: of an existing ref, or with the same kind as the local ref. */
function goalOf(name: string, ref: string | null, { advertisement, url }: Matching): string {
  const there = name === 'HEAD' ? null : remoteRefOf(advertisement, name)
  const full = name.startsWith('refs/')
    ? name
    : (there ??
      (ref?.startsWith('refs/tags/')
        ? `refs/tags/${name}`
        : ref?.startsWith('refs/heads/')
          ? `refs/heads/${name}`
          : null))
  if (full !== null && isRefName(full)) return full
  throw unpushable(
    'The destination you provided is not a full refname (i.e.,\nstarting with "refs/"), and what is pushed is no branch or tag.\n' +
      `hint: to make a branch of it: git push <remote> <commit>:refs/heads/${name}`,
    url,
  )
}

/** `--force-with-lease` forces only while the remote's ref has its last known or the given value. */
async function withLease(git: Invocation, update: RefUpdate, { options, remote }: Matching): Promise<RefUpdate> {
  if (!options.has('force-with-lease')) return update
  for (const lease of options.all('force-with-lease')) {
    const [name, at] = lease.split(':')
    if (name !== '' && name !== update.remoteRef && `refs/heads/${name}` !== update.remoteRef) continue
    const tracking = update.remoteRef.replace('refs/heads/', `refs/remotes/${remote}/`)
    const expected = at === undefined ? await git.repo().refs.resolve(tracking) : at && (await revision(git.repo(), at))
    return { ...update, force: true, expected: expected || null }
  }
  return update
}

type Results = { judged: readonly Judged[]; remote: string; sets: boolean; quiet: boolean }

async function noteResults(git: Invocation, { judged, remote, sets, quiet }: Results): Promise<void> {
  const { refs } = git.repo()
  const by = await git.signature('committer')
  for (const { update, verdict } of judged) {
    const isThere = verdict.kind === 'accepted' || verdict.kind === 'unchanged'
    if (!isThere || remote === '' || !update.remoteRef.startsWith('refs/heads/')) continue
    const tracking = update.remoteRef.replace('refs/heads/', `refs/remotes/${remote}/`)
    if ((await refs.resolve(tracking)) !== update.oid)
      await refs.change(tracking, { oid: update.oid, by, message: 'update by push' })
    const { source } = update
    const own = source === 'HEAD' || source === '@' ? (await refs.head()).ref : source
    if (sets && own?.startsWith('refs/heads/'))
      await setUpstream(git, own.slice('refs/heads/'.length), { followed: tracking, quiet })
  }
}
