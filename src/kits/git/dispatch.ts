// Finds the command for the arguments of `git`.

import { errorFields, log } from '../../lib/log.ts'
import { unknownWord } from './arguments.ts'
import { add } from './commands/add.ts'
import { am } from './commands/am.ts'
import { apply } from './commands/apply.ts'
import { archive } from './commands/archive.ts'
import { bisect } from './commands/bisect.ts'
import { blameCommand } from './commands/blame.ts'
import { branch } from './commands/branch.ts'
import { catFile } from './commands/cat-file.ts'
import { checkAttr } from './commands/check-attr.ts'
import { checkIgnore } from './commands/check-ignore.ts'
import { checkout, switchBranch } from './commands/checkout.ts'
import { cherry } from './commands/cherry.ts'
import { cherryPick, revert } from './commands/cherry-pick.ts'
import { clean } from './commands/clean.ts'
import { clone } from './commands/clone.ts'
import { commit } from './commands/commit.ts'
import { config } from './commands/config.ts'
import { describe } from './commands/describe.ts'
import { diff } from './commands/diff.ts'
import { fetchCommand, lsRemote } from './commands/fetch.ts'
import { forEachRef } from './commands/for-each-ref.ts'
import { formatPatch } from './commands/format-patch.ts'
import { grep } from './commands/grep.ts'
import { gc, variable, worktree } from './commands/housekeeping.ts'
import { init } from './commands/init.ts'
import { log as logCommand } from './commands/log.ts'
import { lsFiles } from './commands/ls-files.ts'
import { lsTree } from './commands/ls-tree.ts'
import { mergeCommand } from './commands/merge.ts'
import { mergeBase } from './commands/merge-base.ts'
import { mergeFile } from './commands/merge-file.ts'
import { nameRev } from './commands/name-rev.ts'
import { notes } from './commands/notes.ts'
import { countObjects, hashObject, updateRef } from './commands/plumbing.ts'
import { pull } from './commands/pull.ts'
import { push } from './commands/push.ts'
import { diffFiles, diffIndex, diffTree } from './commands/raw-diff.ts'
import { rebase } from './commands/rebase.ts'
import { showRef, symbolicRef } from './commands/ref-listing.ts'
import { reflog } from './commands/reflog.ts'
import { remote } from './commands/remote.ts'
import { mv, rm } from './commands/remove-move.ts'
import { reset, restore } from './commands/reset.ts'
import { revList } from './commands/rev-list.ts'
import { revParse } from './commands/rev-parse.ts'
import { shortlog } from './commands/shortlog.ts'
import { show } from './commands/show.ts'
import { stash } from './commands/stash.ts'
import { status } from './commands/status.ts'
import { tag } from './commands/tag.ts'
import { commitTree, makeTree, readTree, writeTreeCommand } from './commands/tree-plumbing.ts'
import { updateIndex } from './commands/update-index.ts'
import { isKey, isTrue } from './config-file.ts'
import { refuseEnvironment } from './environment.ts'
import { explainedFailure } from './explain.ts'
import { fatal, GitFailure } from './failure.ts'
import { Invocation, type InvocationDeps } from './invocation.ts'
import { lineEndSettings } from './line-endings.ts'
import { GIT_VERSION } from './version.ts'

type Command = (git: Invocation, args: string[]) => Promise<number>

const COMMANDS: Record<string, Command> = {
  add,
  am,
  apply,
  archive,
  bisect,
  blame: blameCommand,
  branch,
  checkout,
  cherry,
  clean,
  clone,
  commit,
  config,
  describe,
  diff,
  grep,
  init,
  merge: mergeCommand,
  mv,
  notes,
  pull,
  push,
  rebase,
  reflog,
  remote,
  reset,
  restore,
  revert,
  rm,
  shortlog,
  show,
  stash,
  status,
  tag,
  worktree,
  fetch: fetchCommand,
  gc,
  log: logCommand,
  switch: switchBranch,
  'cat-file': catFile,
  'check-attr': checkAttr,
  'check-ignore': checkIgnore,
  'cherry-pick': cherryPick,
  'commit-tree': commitTree,
  'count-objects': countObjects,
  'diff-files': diffFiles,
  'diff-index': diffIndex,
  'diff-tree': diffTree,
  'for-each-ref': forEachRef,
  'format-patch': formatPatch,
  'hash-object': hashObject,
  'ls-files': lsFiles,
  'ls-remote': lsRemote,
  'ls-tree': lsTree,
  'merge-base': mergeBase,
  'merge-file': mergeFile,
  mktree: makeTree,
  'name-rev': nameRev,
  'read-tree': readTree,
  'rev-list': revList,
  'rev-parse': revParse,
  'show-ref': showRef,
  'symbolic-ref': symbolicRef,
  'update-index': updateIndex,
  'update-ref': updateRef,
  'write-tree': writeTreeCommand,
  var: variable,
  // Commits with changes, in the form of raw lines.
  whatchanged: (git, args) =>
    logCommand(git, [...rawUnlessTold(args), '--no-merges', ...args, ...(args.includes('--') ? [] : ['--', ':/'])]),
  stage: add,
}

function rawUnlessTold(args: readonly string[]): string[] {
  const tells =
    /^(-p|-u|-s|-U\d*|--(patch|no-patch|stat|numstat|shortstat|summary|name-only|name-status|unified|raw)(=.*)?)$/
  return args.some((arg) => tells.test(arg)) ? [] : ['--raw']
}

/** They need a working tree, so they fail in a bare repository. */
const NEEDS_WORK_TREE: ReadonlySet<string> = new Set([
  'add',
  'am',
  'bisect',
  'checkout',
  'cherry-pick',
  'clean',
  'commit',
  'diff-files',
  'merge',
  'mv',
  'pull',
  'rebase',
  'reset',
  'restore',
  'revert',
  'rm',
  'stage',
  'stash',
  'status',
  'switch',
])

