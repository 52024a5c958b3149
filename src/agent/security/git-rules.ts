// The risk of each command of git. A command is named with both words: `git push`.

import { type Call, type CommandRule, has, operandsOf } from './call.ts'
import { holdsOutput, holdsValue, isGlob } from './words.ts'

const always = () => true

const MAKES_BRANCH = ['bBt', '--orphan', '--track'] as const

/** A file rather than a branch: after `--`, after a commit, by its look, or put together by a command. */
const namesFiles = (args: readonly string[]) =>
  args.includes('--') ||
  operandsOf(args, 'bB').some(
    (arg) => /^\.{1,2}(\/|$)/.test(arg) || isGlob(arg) || arg.startsWith(':') || holdsOutput(arg),
  ) ||
  (!has(args, ...MAKES_BRANCH) && operandsOf(args, '', '--conflict').length > 1)
const FILE_NAME =
  /\.[A-Za-z]\w{0,7}$|\/$|(^|\/)(Makefile|Dockerfile|LICENSE|README|CHANGELOG|Gemfile|Rakefile|Procfile|src|lib|docs?|tests?|app|packages|scripts|dist|public|include|config)$/
const looksLikeFile = (args: readonly string[]) =>
  !has(args, ...MAKES_BRANCH) && operandsOf(args).some((arg) => FILE_NAME.test(arg) || holdsValue(arg))

const namesEachFile = (args: readonly string[]) => {
  const files = operandsOf(args)
  const isFile = (file: string) => /\.\w+$/.test(file) && !isGlob(file) && !holdsValue(file)
  return !has(args, 'Au', '--all', '--update') && files.length > 0 && files.every(isFile)
}

export const GIT_RULES: readonly CommandRule[] = [
  {
    risk: 'high',
    says: 'discards uncommitted work',
    commands: ['git reset'],
    given: ({ args }) => has(args, '', '--hard', '--merge', '--keep'),
  },
  {
    risk: 'high',
    says: 'discards files that are not committed',
    commands: ['git clean'],
    // Without `-f` it refuses, unless the settings say otherwise.
    given: ({ args }) => !has(args, 'n', '--dry-run'),
  },
  {
    risk: 'high',
    says: 'discards uncommitted work',
    commands: ['git restore'],
    given: ({ args }) => !has(args, 'S', '--staged') || has(args, 'W', '--worktree'),
  },
  {
    risk: 'high',
    says: 'discards uncommitted work',
    commands: ['git checkout', 'git switch'],
    given: ({ name, args }) =>
      has(args, 'f', '--force', '--discard-changes', '--ours', '--theirs', '--pathspec-from-file') ||
      (name === 'git checkout' && namesFiles(args)),
  },
  {
    risk: 'high',
    says: 'takes changes back that another command shows',
    commands: ['git apply', 'patch'],
    given: ({ args, input }) => input.kind === 'pipe' && has(args, 'R', '--reverse'),
  },
  {
    risk: 'high',
    says: 'adds files that are to be ignored, as those with secrets are',
    commands: ['git add', 'git stage'],
    given: ({ args }) => has(args, 'f', '--force') && !namesEachFile(args),
  },
  {
    risk: 'medium',
    says: 'adds a file that is to be ignored',
    commands: ['git add', 'git stage'],
    given: ({ args }) => has(args, 'f', '--force'),
  },
  {
    risk: 'medium',
    says: 'takes a patch back',
    commands: ['git apply', 'patch'],
    given: ({ args }) => has(args, 'R', '--reverse'),
  },
  {
    risk: 'high',
    says: 'writes files over uncommitted work',
    commands: ['git checkout-index', 'git read-tree'],
    given: ({ args }) => has(args, 'fu', '--force', '--reset', '--all') || has(args, 'a'),
  },
  {
    risk: 'high',
    says: 'discards a worktree or a submodule with its changes',
    commands: ['git worktree', 'git submodule'],
    given: ({ args }) => args.some((arg) => /^(remove|deinit)$/.test(arg)) && has(args, 'f', '--force'),
  },
  {
    risk: 'high',
    says: 'deletes a branch that is not merged',
    commands: ['git branch'],
    given: ({ args }) => has(args, 'D') || (has(args, 'd', '--delete') && has(args, 'f', '--force')),
  },
  {
    risk: 'high',
    says: 'rewrites or removes what was pushed',
    commands: ['git push'],
    given: ({ args }) =>
      has(args, 'fd', '--force', '--force-with-lease', '--delete', '--mirror', '--prune') ||
      args.some((arg) => /^[+:]./.test(arg)),
  },
  {
    risk: 'high',
    says: 'throws away stashed or unreachable commits',
    commands: ['git stash', 'git reflog', 'git gc', 'git prune', 'git update-ref', 'git symbolic-ref', 'git replace'],
    given: throwsCommitsAway,
  },
  {
    risk: 'high',
    says: 'rewrites the whole history',
    commands: ['git filter-branch', 'git filter-repo'],
    given: always,
  },
  {
    risk: 'high',
    says: 'removes files with their changes',
    commands: ['git rm'],
    given: ({ args }) => has(args, 'f', '--force') && !has(args, '', '--cached'),
  },
  {
    risk: 'medium',
    says: 'talks to a git remote',
    commands: [
      ...['git clone', 'git fetch', 'git pull', 'git push', 'git ls-remote', 'git fetch-pack', 'git send-pack'],
      ...['git send-email', 'git daemon', 'git instaweb', 'git svn', 'git p4', 'git lfs', 'git http-push'],
    ],
    given: always,
  },
  {
    risk: 'medium',
    says: 'talks to a git remote',
    commands: ['git archive', 'git submodule', 'git remote'],
    given: ({ name, args }) =>
      (name === 'git archive' && has(args, '', '--remote')) ||
      (name === 'git submodule' && args.some((arg) => /^(add|update|sync|set-url|foreach)$/.test(arg))) ||
      (name === 'git remote' && args.some((arg) => /^(show|update|prune)$/.test(arg))),
  },
  {
    risk: 'medium',
    says: 'rewrites commits, or moves or removes a branch or a tag',
    commands: [
      'git rebase',
      'git commit',
      'git reset',
      'git branch',
      'git tag',
      'git checkout',
      'git switch',
      'git am',
      'git update-ref',
      'git symbolic-ref',
    ],
    given: rewrites,
  },
  {
    risk: 'medium',
    says: 'gives up changes that were made before a merge',
    commands: ['git merge', 'git cherry-pick', 'git revert', 'git am'],
    given: ({ args }) => has(args, '', '--abort', '--skip'),
  },
  {
    risk: 'medium',
    says: "passes by the owner's hooks",
    commands: ['git commit', 'git merge', 'git push'],
    given: ({ name, args }) =>
      has(args, '', '--no-verify') || (name === 'git commit' && args.some((arg) => /^-[aqvsepi]*n/.test(arg))),
  },
  {
    risk: 'medium',
    says: 'may write over uncommitted changes of a file',
    commands: ['git checkout'],
    given: ({ args }) => looksLikeFile(args),
  },
  {
    risk: 'medium',
    says: 'deletes files, or takes changes away for good',
    commands: ['git rm', 'git worktree'],
    given: ({ name, args }) =>
      name === 'git rm'
        ? !has(args, 'n', '--cached', '--dry-run')
        : args.some((arg) => /^(remove|prune|add|move)$/.test(arg)),
  },
  {
    risk: 'medium',
    says: 'changes where git sends and fetches',
    commands: ['git remote'],
    given: ({ args }) => args.some((arg) => /^(add|set-url|set-head|set-branches|rename|rm|remove)$/.test(arg)),
  },
  {
    risk: 'medium',
    says: 'changes the settings of git, or shows all of them',
    commands: ['git config'],
    given: ({ args }) => !readsOneSetting(args),
  },
  {
    risk: 'medium',
    says: 'runs commands of its own making',
    commands: ['git bisect', 'git mergetool', 'git difftool', 'git maintenance', 'git hook', 'git credential'],
    given: ({ name, args }) => name !== 'git bisect' || args.includes('run'),
  },
]

