// Judges one command with its words: by the rules for its name, by the files that it names, and by the commands that it
// runs.

import type { Bench } from './bench.ts'
import { type Call, firstOperand, type Input, NO_OUTPUT, type Output } from './call.ts'
import { RULES_OF } from './command-rules.ts'
import { OPENERS } from './commands/all.ts'
import { isDailyScript } from './commands/programs.ts'
import { isShellName } from './commands/shells.ts'
import { judgePaths } from './path-rules.ts'
import { outputOf, readsFiles } from './redirections.ts'
import { isDaily, KNOWN_COMMANDS } from './shell-risks.ts'
import { COMMAND_ALIAS, COMMAND_VARIABLES, isSecretName, LOADING_VARIABLES, PROMPT_VARIABLES } from './variables.ts'
import { holdsValue, isAllUnknown, isUnknown, MARK } from './words.ts'

/** The folders of system commands. */
const SYSTEM_FOLDER = /^(\.\.\/)*\/?(usr\/(local\/)?)?s?bin\/[^/]+$/
const PLAIN_NAME = /^[\w.+-]+( [\w-]+)?$/
const MAX_SUFFIXES = 12
const MAX_EXPRESSION = 500
const MAX_LINES = 50
/** `a[$(…)]`: an index that contains a substitution. */
const INDEX_WITH_CODE = /(^|[^\w$])[A-Za-z_]\w*\[[^\]\n]*(\$\(|`|\$\{)/

export class CallJudge {
  readonly #bench: Bench

  constructor(bench: Bench) {
    this.#bench = bench
  }

  judge(words: readonly string[], input: Input): Output {
    const { findings } = this.#bench
    const [first = '', ...args] = words
    if (words.length === 0) return NO_OUTPUT
    if (findings.aliases.has(first) && !findings.resolving.has(first)) return this.#alias(first, args, input)
    if (findings.functions.has(first)) return this.#ownFunction(args)
    const name = plainName(first.slice(first.lastIndexOf('/') + 1))
    if (isUnknown(first)) this.#bench.meet('unknown-command')
    else if (first.includes('/') && !SYSTEM_FOLDER.test(first)) this.#bench.meet('unknown-code')
    return this.#named(withSubcommand({ name, args, input }))
  }

  #named(call: Call): Output {
    if (asksForHelp(call)) return { isEmpty: false, words: [] }
    const [family = ''] = call.name.split(' ', 1)
    const opener = OPENERS.get(family)
    opener?.(call, this.#bench)
    const rules = isDaily(call) ? [] : (RULES_OF.get(call.name) ?? [])
    for (const rule of rules) {
      if (!rule.given(call)) continue
      this.#bench.findings.meetRisk(rule.risk, `${call.name}: ${rule.says}`)
      if (rule.deletes === true) this.#bench.meet('deletes-files')
    }
    judgePaths(call, this.#bench)
    const isOpened = opener !== undefined && family === call.name
    if (!isOpened && rules.length === 0 && !KNOWN_COMMANDS.has(call.name) && !isDaily(call)) this.#strange(call)
    return outputOf(call)
  }

  /** An unknown command may run its words as a command, as `timeout` does. */
  #strange({ args, input }: Call): void {
    this.#bench.meet('unknown-command')
    const places = args.flatMap((arg, at) => (RULES_OF.has(arg) || isShellName(arg) || OPENERS.has(arg) ? [at] : []))
    for (const at of places.slice(0, MAX_SUFFIXES)) {
      this.#bench.findings.nested('', () => this.#bench.words(args.slice(at), input))
    }
    for (const arg of args.slice(0, MAX_SUFFIXES)) if (/\s/.test(arg)) this.#bench.script(arg, input)
  }

  #alias(name: string, args: readonly string[], input: Input): Output {
    const { aliases, resolving } = this.#bench.findings
    const text = [aliases.get(name) ?? '', ...args.map(quoted)].join(' ')
    resolving.add(name)
    try {
      return this.#bench.script(text, input)
    } finally {
      resolving.delete(name)
    }
  }

  /** The body of a function is judged at its definition; its arguments may be commands and files. */
  #ownFunction(args: readonly string[]): Output {
    const { variables } = this.#bench.findings
    for (const [at, arg] of args.entries()) variables.add(String(at + 1), arg)
    for (const all of ['@', '*']) variables.add(all, args.join(' '))
    return { isEmpty: false, words: args }
  }

  isShell(word: string): boolean {
    return isShellName(word.slice(word.lastIndexOf('/') + 1))
  }

  reads(words: readonly string[], input: Input): readonly string[] {
    return readsFiles(words, input)
  }

  variable(name: string): void {
    if (isSecretName(name, this.#bench.findings.secretNames)) this.#bench.meet('secret-variable')
  }

  /** The value is evaluated as an expression, and an index in it may contain a substitution. */
  arithmetic(name: string): void {
    const { resolving, variables } = this.#bench.findings
    const key = `((${name}`
    if (resolving.has(key)) return
    resolving.add(key)
    try {
      for (const value of variables.of(name)) this.expression(value)
    } finally {
      resolving.delete(key)
    }
  }

  /** Judges an expression: substitutions in it, and the names of variables that are expressions in turn. */
  expression(text: string): void {
    if (!/^[-+\s\d]*$/.test(text)) {
      this.#bench.findings.spend()
      this.expandedText(text)
      for (const [name] of text.slice(0, MAX_EXPRESSION).matchAll(/[A-Za-z_]\w*/g)) this.arithmetic(name)
    }
  }

  /** A name with an index. */
  index(text: string): void {
    this.expandedText(text)
    this.expression(text.slice(text.indexOf('[') + 1))
  }

  /** Judges a text that is only evaluated as an expression. */
  indexIn(text: string): void {
    for (const line of text.split('\n', MAX_LINES)) {
      const from = INDEX_WITH_CODE.exec(line)?.index
      if (from !== undefined) this.expandedText(line.slice(from, from + MAX_EXPRESSION))
    }
  }

  /** Judges a text that the shell expands a second time. */
  expandedText(text: string): void {
    if (!/[$`]/.test(text)) return
    let end = 'END'
    while (text.includes(end)) end += '_'
    this.#bench.script(`: <<${end}\n${text}\n${end}\n`, { kind: 'inherited' })
  }

  assigned(name: string, value: string): void {
    this.#bench.findings.variables.add(name, value)
    if (this.#bench.findings.integers.has(name)) this.expression(value)
    if (value === '') return
    if (name.startsWith(COMMAND_ALIAS)) this.#aliased(name.slice(COMMAND_ALIAS.length), value)
    else if (/^GIT_CONFIG_(COUNT|KEY_|VALUE_|PARAMETERS)/.test(name)) this.#bench.meet('git-setting')
    else if (COMMAND_VARIABLES.has(name)) this.#commandVariable(value)
    else if (PROMPT_VARIABLES.has(name)) this.#prompt(value)
    else if (name === 'PATH' ? !keepsPath(value) : loadsCode(name, value)) this.#bench.meet('loads-code')
  }

  /** For `read`, `printf -v` and similar. */
  assignedUnknown(name: string): void {
    if (name === 'PATH') this.#bench.meet('loads-code')
    this.assigned(name, MARK.unknown)
  }

  #prompt(value: string): void {
    if (isAllUnknown(value)) this.#bench.meet('unknown-code')
    this.expandedText(value)
  }

  #aliased(name: string, value: string): void {
    if (holdsValue(value)) this.#bench.meet('unknown-code')
    this.#bench.findings.aliases.set(name, value)
    this.#bench.script(value, { kind: 'inherited' })
  }

  #commandVariable(value: string): void {
    if (isUnknown(value)) this.#bench.meet('unknown-code')
    else if (!this.#bench.isLowScript(value)) this.#bench.meet('git-setting')
  }
}