const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS).sort()

const VERSION = `git version ${GIT_VERSION} (built in)`

export interface GitResult {
  stdout: string
  /** Set instead of `stdout` if the output is not valid text. */
  bytes: Uint8Array | null
  stderr: string
  exitCode: number
}

/** Runs one git command. It throws for an internal error, and when it is aborted. */
export async function runGit(args: readonly string[], deps: InvocationDeps): Promise<GitResult> {
  let git: Invocation | null = null
  let exitCode: number
  try {
    git = new Invocation(deps)
    exitCode = await dispatch(git, [...args])
  } catch (error) {
    const failure = explained(error, deps.signal)
    const said = git?.output ?? { stdout: '', bytes: null, stderr: '' }
    const message = failure.message === '' ? '' : `${failure.message}\n`
    return { ...said, stderr: said.stderr + message, exitCode: failure.exitCode }
  }
  return { ...git.output, exitCode }
}

function explained(error: unknown, signal: AbortSignal | undefined): GitFailure {
  if (signal?.aborted) throw signal.reason
  const failure = explainedFailure(error)
  if (failure) return failure
  log.warn('git.failed', errorFields(error))
  return fatal('the command failed for a reason of its own; the workspace is as far as it came')
}

async function dispatch(git: Invocation, args: string[], aliases: readonly string[] = []): Promise<number> {
  const name = globalOptions(git, args)
  refuseEnvironment(git.env)
  if (name === undefined || name === 'help') {
    git.line(
      `usage: git [-C <path>] [-c <name>=<value>] <command> [<args>]\n\nAvailable here:\n  ${COMMAND_NAMES.join(' ')}`,
    )
    return name === 'help' ? 0 : 1
  }
  const [option] = args
  if (name === 'version' && option !== undefined && /^-./.test(option) && option !== '--build-options')
    throw unknownWord(option, 'usage: git version [--build-options]')
  if (name === 'version') {
    git.line(VERSION)
    return 0
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command) {
    await readSettings(git)
    if (NEEDS_WORK_TREE.has(name) && git.hasRepo() && git.repo().isBare)
      throw fatal('this operation must be run in a work tree')
    return command(git, args)
  }
  const meant = /^[\w-]+$/.test(name) ? await git.setting(`alias.${name}`) : null
  if (meant === null) throw new GitFailure(`git: '${name}' is not available here`, 1)
  if (meant.startsWith('!')) throw fatal(`the alias '${name}' runs a command of the shell, which is not available here`)
  if (aliases.includes(name)) throw fatal(`alias loop detected: expansion of '${aliases[0]}' does not terminate`)
  return dispatch(git, [...wordsOf(meant), ...args], [...aliases, name])
}

async function readSettings(git: Invocation): Promise<void> {
  if (!git.hasRepo()) return
  const setting = await git.setting('core.quotePath')
  git.repo().quotesNonAscii = setting === null || isTrue(setting)
  git.repo().shownIdLength = idLengthOf((await git.setting('core.abbrev')) ?? 'auto')
  git.repo().lineEnds = lineEndSettings((key) => git.setting(key))
}

function idLengthOf(setting: string): number | null {
  if (setting === 'auto') return null
  if (/^(no|off|false)$/i.test(setting)) return 40
  const length = Number(setting)
  if (!Number.isInteger(length) || length < 4 || length > 40) throw fatal(`abbrev length out of range: ${setting}`)
  return length
}

/** The words of an alias; quotes group text with blanks. */
function wordsOf(alias: string): string[] {
  const words = alias.match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/g) ?? []
  return words.map((word) =>
    word.replace(
      /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g,
      (_, single?: string, double?: string, escaped?: string) =>
        single ?? double?.replace(/\\(.)/g, '$1') ?? escaped ?? '',
    ),
  )
}

const IGNORED_OPTIONS = new Set(['--no-pager', '-P', '-p', '--paginate', '--no-optional-locks', '--no-replace-objects'])

/** Removes the global options from the arguments, and returns the command. */
function globalOptions(git: Invocation, args: string[]): string | undefined {
  for (let word = args.shift(); word !== undefined; word = args.shift()) {
    if (!word.startsWith('-')) return word
    if (IGNORED_OPTIONS.has(word)) continue
    if (word === '--version' || word === '-v') return 'version'
    if (word === '--help' || word === '-h') return 'help'
    if (word === '-C') git.moveTo(args.shift() ?? '')
    else if (word === '-c') override(git, args.shift() ?? '')
    else if (/^--git-dir(=|$)/.test(word)) git.gitDir = word.split(/=(.*)/s)[1] ?? args.shift()
    else if (/^--work-tree(=|$)/.test(word)) git.workTree = word.split(/=(.*)/s)[1] ?? args.shift()
    else if (KNOWN_OPTIONS.test(word)) throw new GitFailure(`git: option '${word}' is not available here`, 129)
    else
      throw new GitFailure(
        `unknown option: ${word}\nusage: git [-C <path>] [-c <name>=<value>] <command> [<args>]`,
        129,
      )
  }
  return undefined
}

/** Global options of git that are not supported. */
const KNOWN_OPTIONS =
  /^--(bare|exec-path|html-path|man-path|info-path|namespace|super-prefix|config-env|list-cmds|(literal|glob|noglob|icase)-pathspecs|attr-source)(=|$)/

function override(git: Invocation, setting: string): void {
  const [key = '', value = 'true'] = setting.split(/=(.*)/s)
  if (!isKey(key)) throw fatal(`bad config variable '${key}' in command line`)
  git.overrides.push({ key, value })
}
