// Parses the arguments of `node`.

import { version } from 'node:process'
import { readSource } from './compile.ts'

type InputType = 'module' | 'script' | null

export type NodeArguments =
  | { kind: 'answer'; stdout: string; stderr: string; exitCode: number }
  | { kind: 'file'; path: string; rest: string[] }
  | { kind: 'code'; text: string; prints: boolean; inputType: InputType; rest: string[] }
  | { kind: 'check'; path: string; rest: string[] }
  | { kind: 'stdin'; inputType: InputType; dash: boolean; rest: string[] }
  | { kind: 'test'; paths: string[]; only: boolean; namePatterns: string[]; rest: string[] }

/** Options without an effect here. */
const IGNORED =
  /^--(no-warnings|trace-[\w-]+|enable-source-maps|experimental-[\w-]+|no-experimental-[\w-]+|unhandled-rejections=\w+|max-old-space-size=\d+|stack-trace-limit=\d+|test-reporter=\w+|test-concurrency=\d+|no-deprecation|test-isolation=\w+)$/

const VERSION = `${version} (JavaScript in an isolate of Bellwether)`
const USAGE = `usage: node [options] [file.js | -e code | -p expression | -] [arguments]
       node --test [--test-only] [--test-name-pattern=pattern] [files]
There is no network and there are no processes; the files are those of the workspace.
`

type NodeOptions = {
  code: string | null
  prints: boolean
  checks: boolean
  isTest: boolean
  only: boolean
  namePatterns: string[]
  inputType: InputType
}

export function readNodeArguments(args: readonly string[]): NodeArguments {
  const found: NodeOptions = {
    code: null,
    prints: false,
    checks: false,
    isTest: false,
    only: false,
    namePatterns: [],
    inputType: null,
  }
  let at = 0
  for (; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--' || arg === '-' || !arg.startsWith('-')) break
    if (arg === '-v' || arg === '--version') return answer(`${VERSION}\n`)
    if (arg === '-h' || arg === '--help') return answer(USAGE)
    const [name = '', inline] = splitOption(arg)
    const value = () => inline ?? args[++at]
    if (!takeOption(name, value, found) && !IGNORED.test(arg))
      return { kind: 'answer', stdout: '', stderr: `node: bad option: ${arg}\n`, exitCode: 9 }
  }
  const rest = args.slice(args[at] === '--' ? at + 1 : at)
  return conclude(found, rest)
}

function splitOption(arg: string): [string, string | undefined] {
  const equals = arg.startsWith('--') ? arg.indexOf('=') : -1
  return equals < 0 ? [arg, undefined] : [arg.slice(0, equals), arg.slice(equals + 1)]
}

function takeOption(name: string, value: () => string | undefined, found: NodeOptions): boolean {
  switch (name) {
    case '-e':
    case '--eval':
      found.code = value() ?? ''
      return true
    case '-p':
    case '-pe':
    case '--print':
      found.code = value() ?? ''
      found.prints = true
      return true
    case '-c':
    case '--check':
      found.checks = true
      return true
    case '--input-type':
      found.inputType = value() === 'module' ? 'module' : 'script'
      return true
    case '--test':
      found.isTest = true
      return true
    case '--test-only':
      found.only = true
      return true
    case '--test-name-pattern':
      found.namePatterns.push(value() ?? '')
      return true
    default:
      return false
  }
}

function conclude(
  { code, prints, checks, isTest, only, namePatterns, inputType }: NodeOptions,
  rest: string[],
): NodeArguments {
  const [file, ...others] = rest
  if (isTest) return { kind: 'test', paths: rest, only, namePatterns, rest: [] }
  if (checks && code !== null)
    return { kind: 'answer', stdout: '', stderr: 'node: either --check or --eval can be used, not both\n', exitCode: 9 }
  if (checks && (file === undefined || file === '-'))
    return {
      kind: 'answer',
      stdout: '',
      stderr: 'node: --check of what is piped in is not available here\n',
      exitCode: 9,
    }
  if (checks) return { kind: 'check', path: file ?? '', rest: others }
  if (code !== null) {
    const text = prints ? `module.exports = ${lastValueOf(code)}` : code
    return { kind: 'code', text, prints, inputType: prints ? 'script' : inputType, rest }
  }
  if (file === undefined || file === '-') return { kind: 'stdin', inputType, dash: file === '-', rest: others }
  return { kind: 'file', path: file, rest: others }
}

/** The statements as a function that returns the value of the last one, if that is an expression. */
function lastValueOf(code: string): string {
  const { text, tokens } = readSource(code)
  const last = tokens.findLastIndex((token, i) => token.text === ';' && token.depth === 0 && i < tokens.length - 1)
  const from = last < 0 ? 0 : (tokens[last]?.end ?? 0)
  const end = tokens.at(-1)?.text === ';' ? (tokens.at(-1)?.start ?? text.length) : text.length
  const expression = text.slice(from, end)
  return /^\s*(const|let|var|if|for|while|function|class|throw|try)\b/.test(expression)
    ? `(() => { ${text}\n})()`
    : `(() => { ${text.slice(0, from)} return (${expression}\n) })()`
}

function answer(stdout: string): NodeArguments {
  return { kind: 'answer', stdout, stderr: '', exitCode: 0 }
}