/** True when no folder is put before the existing ones. */
const keepsPath = (value: string) => /^(\uE000|\$PATH|\$\{PATH\})(:|$)/.test(value)

const PLAIN_NODE_OPTION =
  /^--(max-old-space-size=\d+|no-warnings|trace-[\w-]+|enable-source-maps|(no-)?experimental-[\w-]+|stack-trace-limit=\d+|no-deprecation)$/

function loadsCode(name: string, value: string): boolean {
  if (name === 'NODE_OPTIONS')
    return !value.split(/\s+/).every((option) => option === '' || PLAIN_NODE_OPTION.test(option))
  return LOADING_VARIABLES.has(name) || (name === 'ENV' && /[/.]/.test(value))
}

/** The name without a version or kind: `python3.12`, `mkfs.ext4`. */
const plainName = (name: string) =>
  name.replace(/^(python|perl|ruby|php|lua|pypy|tclsh|node)[\d.]+$/, '$1').replace(/^mkfs\..*$/, 'mkfs')

/** `git --version` and similar do nothing else. */
const asksForHelp = ({ name, args }: Call) =>
  args.length === 1 && /^(--version|--help|-V)$/.test(args[0] ?? '') && PLAIN_NAME.test(name)

const quoted = (text: string) => (/^[\w./=:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`)

// Commands with subcommands: `git push`, `npm test`. Options before the subcommand are removed if they have no other
// effect.

/** Letters and long names of the options before the subcommand that take a value. */
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

/** npm's short names for its subcommands. */
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

/** The name is both words; the options before the subcommand are passed with the words after it. */
function withSubcommand(call: Call): Call {
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
