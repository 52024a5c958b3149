import { parseArguments } from '../arguments.ts'
import { isTrue } from '../config-file.ts'
import { fatal } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { quoted, relativeTo } from '../pathspec.ts'
import type { Untracked } from '../status.ts'
import { branchLine, gatherStatus, longStatus, shortStatus } from '../status-report.ts'

const OPTIONS = [
  'short|s',
  'porcelain?',
  'long',
  'branch|b',
  'null|z',
  'untracked-files|u?',
  'ignored?',
  'no-renames',
  'verbose|v',
  'ahead-behind',
  'no-ahead-behind',
  'show-stash',
  'column?',
  'no-column',
  'renames',
  'find-renames?',
]

export async function status(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('status', OPTIONS, args)
  const repo = git.repo()
  const isPorcelain = options.has('porcelain')
  if (!['', 'v1', '1'].includes(options.value('porcelain') ?? ''))
    throw fatal('only version 1 of --porcelain is available here')
  const pathspec = git.pathspec(options.rest)
  const report = await gatherStatus(git, {
    untracked: await untrackedMode(git, options.has('untracked-files') ? options.value('untracked-files') : null),
    ignored: options.has('ignored') && options.value('ignored') !== 'no',
    filter: (path) => pathspec.matches(path),
  })
  const nonAscii = (await git.setting('core.quotePath')) === null || isTrue(await git.setting('core.quotePath'))
  const isShort = options.has('short') || isPorcelain || options.has('null')
  const end = options.has('null') ? '\0' : '\n'
  // What programs read names paths from the top, what people read from where they are.
  const place = (path: string) => (isPorcelain || options.has('null') ? path : relativeTo(repo, git.cwd, path))
  const shown = (path: string) => (end === '\0' ? path : quoted(place(path), { nonAscii, blanks: isShort }))
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
