// Commands that run the command in their words. The table says how many words belong to the wrapper itself.

import type { Bench, Opener } from '../bench.ts'
import { type Call, firstOperand, type Input, valuesOf } from '../call.ts'
import { isGitInternal, isSecretFile } from '../paths.ts'
import { isSecretName } from '../variables.ts'
import { isAllUnknown, MARK } from '../words.ts'
import { runText } from './shells.ts'

type Wrapper = {
  /** Letters and long names of options that take a value. */
  readonly options?: readonly string[]
  /** The number of operands before the command. */
  readonly skips?: number
  /** The words are concatenated and read by a shell. */
  readonly isText?: true
  /** Assignments may precede the command. */
  readonly assigns?: true
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  builtin: {},
  exec: { options: ['a'] },
  nohup: {},
  setsid: {},
  nice: { options: ['n', '--adjustment'] },
  ionice: { options: ['cnpPu', '--class', '--classdata', '--pid'] },
  chrt: { options: ['TPD'], skips: 1 },
  taskset: { skips: 1 },
  stdbuf: { options: ['ioe', '--input', '--output', '--error'] },
  timeout: { options: ['ks', '--kill-after', '--signal'], skips: 1 },
  time: { options: ['fo', '--format', '--output'] },
  sudo: {
    options: ['ugpCDhRrTtU', '--user', '--group', '--prompt', '--chdir', '--host', '--role', '--type'],
    assigns: true,
  },
  doas: { options: ['uC'] },
  pkexec: { options: ['--user'] },
  chroot: { options: ['--userspec', '--groups'], skips: 1 },
  unshare: { options: ['SG', '--root', '--wd', '--setuid', '--setgid'] },
  nsenter: { options: ['tSG', '--target', '--setuid', '--setgid'] },
  setpriv: { options: ['--reuid', '--regid', '--groups'] },
  strace: { options: ['abeEIoOpPsSuUX'] },
  ltrace: { options: ['aAeFlnopsuwx'] },
  valgrind: {},
  fakeroot: { options: ['lsib'] },
  proot: { options: ['rbwq'] },
  firejail: {},
  bwrap: {},
  'xvfb-run': { options: ['efnpsw'] },
  'dbus-run-session': {},
  'systemd-run': { options: ['upE', '--unit', '--property', '--setenv', '--slice'] },
  'systemd-inhibit': { options: ['--what', '--who', '--why', '--mode'] },
  caffeinate: { options: ['tw'] },
  unbuffer: {},
  rlwrap: {},
  eatmydata: {},
  cpulimit: { options: ['lpe'] },
  prlimit: {},
  busybox: {},
  toybox: {},
  catchsegv: {},
  'ssh-agent': { options: ['ta'] },
  watch: { options: ['n', '--interval'], isText: true },
  entr: {},
  ssh: { options: ['bcDEeFIiJLlmOopQRSWw'], skips: 1, isText: true },
  coproc: {},
}

const opened =
  (wrapper: Wrapper): Opener =>
  ({ args, input }, bench) => {
    const [letters = '', ...longs] = wrapper.options ?? []
    let at = firstOperand(args, letters, ...longs) + (wrapper.skips ?? 0)
    if (args[at] === '--') at++
    if (wrapper.assigns === true) for (; isAssignment(args[at]); at++) assign(args[at] ?? '', bench)
    const words = args.slice(at)
    if (words.length === 0) return
    if (wrapper.isText === true) runText(words.join(' '), input, bench)
    else bench.findings.nested('', () => bench.words(words, input))
  }

const isAssignment = (word: string | undefined) => word !== undefined && /^[A-Za-z_]\w*=/.test(word)

function assign(word: string, bench: Parameters<Opener>[1]): void {
  const equals = word.indexOf('=')
  bench.assign(word.slice(0, equals), word.slice(equals + 1))
}

/** `command -v x` only prints where the command is. */
const command: Opener = (call, bench) => {
  if (!/^-[pvV]*[vV]/.test(call.args[0] ?? '')) opened({})(call, bench)
}

const ENV_OPTIONS = ['uC', '--unset', '--chdir'] as const

