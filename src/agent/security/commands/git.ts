// What git runs besides its own commands: through settings on the command line, aliases, and options that name a
// program.

import type { Bench, Opener } from '../bench.ts'
import { type Call, has, operandsOf, valuesOf } from '../call.ts'
import { isSecretFile } from '../paths.ts'
import { holdsValue, isUnknown } from '../words.ts'
import { runText } from './shells.ts'

/** They read their text from the file of `-F`. */
const FROM_FILE: ReadonlySet<string> = new Set(['git commit', 'git tag', 'git notes', 'git merge', 'git commit-tree'])

/** Settings whose value is a command. */
const COMMAND_KEY =
  /^(core\.(editor|pager|sshcommand|askpass|gitproxy|alternaterefscommand|fsmonitor)|sequence\.editor|pager\..+|diff\.(external|.+\.(command|textconv))|merge\..+\.driver|filter\..+\.(clean|smudge|process)|(merge|diff)tool\..+\.(cmd|path)|gpg\.(.+\.)?program|gpg\.ssh\.defaultkeycommand|uploadpack\.packobjectshook|remote\..+\.(uploadpack|receivepack|vcs)|interactive\.difffilter|(man|browser|trailer|web)\..*(cmd|command|browser|viewer)|sendemail\..*(cmd|server)|submodule\..+\.update|hook\..+\.command)$/
/** Settings that point to other settings, hooks, addresses or keys. */
const LEADING_KEY =
  /^(core\.(hookspath|worktree|attributesfile)|credential\.|credential$|url\.|include\.path|includeif\.|init\.templatedir|http\..*(proxy|cookiefile|sslverify)|http\.extraheader|protocol\.|safe\.directory|extensions\.)/

function setting(key: string, value: string, bench: Bench): void {
  const name = key.toLowerCase()
  if (isUnknown(key)) bench.meet('unknown-code')
  else if (name.startsWith('alias.')) alias(value, bench)
  else if (LEADING_KEY.test(name)) bench.meet('git-setting')
  else if (COMMAND_KEY.test(name) && !/^(true|false|)$/.test(value)) {
    if (holdsValue(value) || !bench.isLowScript(value)) bench.meet('git-setting')
  }
}

function alias(value: string, bench: Bench): void {
  if (value.startsWith('!')) {
    if (!bench.isLowScript(value.slice(1))) bench.meet('git-setting')
  } else if (holdsValue(value)) bench.meet('unknown-code')
  else bench.script(`git ${value}`, { kind: 'inherited' })
}

function assignment(text: string, bench: Bench): void {
  const equals = text.indexOf('=')
  setting(equals < 0 ? text : text.slice(0, equals), equals < 0 ? 'true' : text.slice(equals + 1), bench)
}

export const git: Opener = (call, bench) => {
  const before = call.before ?? call.args
  if (call.name === 'git' && call.args.some(holdsValue)) bench.meet('unknown-command')
  for (const file of valuesOf(call.args, 'F', '--file'))
    if (FROM_FILE.has(call.name) && isSecretFile(file)) bench.meet('secret-file')
  for (const text of valuesOf(before, 'c')) assignment(text, bench)
  if (has(before, '', '--config-env') || before.some((arg) => arg.startsWith('--exec-path='))) bench.meet('git-setting')
  for (const arg of call.args) if (/^(ext|fd)::/.test(arg)) bench.meet('git-setting')
  const opened = OPENED[call.name]
  if (opened !== undefined && Object.hasOwn(OPENED, call.name)) opened(call, bench)
}

const config: Opener = ({ args }, bench) => {
  const operands = operandsOf(args, 'f', '--file', '--blob', '--type', '--default', '--comment', '--value')
  const [first = '', ...others] = operands
  const [key, value] = /^(set|unset|get|list|edit|rename-section|remove-section)$/.test(first) ? others : operands
  if (key !== undefined && value !== undefined) setting(key, value, bench)
  else if (first === 'edit' || has(args, 'e', '--edit')) bench.meet('unknown-code')
}

/** Options that name a program. */
const byOption =
  (letters: string, ...longs: string[]): Opener =>
  ({ args, input }, bench) => {
    for (const value of valuesOf(args, letters, ...longs)) runText(value, input, bench)
  }

const writesTo: Opener = ({ args }, bench) => {
  for (const path of valuesOf(args, '', '--output', '--output-directory')) bench.write(path)
}

/** If the name is a file here and not a branch, its changes are discarded. */
const checkout: Opener = ({ args }, bench) => {
  if (has(args, 'bBt', '--orphan', '--track', '--detach')) return
  const names = operandsOf(args)
  if (names.some((name) => holdsValue(name))) bench.findings.meetOnFound('discards-work')
  if (names.length === 1 && bench.findings.folders.isThere(names[0] ?? '') === true) bench.meet('discards-work')
}

const clone: Opener = (call, bench) => {
  for (const text of valuesOf(call.args, 'c', '--config')) assignment(text, bench)
  byOption('u', '--upload-pack')(call, bench)
  if (has(call.args, '', '--template')) bench.meet('git-setting')
}

const grep: Opener = ({ args, input }, bench) => {
  for (const arg of args) {
    const pager = /^(?:-O|--open-files-in-pager=)(.+)$/s.exec(arg)?.[1]
    if (pager !== undefined) runText(pager, input, bench)
  }
}

/** The words after the first ones are a command. */
const bisect: Opener = ({ args, input }, bench) => {
  if (args[0] === 'run') bench.findings.nested('', () => bench.words(args.slice(1), input))
}

const submodule: Opener = ({ args, input }: Call, bench) => {
  const at = args.indexOf('foreach')
  if (at >= 0)
    runText(
      args
        .slice(at + 1)
        .filter((arg) => !arg.startsWith('--'))
        .join(' '),
      input,
      bench,
    )
}

const OPENED: Readonly<Record<string, Opener>> = {
  'git config': config,
  'git clone': clone,
  'git checkout': checkout,
  'git init': (call, bench) => {
    if (has(call.args, '', '--template')) bench.meet('git-setting')
  },
  'git rebase': byOption('x', '--exec'),
  'git fetch': byOption('', '--upload-pack'),
  'git pull': byOption('', '--upload-pack'),
  'git ls-remote': byOption('', '--upload-pack', '--exec'),
  'git push': byOption('', '--receive-pack', '--exec'),
  'git archive': (call, bench) => {
    byOption('', '--exec')(call, bench)
    writesTo(call, bench)
  },
  'git difftool': byOption('x', '--extcmd'),
  'git diff': writesTo,
  'git log': writesTo,
  'git show': writesTo,
  'git format-patch': writesTo,
  'git grep': grep,
  'git bisect': bisect,
  'git submodule': submodule,
}
