// Combinations of options that git refuses, and its error messages. Without this the option that is checked first would
// be used, and the others ignored.

import { fatal, GitFailure } from './failure.ts'

const MISUSE = 129

interface Conflict {
  /** At most one of these is allowed; each with its name in git's message. */
  among: readonly (readonly [name: string, shown: string])[]
  refuse: (first: string, second: string) => GitFailure
}

const together = (first: string, second: string): GitFailure =>
  fatal(`options '${first}' and '${second}' cannot be used together`)

const among = (...options: (readonly [string, string])[]): Conflict => ({ among: options, refuse: together })

const always =
  (failure: () => GitFailure): Conflict['refuse'] =>
  () =>
    failure()

const usage = (text: string) => always(() => new GitFailure(`usage: git ${text}`, MISUSE))

const ACTIONS_OF_CONFIG = ['get', 'get-all', 'get-regexp', 'list', 'unset', 'unset-all', 'add', 'replace-all']
const ACTIONS_OF_BRANCH = ['list', 'delete', 'D', 'move', 'M', 'copy', 'C', 'show-current', 'set-upstream-to']
const ACTIONS_OF_TAG = ['annotate', 'message', 'file', 'list']

const asNamed = (names: readonly string[]) => names.map((name) => [name, `--${name}`] as const)

const FORMS_OF_NAMES: Conflict = {
  among: asNamed(['name-only', 'name-status', 'check', 'no-patch']),
  refuse: always(() => fatal("options '--name-only', '--name-status', '--check', and '-s' cannot be used together")),
}

const CONFLICTS: Readonly<Record<string, readonly Conflict[]>> = {
  branch: [
    {
      among: asNamed([...ACTIONS_OF_BRANCH, 'unset-upstream']),
      refuse: usage('branch [<options>] [-r | -a] [--merged] [--no-merged]'),
    },
  ],
  commit: [
    among(['reuse-message', '-C'], ['reedit-message', '-c'], ['file', '-F'], ['fixup', '--fixup']),
    among(['squash', '--squash'], ['fixup', '--fixup']),
    among(['message', '-m'], ['reuse-message', '-C']),
    among(['message', '-m'], ['reedit-message', '-c']),
    among(['message', '-m'], ['file', '-F']),
    among(['include', '-i/--include'], ['only', '-o/--only'], ['all', '-a/--all']),
    {
      among: asNamed(['amend', 'fixup']),
      refuse: always(() => fatal('--amend with --fixup is not available here')),
    },
  ],
  config: [
    {
      among: asNamed([...ACTIONS_OF_CONFIG, 'remove-section']),
      refuse: always(() => new GitFailure('error: only one action at a time', MISUSE)),
    },
  ],
  diff: [FORMS_OF_NAMES],
  grep: [among(['untracked', '--untracked'], ['cached', '--cached'])],
  log: [FORMS_OF_NAMES],
  merge: [among(['squash', '--squash'], ['no-ff', '--no-ff.']), among(['squash', '--squash'], ['commit', '--commit.'])],
  push: [
    among(['all', '--all'], ['mirror', '--mirror'], ['tags', '--tags'], ['delete', '--delete']),
    among(['delete', '--delete'], ['mirror', '--mirror']),
  ],
  show: [FORMS_OF_NAMES],
  switch: [
    {
      among: asNamed(['create', 'force-create', 'orphan']),
      refuse: always(() => fatal("options '-c', '-C', and '--orphan' cannot be used together")),
    },
    ...['create', 'force-create', 'orphan'].map((name) => ({
      among: asNamed(['detach', name]),
      refuse: always(() => fatal("'--detach' cannot be used with '-b/-B/--orphan'")),
    })),
  ],
  tag: [
    ...ACTIONS_OF_TAG.map((name) => ({
      among: asNamed(['delete', name]),
      refuse: usage('tag [-a | -s | -u <key-id>] [-f] [-m <msg> | -F <file>] [-e]\n   or: git tag -d <tagname>...'),
    })),
    among(['file', '-F'], ['message', '-m']),
  ],
}

export function refuseConflicts(command: string, options: { has(name: string): boolean }): void {
  const conflicts = Object.hasOwn(CONFLICTS, command) ? CONFLICTS[command] : undefined
  for (const { among: names, refuse } of conflicts ?? []) {
    const [first, second] = names.filter(([name]) => options.has(name))
    if (first && second) throw refuse(first[1], second[1])
  }
}
