// Runs what a test file defined, one after the other, and counts.

import type { TestCounts } from './protocol.ts'
import { Mocks } from './test-mocks.ts'
import { outcomeOf, tell, tellTest, timed } from './test-report.ts'
import {
  type Item,
  type Run,
  readArguments,
  type Suite,
  type SuiteItem,
  suiteIn,
  type TestItem,
  top,
} from './test-suites.ts'

const counts: TestCounts = { tests: 0, suites: 0, pass: 0, fail: 0, skipped: 0, todo: 0 }
let isOnly = false
let namePatterns: readonly RegExp[] = []

export function setUp(options: { only: boolean; namePatterns: readonly string[] }): void {
  isOnly = options.only
  namePatterns = options.namePatterns.map((text) => new RegExp(text))
}

export const results = (): TestCounts => ({ ...counts })

/** Answers whether all passed. Nothing is written for a program without tests. */
export async function runAll(isTestRun: boolean): Promise<boolean> {
  if (top.items.length === 0 && !isTestRun) return true
  await callAll(top.hooks.before)
  await runItems(top)
  await callAll(top.hooks.after)
  return counts.fail === 0
}

/** One that runs may define others behind itself. */
async function runItems(suite: Suite): Promise<void> {
  for (let i = 0; i < suite.items.length; i++) {
    const item = suite.items[i]
    if (item) await runItem(suite, item)
  }
}

async function runItem(parent: Suite, item: Item): Promise<void> {
  if (item.kind === 'suite') await runSuite(parent, item)
  else if (isSelected(item)) await runTest(parent, item)
  item.resolve()
}

function isSelected({ options, name }: TestItem): boolean {
  if (isOnly && !options.only) return false
  return namePatterns.length === 0 || namePatterns.some((pattern) => pattern.test(name))
}

async function runSuite({ depth }: Suite, { name, suite, collected }: SuiteItem): Promise<void> {
  const start = performance.now()
  counts.suites++
  tell(depth, 'suite', name)
  const failedBefore = counts.fail
  try {
    await collected
    await callAll(suite.hooks.before)
    await runItems(suite)
    await callAll(suite.hooks.after)
  } catch {
    // Who defined it is told by the mark; its tests told theirs.
    counts.fail++
  }
  tell(depth, counts.fail > failedBefore ? 'failed' : 'passed', name + timed(start))
}

async function runTest(parent: Suite, item: TestItem): Promise<void> {
  const start = performance.now()
  counts.tests++
  const own = suiteIn(parent)
  const context = new Context(item, own)
  const error = item.options.skip ? null : await errorOf(item, context, { parent, own })
  const outcome = outcomeOf(item.options, error)
  counts[COUNTED[outcome]]++
  tellTest(item, { depth: parent.depth, start, outcome, error })
  for (const text of context.diagnostics) tell(parent.depth, 'said', text)
}

const COUNTED = { skipped: 'skipped', todo: 'todo', failed: 'fail', passed: 'pass' } as const

type Thrown = { thrown: unknown }

async function errorOf(
  item: TestItem,
  context: Context,
  suites: { parent: Suite; own: Suite },
): Promise<Thrown | null> {
  const { parent, own } = suites
  const inTest = await thrownBy(async () => {
    await callAll(inherited(parent, 'beforeEach'), context)
    await limited(called(item.run, context), item.options.timeout)
  })
  const behind = await thrownBy(async () => {
    await callAll(inherited(parent, 'afterEach'), context)
    await callAll(own.hooks.after, context)
  })
  context.mock.restoreAll()
  return inTest ?? behind
}

async function thrownBy(run: () => Promise<void>): Promise<Thrown | null> {
  try {
    await run()
    return null
  } catch (thrown) {
    return { thrown }
  }
}

/** The outer suite's come first before a test, and last after it. */
function inherited(suite: Suite | null, name: 'beforeEach' | 'afterEach'): Run[] {
  if (suite === null) return []
  const [own, outer] = [suite.hooks[name], inherited(suite.parent, name)]
  return name === 'afterEach' ? [...own, ...outer] : [...outer, ...own]
}

async function callAll(runs: readonly Run[], ...args: unknown[]): Promise<void> {
  for (const run of runs) await called(run, ...args)
}

/** One that takes a parameter more is given a callback. */
async function called(run: Run, ...args: unknown[]): Promise<unknown> {
  if (run.length <= args.length) return run(...args)
  return new Promise((resolve, reject) => {
    run(...args, (error: unknown) => (error ? reject(error) : resolve(undefined)))
  })
}

async function limited(running: Promise<unknown>, timeout: unknown): Promise<void> {
  if (typeof timeout !== 'number' || !Number.isFinite(timeout)) {
    await running
    return
  }
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`test timed out after ${timeout}ms`)), timeout)
  await Promise.race([running, late]).finally(() => clearTimeout(timer))
}

/** What a test is given. */
class Context {
  readonly name: string
  readonly fullName: string
  readonly signal = new AbortController().signal
  readonly mock = new Mocks()
  readonly diagnostics: string[] = []
  readonly #item: TestItem
  readonly #suite: Suite

  constructor(item: TestItem, suite: Suite) {
    this.name = item.name
    this.fullName = item.name
    this.#item = item
    this.#suite = suite
  }
  test(...args: unknown[]): Promise<void> {
    return runItem(this.#suite, { kind: 'test', ...readArguments(args), resolve: () => {} })
  }
  it(...args: unknown[]): Promise<void> {
    return this.test(...args)
  }
  diagnostic(text: string): void {
    this.diagnostics.push(text)
  }
  skip(reason?: string): void {
    this.#item.options.skip = reason ?? true
  }
  todo(reason?: string): void {
    this.#item.options.todo = reason ?? true
  }
  before(run: Run): unknown {
    return run()
  }
  after(run: Run): void {
    this.#suite.hooks.after.push(run)
  }
  beforeEach(run: Run): void {
    this.#suite.hooks.beforeEach.push(run)
  }
  afterEach(run: Run): void {
    this.#suite.hooks.afterEach.push(run)
  }
}
