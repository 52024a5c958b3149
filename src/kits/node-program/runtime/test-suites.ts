// What a test file defines: suites, tests and hooks, collected before anything of them runs.

export type Run = (...args: unknown[]) => unknown
type Hook = 'before' | 'after' | 'beforeEach' | 'afterEach'

export interface TestOptions {
  skip?: boolean | string
  todo?: boolean | string
  only?: boolean
  timeout?: number
}

export interface TestItem {
  readonly kind: 'test'
  readonly name: string
  readonly run: Run
  readonly options: TestOptions
  readonly resolve: () => void
}
export interface SuiteItem extends Omit<TestItem, 'kind'> {
  readonly kind: 'suite'
  readonly suite: Suite
  /** What came of defining what is in it. */
  readonly collected: Promise<unknown>
}
export type Item = TestItem | SuiteItem

export interface Suite {
  readonly parent: Suite | null
  /** The folds of the tests in it. */
  readonly depth: number
  readonly items: Item[]
  readonly hooks: Record<Hook, Run[]>
}

export function suiteIn(parent: Suite | null): Suite {
  const hooks = { before: [], after: [], beforeEach: [], afterEach: [] }
  return { parent, depth: parent === null ? 0 : parent.depth + 1, items: [], hooks }
}

export const top = suiteIn(null)
let current = top

const isRun = (given: unknown): given is Run => typeof given === 'function'
const isOptions = (given: unknown): given is TestOptions => typeof given === 'object' && given !== null

/** A name, options and a function, each of which may be missing. */
export function readArguments(given: readonly unknown[]): { name: string; options: TestOptions; run: Run } {
  const run = given.find(isRun)
  const options = given.find(isOptions) ?? {}
  const name = typeof given[0] === 'string' ? given[0] : run?.name || '<anonymous>'
  return { name, options: { ...options }, run: run ?? (() => {}) }
}

function add(kind: Item['kind'], args: readonly unknown[], forced: TestOptions): Promise<void> {
  const { name, options, run } = readArguments(args)
  const parent = current
  const own = { ...options, ...forced }
  return new Promise((resolve) => {
    const about = { name, run, options: own, resolve }
    if (kind === 'test') parent.items.push({ ...about, kind })
    else parent.items.push({ ...about, kind, ...collect(parent, about) })
  })
}

function collect(parent: Suite, { name, run, options }: Pick<Item, 'name' | 'run' | 'options'>) {
  const suite = suiteIn(parent)
  current = suite
  const collected = outcomeOf(() => (options.skip ? undefined : run({ name })))
  current = parent
  // It is told when the suite's turn comes.
  collected.catch(() => {})
  return { suite, collected }
}

/** Runs at once; only what comes of it is told later. */
async function outcomeOf(run: () => unknown): Promise<void> {
  await run()
}

function define(kind: Item['kind']) {
  const make =
    (forced: TestOptions) =>
    (...args: unknown[]) =>
      add(kind, args, forced)
  return Object.assign(make({}), {
    skip: make({ skip: true }),
    todo: make({ todo: true }),
    only: make({ only: true }),
  })
}

const hook = (name: Hook) => (run: Run) => {
  current.hooks[name].push(run)
}

const test = define('test')
const suite = define('suite')

/** What `node:test` exports, but for the mocks. */
export const definitions = {
  test,
  it: test,
  suite,
  describe: suite,
  before: hook('before'),
  after: hook('after'),
  beforeEach: hook('beforeEach'),
  afterEach: hook('afterEach'),
}