const env: Opener = ({ args, input }, bench) => {
  const split = args.findIndex((arg) => /^-[0iv]*S|^--sp/.test(arg))
  if (split >= 0) {
    // The option's text is split into words, and the remaining words follow.
    const inline = (args[split] ?? '').replace(/^(-[0iv]*S|--sp[^=]*=?)/, '')
    runText([inline, ...args.slice(split + 1)].join(' '), input, bench)
    return
  }
  let at = firstOperand(args, ...ENV_OPTIONS)
  if (args[at] === '-') at++
  for (; isAssignment(args[at]); at++) assign(args[at] ?? '', bench)
  const words = args.slice(at)
  if (words.length > 0) bench.findings.nested('', () => bench.words(words, input))
  else if (!args.some((arg) => /^-[a-zA-Z]*i|^--ig|^-$/.test(arg))) bench.meet('all-variables')
}

const flock: Opener = (call, bench) => {
  for (const text of valuesOf(call.args, 'c', '--command')) runText(text, call.input, bench)
  opened({ options: ['wE', '--timeout', '--conflict-exit-code'], skips: 1 })(withoutText(call), bench)
}

const withoutText = (call: Call): Call => ({
  ...call,
  args: call.args.filter((arg) => arg !== '-c' && arg !== '--command'),
})

export const WRAPPER_OPENERS: readonly (readonly [string, Opener])[] = [
  ...Object.entries(WRAPPERS).map(([name, wrapper]) => [name, opened(wrapper)] as const),
  ['command', command],
  ['env', env],
  ['flock', flock],
]

// Commands that run another one on search results or on their input.

const XARGS_OPTIONS = [
  'IEedLlnPsa',
  '--replace',
  '--delimiter',
  '--max-args',
  '--max-procs',
  '--max-lines',
  '--max-chars',
  '--arg-file',
  '--eof',
  '--process-slot-var',
] as const
const MAX_NAMES = 8

const xargs: Opener = ({ args, input }, bench) => {
  const words = args.slice(firstOperand(args, ...XARGS_OPTIONS))
  if (words.length === 0) return
  const [placeholder] = [...valuesOf(args, 'I'), ...(args.some((arg) => /^-i$|^--replace$/.test(arg)) ? ['{}'] : [])]
  for (const file of valuesOf(args, 'a', '--arg-file')) if (isSecretFile(file)) bench.meet('secret-file')
  for (const name of namesIn(input, bench)) {
    const whole = placeholder === undefined ? [...words, name] : words.map((word) => word.replaceAll(placeholder, name))
    bench.findings.onFound(() => bench.findings.nested('', () => bench.words(whole, input)))
  }
  noteRights(words, bench)
}

const RIGHTS = /(^|\/)(chmod|chown|chgrp|chattr|setfacl)$/

function noteRights([name = '']: readonly string[], bench: Bench): void {
  if (RIGHTS.test(name)) bench.meet('changes-found')
}

/** The input is unknown; names that the earlier commands print are possible. */
function namesIn(input: Input, { findings }: Bench): string[] {
  const isOne = (word: string) => isTelling(word) || isSecretName(word, findings.secretNames)
  if (input.kind === 'text') return [...wordsOf(input.text).filter(isOne).slice(0, MAX_NAMES), MARK.unknown]
  if (input.kind !== 'pipe') return [MARK.unknown]
  const shown = input.from.words.flatMap(wordsOf).map(withPatterns)
  return [...new Set(shown.filter(isOne))].slice(0, MAX_NAMES).concat(MARK.unknown)
}

const wordsOf = (text: string) => text.split(/\s+|\\[n0]/).filter((word) => word !== '')
const isTelling = (word: string) => isSecretFile(word) || isGitInternal(word)
/** A quoted pattern that a search tool expands. */
const withPatterns = (word: string) => word.replaceAll('*', MARK.star).replaceAll('?', MARK.one)

const parallel: Opener = ({ args, input }, bench) => {
  const from = firstOperand(args, 'jNnISaPdL', '--jobs', '--arg-file', '--colsep', '--delay', '--timeout', '--results')
  const lists = args.findIndex((arg) => /^::::?\+?$/.test(arg))
  const words = args.slice(from, lists < 0 ? undefined : lists)
  if (words.length === 0) {
    bench.meet(input.kind === 'pipe' ? 'runs-made-text' : 'unknown-code')
    return
  }
  const names = lists < 0 ? namesIn(input, bench) : args.slice(lists + 1, lists + 1 + MAX_NAMES)
  for (const name of names) {
    const text = words.join(' ')
    const whole = /\{[^}]*\}/.test(text) ? text.replace(/\{[^}]*\}/g, () => name) : `${text} ${name}`
    bench.findings.onFound(() => bench.script(whole, input))
  }
}

