import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import type { Repository } from '../repository.ts'
import { abbreviate, fullRefName, revision, unknownRevision, upstreamOf } from '../revisions.ts'

/** Each word answers for itself, so the options are read one after the other. */
export async function revParse(git: Invocation, args: string[]): Promise<number> {
  const how = { short: null as number | null, abbrevRef: false, symbolic: false, verify: false, quiet: false }
  for (const arg of args) {
    if (arg === '--') continue
    const short = /^--short(?:=(\d+))?$/.exec(arg)
    if (short) how.short = Number(short[1] ?? 7)
    else if (arg === '--abbrev-ref' || arg.startsWith('--abbrev-ref=')) how.abbrevRef = true
    else if (arg === '--symbolic-full-name') how.symbolic = true
    else if (arg === '--verify') how.verify = true
    else if (arg === '-q' || arg === '--quiet') how.quiet = true
    else if (arg.startsWith('--')) aboutPlace(git, arg)
    else await aboutRevision(git, arg, how)
  }
  return 0
}

function aboutPlace(git: Invocation, option: string): void {
  const answer = PLACES[option]
  if (!answer) throw new GitFailure(`git rev-parse: option '${option}' is not available here`, 129)
  git.line(answer(git))
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

type How = { short: number | null; abbrevRef: boolean; symbolic: boolean; verify: boolean; quiet: boolean }

async function aboutRevision(git: Invocation, word: string, how: How): Promise<void> {
  const repo = git.repo()
  const name = how.abbrevRef || how.symbolic ? await refNamed(git, word) : null
  if (name !== null) {
    git.line(how.symbolic ? name : name.replace(/^refs\/(heads|tags|remotes)\//, ''))
    return
  }
  const range = /^(.*?)\.\.(.*)$/.exec(word)
  const ends = range
    ? ([
        ['', range[2] || 'HEAD'],
        ['^', range[1] || 'HEAD'],
      ] as const)
    : ([['', word]] as const)
  for (const [prefix, end] of ends) {
    const oid = await revision(repo, end)
    if (oid === null) throw unknown(git, word, how)
    git.line(prefix + (how.short === null ? oid : await abbreviate(repo, oid, Math.max(4, how.short))))
  }
}

function unknown(git: Invocation, word: string, how: How): GitFailure {
  if (how.verify && how.quiet) return new GitFailure('', 1)
  if (how.verify) return new GitFailure('fatal: Needed a single revision', 128)
  git.line(word)
  return unknownRevision(word)
}

async function refNamed(git: Invocation, word: string): Promise<string | null> {
  const repo = git.repo()
  const head = await repo.refs.head()
  if (word === 'HEAD' || word === '@') return head.oid === null ? null : (head.ref ?? 'HEAD')
  const following = /^(.*)@\{(u|upstream|push)\}$/i.exec(word)
  if (following) {
    const branch = following[1] || (head.ref?.replace(/^refs\/heads\//, '') ?? '')
    const upstream = await upstreamOf(repo, branch)
    if (!upstream) throw new GitFailure(`fatal: no upstream configured for branch '${branch}'`, 128)
    return upstream.ref
  }
  return fullRefName(repo, word)
}
