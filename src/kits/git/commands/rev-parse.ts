import { lstatAt } from '../../../workspace/stat.ts'
import { fatal, GitFailure } from '../failure.ts'
import { mergeBases } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import type { Repository } from '../repository.ts'
import { abbreviate, fullRefName, previousBranch, revision, unknownRevision, upstreamOf } from '../revisions.ts'

/** Each word answers for itself, so the options are read one after the other. */
export async function revParse(git: Invocation, args: string[]): Promise<number> {
  const how = { short: null as number | null, abbrevRef: false, symbolic: false, verify: false, quiet: false }
  const end = args.indexOf('--')
  const isAlone = args.length > 0 && args.every((arg) => /^(--verify|--short(=\d+)?|-q|--quiet)$/.test(arg))
  if (isAlone && args.some((arg) => arg.startsWith('--verify') || arg.startsWith('--short')))
    throw new GitFailure(
      args.some((arg) => /^(-q|--quiet)$/.test(arg)) ? '' : 'fatal: Needed a single revision',
      args.some((arg) => /^(-q|--quiet)$/.test(arg)) ? 1 : 128,
    )
  for (const [i, arg] of args.entries()) {
    if (i === end || (end >= 0 && i > end)) {
      git.line(arg)
      continue
    }
    const short = /^--short(?:=(\d+))?$/.exec(arg)
    if (short) how.short = Number(short[1] ?? 7)
    else if (arg === '--abbrev-ref' || arg.startsWith('--abbrev-ref=')) how.abbrevRef = true
    else if (arg === '--symbolic-full-name') how.symbolic = true
    else if (arg === '--verify') how.verify = true
    else if (arg === '-q' || arg === '--quiet') how.quiet = true
    else if (LISTS[arg] !== undefined) await listRefs(git, LISTS[arg], how)
    else if (arg.startsWith('--')) aboutPlace(git, arg)
    else {
      refuseMany(how, arg, args)
      await aboutRevision(git, arg, how)
    }
  }
  return 0
}

/** One revision is all that can be verified. */
function refuseMany(how: IdForm, word: string, args: readonly string[]): void {
  if (!how.verify && how.short === null) return
  if (
    args.filter((arg) => !arg.startsWith('-')).at(0) === word &&
    args.filter((arg) => !arg.startsWith('-')).length === 1
  )
    return
  throw how.quiet ? new GitFailure('', 1) : fatal('Needed a single revision')
}

const LISTS: Record<string, string> = {
  '--all': 'refs/',
  '--branches': 'refs/heads/',
  '--tags': 'refs/tags/',
  '--remotes': 'refs/remotes/',
}