/** Tests of `find` that take a value. */
const WITH_VALUE =
  /^-(i?name|i?path|i?wholename|i?lname|i?regex|regextype|type|xtype|size|m?min|[acm]time|[acmB]min|[aB]?newer\w*|cnewer|perm|user|group|uid|gid|links|inum|samefile|fstype|maxdepth|mindepth|printf|used|context|files0-from)$/
const RUNS = /^-(exec|execdir|ok|okdir)$/
const WRITES = /^-f(print0?|printf|ls)$/

const find: Opener = (call, bench) => {
  const { args } = call
  const start = args.findIndex((arg, at) => isExpression(arg) || (at > 0 && isAllUnknown(arg)))
  if (start < 0) return
  const found = foundBy(args.slice(0, start), args)
  for (let at = start; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (RUNS.test(arg)) at = runOn(found, args, { from: at + 1, call, bench })
    else if (WRITES.test(arg)) bench.write(args[++at] ?? '')
    else if (WITH_VALUE.test(arg)) at++
    else if (isAllUnknown(arg)) bench.meet('unknown-code')
    if (arg === '-fprintf') at++
  }
}

const isExpression = (arg: string) => /^[-(!]/.test(arg) && !/^-([HLP]|O\d|D)$/.test(arg)

/** Placeholders for the files that are found. */
function foundBy(places: readonly string[], args: readonly string[]): string[] {
  const names = [...valuesAfter(args, /^-i?(name|path|wholename)$/)].map(withPatterns)
  return [...names, ...places.map((place) => `${place}/${MARK.unknown}`)]
    .filter(isTelling)
    .slice(0, MAX_NAMES)
    .concat(MARK.unknown)
}

function* valuesAfter(args: readonly string[], option: RegExp): Generator<string> {
  for (const [at, arg] of args.entries()) if (option.test(arg)) yield args[at + 1] ?? ''
}

type ExecClause = { from: number; call: Call; bench: Bench }

/** Returns the index of the word that ends the command. */
function runOn(found: readonly string[], args: readonly string[], { from, call, bench }: ExecClause): number {
  const end = args.findIndex((arg, at) => at >= from && (arg === ';' || (arg === '+' && args[at - 1] === '{}')))
  const last = end < 0 ? args.length : end
  for (const name of found) {
    const words = args.slice(from, last).map((word) => word.replaceAll('{}', name))
    bench.findings.onFound(() => bench.findings.nested('', () => bench.words(words, call.input)))
  }
  noteRights(args.slice(from, last), bench)
  return last
}

const fd: Opener = ({ args, input }, bench) => {
  const at = args.findIndex((arg) => /^(-[xX]|--exec(-batch)?)$/.test(arg))
  if (at >= 0) bench.findings.onFound(() => bench.words([...args.slice(at + 1), MARK.unknown], input))
}

/** Options of other commands whose value is a command. */
const RUN_BY_OPTION: Readonly<Record<string, readonly string[]>> = {
  tar: [
    'IF',
    '--use-compress-program',
    '--to-command',
    '--info-script',
    '--new-volume-script',
    '--rsh-command',
    '--rmt-command',
  ],
  zip: ['', '--unzip-command', '-TT'],
  rsync: ['e', '--rsh'],
  split: ['', '--filter'],
  sort: ['', '--compress-program'],
  man: ['P', '--pager'],
  rg: ['', '--pre', '--hostname-bin'],
  less: [''],
  compgen: ['C'],
  complete: ['C'],
  mapfile: ['C'],
  readarray: ['C'],
  bind: ['x'],
  rename: ['e'],
}

const byOption =
  (letters: string, longs: readonly string[]): Opener =>
  ({ args, input }, bench) => {
    for (const value of valuesOf(args, letters, ...longs.filter((long) => long.startsWith('--'))))
      runText(value, input, bench)
    for (const [at, arg] of args.entries()) {
      if (longs.includes(arg) && !arg.startsWith('--')) runText(args[at + 1] ?? '', input, bench)
      // `tar --checkpoint-action=exec=…`
      const action = /^--checkpoint-action=exec=(.*)$/s.exec(arg)?.[1]
      if (action !== undefined) runText(action, input, bench)
    }
  }

export const SEARCH_OPENERS: readonly (readonly [string, Opener])[] = [
  ...Object.entries(RUN_BY_OPTION).map(([name, [letters = '', ...longs]]) => [name, byOption(letters, longs)] as const),
  ['xargs', xargs],
  ['parallel', parallel],
  ['find', find],
  ['fd', fd],
  ['fdfind', fd],
]
