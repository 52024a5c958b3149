#!/usr/bin/env node
// The command line: finds the command, parses its flags, and converts every result to an exit code.

import { parseArgs } from 'node:util'
import { Bellwether, BellwetherError, ServiceError, TimedOut, Unreachable } from '../index.ts'
import { budget, config, keys, runner } from './account.ts'
import { analyze, watch } from './analyze.ts'
import { chat } from './chat.ts'
import { type Command, EXIT, type Flags, UsageError } from './command.ts'
import { completionOf } from './completion.ts'
import { readConfig } from './config.ts'
import { erase, importAll } from './owner.ts'
import { cleanLine, type Output, outputFor } from './terminal.ts'
import { VERSION } from './version.ts'
import { exportOf, files, fork, list } from './workspace.ts'

const LOCAL = 'http://127.0.0.1:8787'

const GLOBAL: Flags = {
  url: { type: 'string', value: 'URL', words: `the service; BELLWETHER_URL, the configuration, else ${LOCAL}` },
  key: { type: 'string', value: 'KEY', words: 'the key; BELLWETHER_KEY or the configuration show it to nobody' },
  json: { type: 'boolean', words: 'one JSON value a line, for programs' },
  'no-color': { type: 'boolean', words: 'no colours; so does NO_COLOR' },
  help: { type: 'boolean', short: 'h', words: 'this text' },
}

const COMMANDS: readonly Command[] = [
  chat,
  analyze,
  watch,
  list,
  files,
  fork,
  exportOf,
  importAll,
  erase,
  runner,
  keys,
  budget,
  config,
]
const completion = completionOf(() => [...COMMANDS, completion], GLOBAL)
const ALL: readonly Command[] = [...COMMANDS, completion]

const CODES = `Exit codes: 0 done, 1 the work failed, 2 the command line is wrong, 3 the service refused, 4 the service cannot be reached or failed,
130 interrupted.`

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = commandFirst(argv)
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return overview(rest[0])
  if (name === '--version' || name === '-v') return say(VERSION)
  const command = ALL.find((one) => one.name === name)
  if (command === undefined) throw new UsageError(`there is no command "${name}"; \`bellwether --help\` shows them`)
  return perform(command, rest)
}

/** Flags may also precede the command. */
function commandFirst(argv: readonly string[]): readonly string[] {
  let at = 0
  while (['--url', '--key', '--json', '--no-color'].includes((argv[at] ?? '').split('=')[0] ?? '')) {
    at += argv[at] === '--url' || argv[at] === '--key' ? 2 : 1
  }
  const before = argv.slice(0, at)
  return at === 0 ? argv : [...argv.slice(at, at + 1), ...before, ...argv.slice(at + 1)]
}

function overview(name: string | undefined): number {
  const command = ALL.find((one) => one.name === name)
  if (command !== undefined) return say(helpOf(command))
  const width = Math.max(...ALL.map((one) => one.name.length))
  const rows = ALL.map((one) => `  ${one.name.padEnd(width)}  ${one.summary}`)
  return say(
    `bellwether: conversations with agents, and stock analysis, of a Bellwether service\n\nUsage: bellwether COMMAND [OPTION…]\n\n${rows.join('\n')}\n\n\`bellwether COMMAND --help\` shows the options and examples.\n\n${flagRows(GLOBAL)}\n\n${CODES}`,
  )
}

function helpOf({ name, summary, usage, flags, general, examples, more }: Command): string {
  const shared = Object.entries(GLOBAL).filter(([flag]) => general?.includes(flag) ?? true)
  const parts = [
    `bellwether ${name}: ${summary}`,
    `Usage: bellwether ${name} ${usage}`.trimEnd(),
    ...(more === undefined ? [] : [more]),
    flagRows({ ...flags, ...Object.fromEntries(shared) }),
    `Examples:\n${examples.map((line) => `  ${line}`).join('\n')}`,
  ]
  return parts.join('\n\n')
}