async function listRefs(git: Invocation, prefix: string, how: IdForm): Promise<void> {
  const repo = git.repo()
  for (const [ref, oid] of await repo.refs.list(prefix)) {
    if (how.symbolic) git.line(ref)
    else if (how.abbrevRef) git.line(ref.replace(/^refs\/(heads|tags|remotes)\//, ''))
    else git.line(how.short === null ? oid : await abbreviate(repo, oid, Math.max(4, how.short)))
  }
}

function aboutPlace(git: Invocation, option: string): void {
  const answer = PLACES[option]
  if (!answer) throw new GitFailure(`git rev-parse: option '${option}' is not available here`, 129)
  const text = answer(git)
  if (text !== '' || option !== '--show-superproject-working-tree') git.line(text)
}

const PLACES: Record<string, (git: Invocation) => string> = {
  '--show-toplevel': (git) => inWorkTree(git).root,
  '--git-dir': gitDirOf,
  '--absolute-git-dir': (git) => git.repo().gitDir,
  '--git-common-dir': gitDirOf,
  '--is-inside-work-tree': (git) => String(!git.repo().isBare && !git.cwd.startsWith(git.repo().gitDir)),
  '--is-inside-git-dir': (git) => String(git.cwd.startsWith(git.repo().gitDir)),
  '--is-bare-repository': (git) => String(git.repo().isBare),
  '--is-shallow-repository': (git) => String(git.fs.list(git.repo().gitDir).some(({ name }) => name === 'shallow')),
  '--show-object-format': () => 'sha1',
  // There are no submodules.
  '--show-superproject-working-tree': () => '',
  '--show-prefix': (git) =>
    foldersBelowTop(git)
      .map((name) => `${name}/`)
      .join(''),
  '--show-cdup': (git) =>
    foldersBelowTop(git)
      .map(() => '../')
      .join(''),
}

function inWorkTree(git: Invocation): Repository {
  const repo = git.repo()
  if (repo.isBare) throw fatal('this operation must be run in a work tree')
  return repo
}

function gitDirOf(git: Invocation): string {
  const { root, gitDir, isBare } = git.repo()
  return git.cwd === root ? (isBare ? '.' : '.git') : gitDir
}

function foldersBelowTop(git: Invocation): string[] {
  return git.cwd
    .slice(git.repo().root.length)
    .split('/')
    .filter((name) => name !== '')
}

type IdForm = { short: number | null; abbrevRef: boolean; symbolic: boolean; verify: boolean; quiet: boolean }

async function aboutRevision(git: Invocation, word: string, how: IdForm): Promise<void> {
  const repo = git.repo()
  const name = how.abbrevRef || how.symbolic ? await refNamed(git, word) : null
  if (name !== null) {
    git.line(how.symbolic ? name : name.replace(/^refs\/(heads|tags|remotes)\//, ''))
    return
  }
  const ids = (await idsOf(repo, word)) ?? (/^[0-9a-f]{40}$/.test(word) ? [word] : null)
  if (ids === null && !how.verify && lstatAt(git.fs, git.resolve(word))) {
    git.line(word)
    return
  }
  if (ids === null || (how.verify && ids.length !== 1)) throw unknown(git, word, how)
  for (const id of ids) {
    const [, prefix = '', oid = ''] = /^(\^?)(.*)$/.exec(id) ?? []
    git.line(prefix + (how.short === null ? oid : await abbreviate(repo, oid, Math.max(4, how.short))))
  }
}

/** The ids that the words stand for, those that are left out behind a `^`; null if they mean nothing. */
async function idsOf(repo: Repository, word: string): Promise<string[] | null> {
  const dots = /^([^:]*?)(\.{2,3})(.*)$/.exec(word)
  if (dots) {
    const [from, to] = [await revision(repo, dots[1] || 'HEAD'), await revision(repo, dots[3] || 'HEAD')]
    if (from === null || to === null) return null
    if (dots[2] === '..') return [to, `^${from}`]
    const bases = await mergeBases(repo, await repo.peel(from, 'commit'), await repo.peel(to, 'commit'))
    return [to, from, ...bases.map((oid) => `^${oid}`)]
  }
  const [, name = word, kind = '', number = '1'] = /^(.+)\^(@|!|-(\d*))$/.exec(word) ?? []
  if (kind !== '') {
    const oid = await revision(repo, name)
    if (oid === null) return null
    const commit = await repo.peel(oid, 'commit')
    const { parents } = await repo.commit(commit)
    if (kind === '@') return parents
    const out = kind === '!' ? parents : parents.slice(Number(number || '1') - 1, Number(number || '1'))
    return out.length === 0 && kind !== '!' ? null : [commit, ...out.map((parent) => `^${parent}`)]
  }
  const oid = await revision(repo, word.replace(/^\^/, ''))
  return oid === null ? null : [word.startsWith('^') ? `^${oid}` : oid]
}

function unknown(git: Invocation, word: string, how: IdForm): GitFailure {
  if (how.verify && how.quiet) return new GitFailure('', 1)
  if (how.verify) return new GitFailure('fatal: Needed a single revision', 128)
  git.line(word)
  return unknownRevision(word)
}

async function refNamed(git: Invocation, word: string): Promise<string | null> {
  const repo = git.repo()
  const head = await repo.refs.head()
  if (word === '-') return null
  if (word === 'HEAD' || word === '@') return head.oid === null ? null : (head.ref ?? 'HEAD')
  const following = /^(.*)@\{(u|upstream|push)\}$/i.exec(word)
  if (following) {
    const branch = following[1] || (head.ref?.replace(/^refs\/heads\//, '') ?? '')
    const upstream = await upstreamOf(repo, branch)
    if (!upstream) throw new GitFailure(`fatal: no upstream configured for branch '${branch}'`, 128)
    return upstream.ref
  }
  return fullRefName(repo, (await previousBranch(repo, word)) ?? word)
}
