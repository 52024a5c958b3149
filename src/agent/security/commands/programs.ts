// Programs that run code in other languages, and scripts of a package.

import type { Bench, Opener } from '../bench.ts'
import { has, type Input, operandsOf, valuesOf } from '../call.ts'
import { judgeJavaScript } from '../code/javascript.ts'
import { judgeAwk, judgeSed } from '../code/text-programs.ts'
import { candidates, isGitInternal, isRunByItself, isSecretFile } from '../paths.ts'
import { isSecretName } from '../variables.ts'
import { holdsOutput, holdsValue, isAllUnknown, MARK } from '../words.ts'

const NODE_VALUED = [
  'erpC',
  '--eval',
  '--print',
  '--require',
  '--import',
  '--loader',
  '--experimental-loader',
  '--input-type',
  '--conditions',
  '--test-name-pattern',
  '--env-file',
  '--run',
  '--title',
  '--test-reporter',
  '--test-concurrency',
  '--test-timeout',
  '--max-old-space-size',
] as const

const node: Opener = ({ args, input }, bench) => {
  if (/^-[vh]$/.test(args[0] ?? '')) return
  const own = args.slice(0, ownOptions(args))
  if (valuesOf(own, 'r', '--require', '--import', '--loader', '--experimental-loader').length > 0)
    bench.meet('unknown-code')
  if (own.some((arg) => arg.startsWith('--inspect') || isAllUnknown(arg))) bench.meet('unknown-code')
  for (const name of valuesOf(own, '', '--run')) packageScript(name, bench)
  const codes = codesIn(own)
  if (codes.length > 0) {
    for (const code of codes) javaScript(code, bench)
    return
  }
  if (has(own, 'c', '--check', '--test', '--run', '--v8-options', '--watch')) return
  const file = args[ownOptions(args)]
  if (file === undefined || file === '-' || file === '/dev/stdin') nodeInput(input, bench)
  else if (holdsOutput(file)) bench.meet(file.includes(MARK.pipe) ? 'runs-made-text' : 'unknown-code')
  else if (file.startsWith('data:') || /^\/dev\/fd/.test(file)) bench.meet('runs-made-text')
}

function codesIn(args: readonly string[]): string[] {
  const short = args.flatMap((arg, at) => (/^-(p|e|pe|ep)$/.test(arg) ? [args[at + 1] ?? ''] : []))
  const code = short.find((text) => !/^-[ep]$/.test(text))
  return [...(code === undefined ? [] : [code]), ...short, ...valuesOf(args, '', '--eval', '--print')]
}

/** The index of the program's name: the words after it belong to the program. */
function ownOptions(args: readonly string[]): number {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') return at + 1
    if (arg === '-' || !arg.startsWith('-')) return at
    const isPair = /^-(pe|ep)$/.test(arg)
    const takes =
      isPair ||
      (!arg.includes('=') &&
        NODE_VALUED.some((name) => name === arg || (/^-[erpC]$/.test(arg) && name.startsWith('erpC'))))
    if (takes) at++
  }
  return args.length
}

function nodeInput(input: Input, bench: Bench): void {
  if (input.kind === 'text') javaScript(input.text, bench)
  else bench.meet(input.kind === 'pipe' ? 'runs-made-text' : 'unknown-code')
}

function javaScript(code: string, bench: Bench): void {
  if (holdsValue(code)) bench.meet('unknown-code')
  judgeJavaScript(code, bench)
}

/** Names of scripts that run after every edit. Owners who are asked each time stop reading. */
const DAILY =
  /^(test|tests|build|lint|format|fmt|typecheck|type-check|types|tsc|check|compile|coverage|unit|e2e|verify|validate)([:.\-_][\w:.-]*)?$/

/** A suffix of such a name may indicate that something leaves the machine. */
const LEAVES = /(^|[:.\-_])(deploy|publish|release|push|upload|prod|production|live)([:.\-_]|$)/

export const isDailyScript = (name: string): boolean => DAILY.test(name) && !LEAVES.test(name)

function packageScript(name: string, bench: Bench): void {
  if (!isDailyScript(name)) bench.meet('unknown-code')
}

const packages: Opener = ({ name, args, before = [] }, bench) => {
  const [manager, command = ''] = name.split(' ')
  if (has(before, '', '--script-shell', '--node-options') || has(args, '', '--script-shell', '--node-options'))
    bench.meet('unknown-code')
  const [first] = operandsOf(args, 'Cw', '--prefix', '--workspace')
  if (command === 'run' && first !== undefined) packageScript(first, bench)
  if ((command === 'config' || command === 'pkg') && first !== 'get' && first !== 'list') bench.meet('unknown-code')
  if (command === 'audit' && args.includes('fix')) bench.meet('unknown-code')
  // Without a command, yarn installs.
  if (manager === 'yarn' && command === '') bench.meet('unknown-code')
}

const awk: Opener = ({ args, input }, bench) => {
  const programs = valuesOf(args, 'e', '--source')
  if (has(args, 'fil', '--file', '--include', '--load', '--exec')) bench.meet('unknown-code')
  else if (programs.length === 0) programs.push(...operandsOf(args, 'Fv', '--field-separator', '--assign').slice(0, 1))
  for (const program of programs) {
    if (isAllUnknown(program)) bench.meet('unknown-code')
    judgeAwk(program, bench)
  }
  // Even if a name is concatenated, its parts contain useful words.
  if (!programs.some((program) => /[>|]|\bgetline\b/.test(program))) return
  const given = input.kind === 'text' ? input.text.split(/\s+/) : []
  for (const word of [...args.filter((arg) => !programs.includes(arg)), ...given])
    for (const name of candidates(word)) if (isGitInternal(name) || isRunByItself(name)) bench.write(name)
}