function flagRows(flags: Flags): string {
  const rows = Object.entries(flags).map(([name, { short, value, words }]) => {
    return [
      `${short === undefined ? '   ' : `-${short},`} --${name}${value === undefined ? '' : ` ${value}`}`,
      words,
    ] as const
  })
  const width = Math.max(...rows.map(([left]) => left.length))
  return `Options:\n${rows.map(([left, words]) => `  ${left.padEnd(width)}  ${words}`).join('\n')}`
}

function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return EXIT.done
}

async function perform(command: Command, argv: readonly string[]): Promise<number> {
  const { values, positionals } = read(command, argv)
  if (values.help === true) return say(helpOf(command))
  const text = (flag: string) => {
    const value = values[flag]
    return typeof value === 'string' ? value : undefined
  }
  const is = (flag: string) => values[flag] === true
  const out = outputFor({ json: is('json'), noColor: is('no-color') })
  const stored = command === config || command === completion ? {} : readConfig()
  const url = text('url') || process.env.BELLWETHER_URL || stored.url || LOCAL
  // A key is only sent to the service for which it was stored.
  const storedKey = url === (stored.url ?? LOCAL) ? stored.key : undefined
  const key = text('key') || process.env.BELLWETHER_KEY || storedKey || null
  return command.run({ service: new Bellwether({ url, key }), url, key, out, args: positionals, text, is })
}

function read({ name, flags }: Command, argv: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries({ ...flags, ...GLOBAL }).map(([flag, { type, short }]) => [
      flag,
      { type, ...(short === undefined ? {} : { short }) },
    ]),
  )
  try {
    // The runner's own options are not parsed here.
    if (name === 'runner') return readRunner(argv)
    return parseArgs({ args: [...argv], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function readRunner(argv: readonly string[]) {
  const values: Record<string, string | boolean> = {}
  const positionals: string[] = []
  for (let i = 0; i < argv.length; i += 1) {
    const [word = ''] = argv.slice(i)
    if (word === '--help' || word === '-h') values.help = true
    else if (word.startsWith('--url=')) values.url = word.slice('--url='.length)
    else if (word === '--url') {
      i += 1
      values.url = argv[i] ?? ''
    } else if (word !== '--') positionals.push(word)
  }
  return { values, positionals }
}

/** The error, with advice on how to fix it. */
function explain(error: unknown, out: Pick<Output, 'note'>): number {
  const tell = (text: string) => out.note(`bellwether: ${cleanLine(text)}`, 'red')
  if (error instanceof UsageError) {
    tell(error.message)
    return EXIT.usage
  }
  if (error instanceof Unreachable || error instanceof TimedOut) {
    tell(error.message)
    if (error instanceof Unreachable)
      out.note('Start one with `npm start`, or name another with --url or BELLWETHER_URL.')
    return EXIT.unreachable
  }
  if (error instanceof ServiceError) {
    tell(`${error.message} (${error.status} ${error.code})`)
    if (error.status === 401)
      out.note('Give a valid key with BELLWETHER_KEY, or keep one with `bellwether config set key`.')
    if (error.status === 403) out.note('The key lacks the scope for this.')
    if (error.retryAfterMs !== null) out.note(`Come again in ${Math.ceil(error.retryAfterMs / 1000)} s.`)
    if (error.status >= 500 && error.requestId !== null) out.note(`Number of the request: ${error.requestId}`)
    return error.status >= 500 ? EXIT.unreachable : EXIT.refused
  }
  if (error instanceof BellwetherError) {
    tell(error.message)
    return error.code === 'bad_url' || error.code === 'bad_key' ? EXIT.usage : EXIT.failed
  }
  tell(error instanceof Error ? error.message : String(error))
  return EXIT.failed
}

// A reader that ends early (`| head`) is not a failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done)
    if (stream === process.stdout) process.stderr.write(`bellwether: the result cannot be written: ${error.message}\n`)
    process.exit(EXIT.failed)
  })
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.exitCode = explain(error, outputFor({ json: false, noColor: process.argv.includes('--no-color') }))
}
