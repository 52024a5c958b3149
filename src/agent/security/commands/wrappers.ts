// Commands that run the command in their words. The table says how many words they take for themselves.

import type { Opener } from '../bench.ts'
import { type Call, firstOperand, valuesOf } from '../call.ts'
import { runText } from './shells.ts'

type Wrapper = {
  /** Letters and long names of options with a value. */
  readonly options?: readonly string[]
  /** Operands in front of the command. */
  readonly skips?: number
  /** The words are put together and read by a shell. */
  readonly isText?: true
  /** Assignments may stand in front of the command. */
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

/** `command -v x` only tells where it is. */
const command: Opener = (call, bench) => {
  if (!/^-[pvV]*[vV]/.test(call.args[0] ?? '')) opened({})(call, bench)
}

const ENV_OPTIONS = ['uC', '--unset', '--chdir'] as const

const env: Opener = ({ args, input }, bench) => {
  const split = args.findIndex((arg) => /^-[0iv]*S|^--sp/.test(arg))
  if (split >= 0) {
    // It is taken apart, and the words behind it follow.
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
