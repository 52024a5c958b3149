import { type Arguments, parseArguments } from '../arguments.ts'
import { isTrue } from '../config-file.ts'
import { fatal } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { relativeTo } from '../pathspec.ts'
import { CHANGE_OPTIONS, showChanges } from '../show-changes.ts'
import { STASH_REF } from '../stashing.ts'
import { stagedChanges, type Untracked, type WalkOptions } from '../status.ts'
import { branchLine, gatherStatus, longStatus, shortStatus } from '../status-report.ts'
import { statusV2 } from '../status-v2.ts'
import { refuseColumns } from './columns.ts'

const OPTIONS = [
  'short|s',
  'porcelain?',
  'long',
  'branch|b',
  'null|z',
  'untracked-files|u?',
  'ignored?',
  'no-short',
  'no-branch',
  'ahead-behind',
  'no-column',
  'column?',
  'show-stash',
  'verbose|v',
  'ignore-submodules?',
  'find-renames|M?',
  'renames',
  'no-renames',
]

/** The last of the given formats is used. */
function porcelainOf(options: Arguments): { isPorcelain: boolean; version: string } {
  const version = options.value('porcelain') ?? ''
  if (!['', 'v1', '1', 'v2', '2'].includes(version)) throw fatal(`unsupported porcelain version '${version}'`)
  const isPorcelain = options.latest('porcelain', 'short', 'long', 'no-short') === 'porcelain'
  return { isPorcelain, version: isPorcelain ? version : '' }
}

export async function status(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('status', OPTIONS, args)
  const repo = git.repo()
  refuseColumns(options)
  const { isPorcelain, version } = porcelainOf(options)
  const pathspec = git.pathspec(options.rest)
  const untracked = await untrackedMode(git, options.has('untracked-files') ? options.value('untracked-files') : null)
  const report = await gatherStatus(git, {
    untracked,
    ignored: ignoredMode(options, untracked),
    filter: (path) => pathspec.matches(path),
    renames: options.has('renames') || (!options.has('no-renames') && (await renames(git))),
  })
  const isSet = async (key: string) => {
    const value = isPorcelain ? null : await git.setting(key)
    return value !== null && isTrue(value)
  }
  const wantsShort = options.has('short') || (!options.has('no-short') && (await isSet('status.short')))
  const isShort = isPorcelain || options.has('null') || (wantsShort && args.lastIndexOf('--long') <= lastShort(args))
  const showsBranch = options.has('branch') || (!options.has('no-branch') && (await isSet('status.branch')))
  const end = options.has('null') ? '\0' : '\n'
  // Output for scripts has paths from the top, output for users from the current folder.
  const fromTop = isPorcelain || options.has('null') || !isTrue((await git.setting('status.relativePaths')) ?? 'true')
  const place = (path: string) => (fromTop ? path : relativeTo(repo, git.cwd, path))
  const shown = (path: string) =>
    end === '\0' ? path : repo.quoted(place(path), { blanks: isShort && !/2$/.test(version) })
  if (/2$/.test(version)) {
    git.out(await statusV2(git, report, { shown, end, isBranchShown: showsBranch }))
    return 0
  }
  if (!isShort) {
    await sayLong(git, options, longStatus(report, shown))
    return 0
  }
  if (showsBranch) git.out(branchLine(report) + end)
  git.out(shortStatus(report, shown, end))
  return 0
}

async function sayLong(git: Invocation, options: Arguments, status: string): Promise<void> {
  const text = status + (options.has('show-stash') ? await stashLine(git) : '')
  git.out((await showsHints(git)) ? text : withoutHints(text))
  if (options.has('verbose')) git.out(await stagedPatch(git, options))
}

async function stashLine(git: Invocation): Promise<string> {
  const count = (await git.repo().refs.log(STASH_REF)).length
  return count === 0 ? '' : `Your stash currently has ${count} ${count === 1 ? 'entry' : 'entries'}\n`
}

/** After the status, the patch of a commit. */
async function stagedPatch(git: Invocation, options: Arguments): Promise<string> {
  if (options.all('verbose').length > 1) throw fatal('git status -vv is not available here')
  return showChanges(
    git,
    await stagedChanges(git.repo(), await git.repo().headTree()),
    parseArguments('status', CHANGE_OPTIONS, []),
  )
}

async function showsHints(git: Invocation): Promise<boolean> {
  const advice = await git.setting('advice.statusHints')
  return advice === null || isTrue(advice)
}

function lastShort(args: readonly string[]): number {
  return args.findLastIndex((arg) => arg === '--short' || /^-[a-zA-Z]*s/.test(arg))
}

async function renames(git: Invocation): Promise<boolean> {
  const setting = (await git.setting('status.renames')) ?? (await git.setting('diff.renames')) ?? 'true'
  return /^cop/.test(setting) || isTrue(setting)
}

/** The lines in brackets with hints for the next command. */
function withoutHints(text: string): string {
  return text.replace(/^ {2}\(.*\)\n/gm, '').replace(/ \((?:use|create)[^\n]*\)$/gm, '')
}

function ignoredMode(options: Arguments, untracked: Untracked): WalkOptions['ignored'] {
  const mode = options.has('ignored') ? options.value('ignored') || 'traditional' : 'no'
  if (mode === 'no') return false
  if (mode === 'matching' && untracked === 'no')
    throw fatal('Unsupported combination of ignored and untracked-files arguments')
  if (mode === 'matching') return 'matching'
  if (mode === 'traditional') return untracked === 'all' ? 'each' : true
  throw fatal(`Invalid ignored mode '${mode}'`)
}

async function untrackedMode(git: Invocation, given: string | null): Promise<Untracked> {
  const mode = given ?? (await git.setting('status.showUntrackedFiles')) ?? 'normal'
  if (mode === 'no' || mode === 'normal') return mode
  if (mode === '' || mode === 'all') return 'all'
  throw fatal(`Invalid untracked files mode '${mode}'`)
}
