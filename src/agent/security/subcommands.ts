// Commands of commands: `git push`, `npm test`. The options in front of the second word are taken away, as far as they
// do nothing else.

import { type Call, firstOperand } from './call.ts'
import { isDailyScript } from './commands/programs.ts'
import { isUnknown } from './marks.ts'

/** Letters and long names of the options before the second word that have a value. */
const OPTIONS_BEFORE: Readonly<Record<string, readonly string[]>> = {
  git: [
    'Cc',
    '--git-dir',
    '--work-tree',
    '--namespace',
    '--super-prefix',
    '--config-env',
    '--exec-path',
    '--attr-source',
  ],
  npm: ['Cw', '--prefix', '--workspace', '--registry', '--loglevel', '--userconfig', '--script-shell'],
  pnpm: ['CF', '--dir', '--filter'],
  yarn: ['', '--cwd'],
  cargo: ['', '--config', '--color', '--manifest-path'],
  gem: [''],
}

/** Short names that `npm` has for its commands. */
const NPM_NAMES: Readonly<Record<string, string>> = {
  i: 'install',
  in: 'install',
  add: 'install',
  isntall: 'install',
  update: 'install',
  up: 'install',
  upgrade: 'install',
  uninstall: 'install',
  remove: 'install',
  rm: 'install',
  un: 'install',
  link: 'install',
  rebuild: 'install',
  dedupe: 'install',
  'install-test': 'install',
  it: 'install',
  'clean-install': 'ci',
  cit: 'ci',
  x: 'exec',
  init: 'create',
  innit: 'create',
  t: 'test',
  tst: 'test',
  'run-script': 'run',
  rum: 'run',
  urn: 'run',
  ls: 'list',
  la: 'list',
  ll: 'list',
  v: 'view',
  info: 'view',
  show: 'view',
  s: 'search',
  find: 'search',
  why: 'explain',
}

/** With both words as its name; the options before the second one are given with the words after it. */
export function withSubcommand(call: Call): Call {
  const options = OPTIONS_BEFORE[call.name]
  if (options === undefined || !Object.hasOwn(OPTIONS_BEFORE, call.name)) return call
  const [letters = '', ...longs] = options
  const at = firstOperand(call.args, letters, ...longs)
  const second = call.args[at]
  if (second === undefined || isUnknown(second)) return call
  if ((call.name === 'yarn' || call.name === 'pnpm') && isDailyScript(second)) {
    return { ...call, name: `${call.name} run`, args: call.args.slice(at), before: call.args.slice(0, at) }
  }
  const isNpm = call.name !== 'git' && call.name !== 'cargo' && call.name !== 'gem'
  const name = isNpm && Object.hasOwn(NPM_NAMES, second) ? NPM_NAMES[second] : second
  return { ...call, name: `${call.name} ${name}`, args: call.args.slice(at + 1), before: call.args.slice(0, at) }
}
