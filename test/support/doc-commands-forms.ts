// Commands of the documents that no test runs, and their static checks: that the script exists and
// accepts these options, or the reason why the command cannot be tried.

import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readBackupArguments } from '../../scripts/backup/main.ts'
import { readOptions as readBenchOptions } from '../../scripts/bench/options.ts'
import { readDeployArguments } from '../../scripts/deploy/main.ts'
import { parseOptions as readEvaluateOptions } from '../../scripts/evaluate/options.ts'
import { readOptions as readFaultOptions } from '../../scripts/faults/options.ts'
import { readOptions as readSampleOptions } from '../../scripts/kit-sample/options.ts'
import { readFairness, readOptions as readLoadOptions } from '../../scripts/load/options.ts'
import { readOptions as readMutateOptions } from '../../scripts/mutate/options.ts'
import { readArguments as readStartArguments } from '../../scripts/start/arguments.ts'
import { VARIABLES } from '../../src/config.ts'
import { filesIn, ROOT, textOf } from './source-tree.ts'

/** Commands that no test can try, each with the reason. The key is the beginning of the command. */
export const NOT_TRIED: Readonly<Record<string, string>> = {
  'npx wrangler login': 'signs in to an account',
  'npx wrangler d1 create': 'makes a database in an account',
  'npx wrangler r2 bucket create': 'makes a bucket in an account',
  'npx wrangler secret put': 'stores a secret in an account',
  'npx wrangler d1 export': 'reads the database of an account',
  'npx wrangler d1 time-travel': 'reads or changes the database of an account',
  'npx wrangler rollback': 'changes what an account serves',
  'npx wrangler d1 execute': 'changes the database of an account',
  'npx wrangler d1 migrations apply DB --local': 'writes to the state of this tree, which belongs to its user',
  'docker build': 'needs Docker',
  'npx wrangler containers push': 'pushes to the registry of an account',
  'npx wrangler deploy --env containers': 'deploys to an account',
  'npx wrangler deploy --dry-run --env containers': 'is run by containers-environment.test.ts',
  'npx wrangler dev': 'serves from the state of this tree, which belongs to its user',
  'git clone --depth 1 --branch 0.53.0': 'fetches another project',
  'cd OpenHands/frontend': 'a folder of that project',
  'npm ci --ignore-scripts': 'installs the packages of that project',
  'VITE_BACKEND_BASE_URL=':
    'builds the page of that project, which takes minutes; what it asks is asked by openhands-page.test.ts',
  'npx sirv': 'serves that page',
}

/** Reads the options of a script; throws when the script would refuse them. */
const PARSERS: Readonly<Record<string, (args: readonly string[]) => unknown>> = {
  start: readStartArguments,
  backup: (args) => readBackupArguments('backup', args),
  restore: (args) => readBackupArguments('restore', args),
  deploy: readDeployArguments,
  bench: readBenchOptions,
  evaluate: readEvaluateOptions,
  mutate: readMutateOptions,
  sample: readSampleOptions,
  load: (args) => readFairness(args) ?? readLoadOptions(args),
  conformance: (args) => {
    if (args.length > 1) throw new Error('one suite, by a part of its name')
  },
  'test:faults': readFaultOptions,
  runner: (args) => onlyWordsOf('runner/src/usage.ts', args),
  client: (args) => isClientCommand(args[0] ?? ''),
  test: (args) => onlyFiles(args),
  demo: (args) => onlyWordsOf('scripts/demo.ts', args),
}

/** Variables allowed before a command, in addition to the Worker's own and those that a script reads as `process.env.NAME`. */
const START_VARIABLES = ['PORT', 'BELLWETHER_STATE']

/** The error in the form of a command; null if it is valid. */
export function problemOf(command: string): string | null {
  const words = command
    .replaceAll(/\[([^\]]*)\]/g, '$1')
    .replaceAll(/<[^>]*>/g, 'x')
    .split(/\s+/)
  const variables = words.filter((word) => /^[A-Z_]+=/.test(word)).map((word) => word.split('=')[0] ?? '')
  const [program = '', ...rest] = words.slice(variables.length)
  const unknown = variables.find((name) => !isVariable(name, rest[0] ?? ''))
  if (unknown !== undefined) return `nothing reads ${unknown}`
  if (program === 'node') return existsSync(join(ROOT, rest[0] ?? '')) ? null : `there is no file ${rest[0]}`
  if (program === 'npm') return problemOfScript(rest[0] === 'run' ? rest.slice(1) : rest)
  return `no test knows what ${program} is`
}

function isVariable(name: string, script: string): boolean {
  if (START_VARIABLES.includes(name) || VARIABLES.some((variable) => variable.name === name)) return true
  const readers = script === 'test' ? filesIn('test').filter((path) => path.endsWith('.ts')) : [script]
  const isReadBy = (text: string) => text.includes(`process.env.${name}`) || text.includes(`wantedNumber('${name}'`)
  return readers.some((path) => isFile(path) && isReadBy(textOf(path)))
}

const isFile = (path: string): boolean => statSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile() ?? false

function problemOfScript([name = '', ...rest]: readonly string[]): string | null {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
  if (scripts[name] === undefined) return `package.json has no script ${name}`
  if (rest.length === 0) return null
  const parse = PARSERS[name]
  if (rest[0] !== '--' || parse === undefined) return `npm run ${name} takes no ${rest.join(' ')}`
  try {
    parse(rest.slice(1))
    return null
  } catch (error) {
    return String(error)
  }
}

/** The client's own tests check its options. */
function isClientCommand(name: string): void {
  const isNamed = filesIn('client/src/cli').some((path) => textOf(path).includes(`  name: '${name}',`))
  if (!isNamed) throw new Error(`bellwether has no command ${name}`)
}

/** `-u` records the expected results of a test. */
function onlyFiles(paths: readonly string[]): void {
  const missing = paths.find((path) => path !== '-u' && !isFile(path))
  if (missing !== undefined) throw new Error(`there is no file ${missing}`)
}

function onlyWordsOf(path: string, args: readonly string[]): void {
  const unknown = args.find((word) => !textOf(path).includes(`'${word}'`))
  if (unknown !== undefined) throw new Error(`${path} does not know ${unknown}`)
}

/** The reason why a command is not tried, or null. */
export function reasonNotTried(command: string): string | null {
  return Object.entries(NOT_TRIED).find(([beginning]) => command.startsWith(beginning))?.[1] ?? null
}