const SED_VALUED = ['efl', '--expression', '--file', '--line-length'] as const

const sed: Opener = ({ args }, bench) => {
  const scripts = valuesOf(args, 'e', '--expression')
  const operands = operandsOf(args, ...SED_VALUED)
  const isFromFile = valuesOf(args, 'f', '--file').length > 0
  if (isFromFile) bench.meet('unknown-code')
  const files = scripts.length > 0 || isFromFile ? operands : operands.slice(1)
  if (scripts.length === 0 && !isFromFile) scripts.push(...operands.slice(0, 1))
  const inPlace = args.some((arg) => /^-[nErsuz]*i|^--in-p/.test(arg))
  const quiet = has(
    args.filter((arg) => !/^-i/.test(arg)),
    'n',
    '--quiet',
    '--silent',
  )
  if (inPlace) for (const file of files) bench.write(file)
  if (scripts.some(isAllUnknown)) bench.meet('unknown-code')
  judgeSed(scripts.join('\n'), { inPlace, quiet }, bench)
}

/** Languages that are not analysed here: what they run is unknown. */
const INTERPRETERS =
  'python python2 python3 pypy perl ruby php lua luajit tclsh wish expect Rscript R julia ghci runghc deno bun tsx ts-node groovy scala kotlin osascript guile racket sbcl clojure elixir erl ocaml jshell gjs qjs d8 coffee swift make gmake ninja ed ex vi vim nvim emacs m4 sqlite3 psql mysql mongosh redis-cli irb ipython pry'.split(
    ' ',
  )

/** As with package scripts: test runners, compilers that only check, and queries. */
const DAILY_USE: Readonly<Record<string, RegExp>> = {
  python: /^(-V|--version|-m (pytest|unittest|mypy|pyflakes|compileall)( .*)?)$/,
  python3: /^(-V|--version|-m (pytest|unittest|mypy|pyflakes|compileall)( .*)?)$/,
  php: /^(-v|-m|-l .*)$/,
  ruby: /^(-v|-c .*)$/,
  perl: /^-v$/,
  deno: /^(test|check|lint|fmt)( .*)?$/,
  bun: /^test( .*)?$/,
  swift: /^(test|build)( .*)?$/,
}

const isDailyUse = (name: string, args: readonly string[]): boolean =>
  Object.hasOwn(DAILY_USE, name) && DAILY_USE[name]?.test(args.join(' ')) === true && !args.some(holdsValue)

const interpreter: Opener = ({ name, args, input }, bench) => {
  if (isDailyUse(name, args) && input.kind !== 'pipe') return
  bench.meet('unknown-code')
  const isFromInput = args.every((arg) => arg === '-' || /^-[A-Zbdsuvxi]+$/.test(arg))
  if (isFromInput && input.kind === 'pipe') bench.meet('runs-made-text')
  const texts = input.kind === 'text' ? [...args, input.text] : args
  for (const text of texts) foreignCode(text, bench)
}

const MAX_STRINGS = 100

/** Even in code that is not understood, strings and names are informative. */
function foreignCode(text: string, bench: Bench): void {
  for (const [, string = ''] of [...text.matchAll(/["'`]([^"'`\n]{1,300})["'`]/g)].slice(0, MAX_STRINGS)) {
    bench.findings.spend()
    if (isSecretFile(string)) bench.meet('secret-file')
    if (isGitInternal(string)) bench.meet('git-internals')
    if (/^[\w./]+\s+\S/.test(string)) bench.script(string, { kind: 'inherited' })
  }
  for (const [name] of [...text.matchAll(/[A-Za-z_]\w{2,80}/g)].slice(0, MAX_STRINGS * 10)) {
    if (isSecretName(name, bench.findings.secretNames) && /environ|getenv|ENV|env/.test(text))
      bench.meet('secret-variable')
  }
}

/** `env` and `$ENV` read all variables, `env.NAME` only one. */
const jq: Opener = ({ args }, bench) => {
  for (const text of args) {
    for (const [, name, bracketed] of text.matchAll(
      /(?:\$ENV|(?<![\w.$"@])env)\b(?:\s*\.\s*([A-Za-z_]\w*)|\s*\.?\s*\[\s*"([^"]*)"\s*\])?/g,
    )) {
      const one = name ?? bracketed
      if (one === undefined) bench.meet('all-variables')
      else if (isSecretName(one, bench.findings.secretNames)) bench.meet('secret-variable')
    }
  }
}

export const PROGRAM_OPENERS: readonly (readonly [string, Opener])[] = [
  ...INTERPRETERS.map((name) => [name, interpreter] as const),
  ['node', node],
  ['nodejs', node],
  ['npm', packages],
  ['pnpm', packages],
  ['yarn', packages],
  ...['awk', 'gawk', 'mawk', 'nawk', 'original-awk'].map((name) => [name, awk] as const),
  ['jq', jq],
  ['sed', sed],
  ['gsed', sed],
]