function throwsCommitsAway({ name, args }: Call): boolean {
  switch (name) {
    case 'git stash':
      return args.some((arg) => arg === 'drop' || arg === 'clear')
    case 'git reflog':
      return args.some((arg) => arg === 'expire' || arg === 'delete')
    case 'git gc':
      return has(args, '', '--prune') && !args.includes('--prune=never')
    case 'git prune':
      return !has(args, 'n', '--dry-run')
    case 'git replace':
    case 'git symbolic-ref':
      return has(args, 'd', '--delete')
    default:
      return has(args, 'd', '--delete', '--stdin')
  }
}

function rewrites({ name, args }: Call): boolean {
  switch (name) {
    case 'git commit':
      return has(args, '', '--amend')
    case 'git reset':
      return (
        operandsOf(args).some((arg) => /[~^]|@\{|^[0-9a-f]{7,40}$|^origin\//.test(arg) || holdsValue(arg)) &&
        !args.includes('--')
      )
    case 'git branch':
      return has(args, 'dfMC', '--delete', '--force')
    case 'git tag':
      return has(args, 'df', '--delete', '--force')
    case 'git update-ref':
      return true
    case 'git symbolic-ref':
      return operandsOf(args, 'm').length > 1
    case 'git checkout':
      return has(args, 'B')
    case 'git switch':
      return has(args, 'C', '--force-create')
    default:
      return name === 'git rebase'
  }
}

function readsOneSetting(args: readonly string[]): boolean {
  if (
    has(
      args,
      'le',
      '--list',
      '--edit',
      '--get-regexp',
      '--unset',
      '--unset-all',
      '--remove-section',
      '--rename-section',
    )
  ) {
    return args.includes('--get') || args.includes('--get-all')
  }
  const operands = operandsOf(args, 'f', '--file', '--blob', '--type', '--default')
  return operands.length === 1
    ? !/^(list|edit)$/.test(operands[0] ?? '')
    : operands[0] === 'get' || args.includes('--get')
}
