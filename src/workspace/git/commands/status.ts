import { parseArguments } from '../arguments.ts'
import { fatal } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { relativeTo } from '../pathspec.ts'
import type { Untracked } from '../status.ts'
import { branchLine, gatherStatus, longStatus, shortStatus } from '../status-report.ts'
import { statusV2 } from '../status-v2.ts'

const OPTIONS = [
  'short|s',
  'porcelain?',
  'long',
  'branch|b',
  'null|z',
  'untracked-files|u?',
  'ignored?',
  'ahead-behind',
  'no-column',
  'renames',
  'no-renames',
]

export async function status(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('status', OPTIONS, args)
  const repo = git.repo()
  const isPorcelain = options.has('porcelain')
  const version = options.value('porcelain') ?? ''
  if (!['', 'v1', '1', 'v2', '2'].includes(version)) throw fatal(`unsupported porcelain version '${version}'`)
  const pathspec = git.pathspec(options.rest)
  const report = await gatherStatus(git, {
    untracked: await untrackedMode(git, options.has('untracked-files') ? options.value('untracked-files') : null),
    ignored: options.has('ignored') && options.value('ignored') !== 'no',
    filter: (path) => pathspec.matches(path),
    renames: !options.has('no-renames'),
  })
  const isShort = options.has('short') || isPorcelain || options.has('null')
  const end = options.has('null') ? '\0' : '\n'
  // What programs read names paths from the top, what people read from where they are.
  const place = (path: string) => (isPorcelain || options.has('null') ? path : relativeTo(repo, git.cwd, path))
  const shown = (path: string) =>
    end === '\0' ? path : repo.quoted(place(path), { blanks: isShort && !/2$/.test(version) })
  if (/2$/.test(version)) {
    git.out(await statusV2(git, report, { shown, end, isBranchShown: options.has('branch') }))
    return 0
  }
  if (!isShort || options.has('long')) {
    git.out(longStatus(report, shown))
    return 0
  }
  if (options.has('branch')) git.out(branchLine(report) + end)
  git.out(shortStatus(report, shown, end))
  return 0
}

async function untrackedMode(git: Invocation, given: string | null): Promise<Untracked> {
  const mode = given ?? (await git.setting('status.showUntrackedFiles')) ?? 'normal'
  if (mode === 'no' || mode === 'normal') return mode
  if (mode === '' || mode === 'all') return 'all'
  throw fatal(`Invalid untracked files mode '${mode}'`)
}
