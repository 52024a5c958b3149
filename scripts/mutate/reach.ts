// Which test file calls which functions, and how long it takes. Recorded once by running the instrumented suite, stored beside the
// packages, and recorded again for a changed test file.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { filesIn, type Import, importsOf, ROOT, textOf } from '../../test/support/source-tree.ts'
import type { Scratch } from './scratch.ts'
import { Suite } from './suite.ts'
import type { Called, FileOutcome } from './suite-process.ts'

/** `called` is by file and the text that it had, "path@hash", so that a file that changed since is not taken at its word. */
export type Reached = {
  hash: string
  state: FileOutcome['state']
  durationMs: number
  called: Record<string, number[]>
  /** For a test file that was not run: the files that it imports, with their distance. */
  steps?: ReadonlyMap<string, number>
}
/** `loaded`: code that runs when modules are loaded, so a change there affects every test. */
export type Reach = { tests: Record<string, Reached>; loaded: Called }

const KEPT = join(ROOT, 'node_modules', '.cache', 'mutate', 'reach.json')
const CHUNK = 24
const FILE_LIMIT_MS = 1_800_000
// Tests that build and start a service, or only read the tree, cannot detect a mutant of the copy.
const LEFT_OUT =
  /^test\/e2e\/|^test\/node\/(docs|file-size|front|imports|install|lazy-modules|openapi-lint|start-parts)\./

export function testFiles(): string[] {
  return filesIn('test').filter((path) => path.endsWith('.test.ts') && !LEFT_OUT.test(path))
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

type ReachOptions = { tests: RegExp; afresh: boolean; asKept: boolean }

/** The records of the requested test files; runs those without a record first. */
export async function findReach(scratch: Scratch, { tests, afresh, asKept }: ReachOptions): Promise<Reach> {
  const reach = afresh ? { tests: {}, loaded: {} } : keptReach()
  const wanted = testFiles().filter((path) => tests.test(path))
  const stale = wanted.filter((path) => reach.tests[path]?.hash !== hashOf(textOf(path)))
  if (asKept) addImports(reach, stale)
  else await addStale(reach, scratch, stale)
  const known = Object.entries(reach.tests).filter(([path]) => wanted.includes(path))
  return { tests: Object.fromEntries(known), loaded: reach.loaded }
}

const GUESSED_MS = 8_000
const ENTRY = 'src/index.ts'
const SERVICE = /^cloudflare:(test|workers)$/

/** A test file that was not run counts as covering whatever it imports, and never shares a run. */
export function addImports(reach: Reach, tests: readonly string[]): void {
  const imports = new Map<string, string[]>()
  for (const test of tests) {
    const { durationMs = GUESSED_MS, called = {} } = reach.tests[test] ?? {}
    reach.tests[test] = { hash: '', state: 'passed', durationMs, called, steps: stepsFrom(test, imports) }
  }
}

/** The shortest distance if a file is reached in several ways. */
function stepsFrom(test: string, imports: Map<string, string[]>): Map<string, number> {
  const steps = new Map([[test, 0]])
  for (const [path, step] of steps) {
    const targets = imports.get(path) ?? importedBy(path)
    imports.set(path, targets)
    for (const target of targets) if (!steps.has(target)) steps.set(target, step + 1)
  }
  return steps
}

/** A test that sends requests to the running service covers all of it. */
function importedBy(path: string): string[] {
  const imports = importsOf(path)
  const asksService = path.startsWith('test/') && imports.some(({ target }) => SERVICE.test(target))
  return [...(asksService ? [ENTRY] : []), ...ownOf(imports)]
}

function ownOf(imports: readonly Import[]): string[] {
  return imports
    .filter(({ isOurs, isType, target }) => isOurs && !isType && target.endsWith('.ts'))
    .map(({ target }) => target)
    .filter((target) => existsSync(join(ROOT, target))) // What a test writes into a text of its own looks like an import as well.
}

async function addStale(reach: Reach, scratch: Scratch, stale: readonly string[]): Promise<void> {
  if (stale.length === 0) return
  console.log(`${stale.length} test files are run to see which functions they call`)
  const suite = new Suite(scratch.root, { marksFunctions: true })
  try {
    for (let from = 0; from < stale.length; from += CHUNK) {
      await addReach(reach, suite, stale.slice(from, from + CHUNK))
      keep(reach)
    }
  } finally {
    suite.close()
  }
}

async function addReach(reach: Reach, suite: Suite, tests: readonly string[]): Promise<void> {
  const outcome = await suite.run({ tests, changed: [], stopsAtFailure: false }, () => FILE_LIMIT_MS)
  if (outcome.cutOffIn !== null) throw new Error(`not done in time: ${tests.join(' ')}`)
  for (const { path, state, durationMs, called, loaded, errors } of outcome.files) {
    reach.tests[path] = { hash: hashOf(textOf(path)), state, durationMs, called: byText(called) }
    Object.assign(reach.loaded, byText(loaded))
    if (state === 'failed') console.log(`${path} fails without any mutation and is left out: ${errors[0]}`)
  }
  for (const error of [...outcome.errors, ...outcome.unstarted]) console.log(`beside the tests: ${error}`)
  console.log(`${Object.keys(reach.tests).length} test files known`)
}

function byText(called: Called): Called {
  return Object.fromEntries(Object.entries(called).map(([file, numbers]) => [textKey(file), numbers]))
}

/** The current text of a file. */
export function textKey(path: string): string {
  return `${path}@${hashOf(textOf(path))}`
}

function keptReach(): Reach {
  try {
    return JSON.parse(readFileSync(KEPT, 'utf8')) as Reach
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { tests: {}, loaded: {} }
    throw error
  }
}

function keep(reach: Reach): void {
  mkdirSync(dirname(KEPT), { recursive: true })
  writeFileSync(KEPT, JSON.stringify(reach))
}
