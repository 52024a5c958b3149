// `node:test` inside the isolate, as far as it can be told from Node's by a test file that uses tests, suites, hooks and
// simple mocks. The text of a module.

export const TEST_MODULE = String.raw`
import { inspect } from 'node:util'

let write = () => {}
const top = suiteOf('<root>', null)
let current = top
const counts = { tests: 0, suites: 0, pass: 0, fail: 0, skipped: 0, todo: 0 }
const failures = []
let only = false
let namePatterns = []
export function setUp(options) { write = options.write; only = options.only; namePatterns = options.namePatterns }

function suiteOf(name, parent) { return { name, parent, items: [], hooks: { before: [], after: [], beforeEach: [], afterEach: [] }, chain: Promise.resolve(), started: false } }

function argumentsOf(args) {
  const name = typeof args[0] === 'string' ? args.shift() : undefined
  const options = typeof args[0] === 'object' && args[0] !== null ? args.shift() : {}
  const run = args[0]
  return { name: name ?? (run?.name || '<anonymous>'), options, run: run ?? (() => {}) }
}

const reasonOf = (value) => (value ? ' # ' + (typeof value === 'string' ? value : '') : null)

function add(parent, kind, args, forced) {
  const { name, options, run } = argumentsOf([...args])
  const item = { kind, name, run, options: { ...options, ...forced } }
  if (kind === 'suite') {
    const suite = suiteOf(name, parent)
    item.suite = suite
    const before = current
    current = suite
    try { item.collected = item.options.skip ? undefined : run({ name }) } catch (error) { item.error = error } finally { current = before }
  }
  return new Promise((resolve) => { item.resolve = resolve; parent.items.push(item) })
}

const define = (kind) => {
  const make = (forced) => (...args) => add(current, kind, args, forced)
  return Object.assign(make({}), { skip: make({ skip: true }), todo: make({ todo: true }), only: make({ only: true }) })
}
const hook = (name) => (run) => void current.hooks[name].push(run)
export const test = define('test')
export const it = test
export const describe = define('suite')
export const suite = describe
export const before = hook('before')
export const after = hook('after')
export const beforeEach = hook('beforeEach')
export const afterEach = hook('afterEach')

const called = (run, ...args) => run.length > args.length ? new Promise((resolve, reject) => run(...args, (error) => (error ? reject(error) : resolve()))) : run(...args)

class Context {
  #suite
  #diagnostics = []
  constructor(name, suite, item) { this.name = name; this.#suite = suite; this.item = item; this.fullName = name; this.signal = new AbortController().signal; this.mock = new Mocks() }
  test(...args) { return runItem(...subtest(this.#suite, args)) }
  it(...args) { return this.test(...args) }
  diagnostic(text) { this.#diagnostics.push(text) }
  skip(reason) { this.item.options.skip = reason ?? true; this.item.skipped = true }
  todo(reason) { this.item.options.todo = reason ?? true }
  before(run) { return run() }
  after(run) { this.#suite.hooks.after.push(run) }
  beforeEach(run) { this.#suite.hooks.beforeEach.push(run) }
  afterEach(run) { this.#suite.hooks.afterEach.push(run) }
  get diagnostics() { return this.#diagnostics }
}
function subtest(parent, args) {
  const { name, options, run } = argumentsOf([...args])
  const item = { kind: 'test', name, run, options }
  item.resolve = () => {}
  return [parent, item, parent.depth + 1]
}

const inherited = (suite, name) => suite === null ? [] : name === 'afterEach' ? [...suite.hooks[name], ...inherited(suite.parent, name)] : [...inherited(suite.parent, name), ...suite.hooks[name]]

const selected = (item) => (!only || item.options.only || item.kind === 'suite') && (namePatterns.length === 0 || item.kind === 'suite' || namePatterns.some((pattern) => pattern.test(item.name)))

async function runItem(parent, item, depth) {
  if (!selected(item)) return item.resolve()
  const start = performance.now()
  const pad = '  '.repeat(depth)
  if (item.kind === 'suite') {
    counts.suites++
    write(pad + '\u25b6 ' + item.name + '\n')
    const failedBefore = counts.fail
    try {
      if (item.error) throw item.error
      await item.collected
      for (const run of item.suite.hooks.before) await called(run)
      for (let i = 0; i < item.suite.items.length; i++) await runItem(item.suite, item.suite.items[i], depth + 1)
      for (const run of item.suite.hooks.after) await called(run)
    } catch (error) { failed(item, error) }
    write(pad + (counts.fail > failedBefore ? '\u2716 ' : '\u2714 ') + item.name + timed(start) + '\n')
    return item.resolve()
  }
  counts.tests++
  const own = suiteOf(item.name, parent)
  own.depth = depth
  const context = new Context(item.name, own, item)
  let error = null
  if (!item.options.skip) {
    try {
      for (const run of inherited(parent, 'beforeEach')) await called(run, context)
      await limited(called(item.run, context), item.options.timeout)
    } catch (thrown) { error = { thrown } }
    try {
      for (const run of inherited(parent, 'afterEach')) await called(run, context)
      for (const run of own.hooks.after) await called(run, context)
    } catch (thrown) { error ??= { thrown } }
    context.mock.restoreAll()
  }
  const todo = reasonOf(item.options.todo)
  const skip = reasonOf(item.options.skip)
  if (skip !== null) { counts.skipped++; write(pad + '\ufe63 ' + item.name + timed(start) + skip.replace(' # ', ' # SKIP ').trimEnd() + '\n') }
  else if (todo !== null) { counts.todo++; write(pad + (error ? '\u26a0 ' : '\u2714 ') + item.name + timed(start) + ' # TODO\n') }
  else if (error) { failed(item, error.thrown); write(pad + '\u2716 ' + item.name + timed(start) + '\n' + indented(describeError(error.thrown), pad + '  ')) }
  else { counts.pass++; write(pad + '\u2714 ' + item.name + timed(start) + '\n') }
  for (const text of context.diagnostics) write(pad + '\u2139 ' + text + '\n')
  item.resolve()

}

function limited(promise, timeout) {
  if (!Number.isFinite(timeout)) return promise
  let timer
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error('test timed out after ' + timeout + 'ms')), timeout) })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
function failed(item, error) { counts.fail++; failures.push({ name: item.name, error }) }
const timed = (start) => ' (' + (performance.now() - start).toFixed(3) + 'ms)'
const indented = (text, pad) => text.split('\n').map((line) => pad + line).join('\n') + '\n'
function describeError(error) {
  if (!(error instanceof Error)) return inspect(error)
  const stack = String(error.stack ?? error)
  const shown = stack.includes(error.message) ? stack : error.name + ': ' + error.message + '\n' + stack
  const extra = 'actual' in error && error.generatedMessage === false ? '\n' + inspect({ actual: error.actual, expected: error.expected, operator: error.operator }) : ''
  return shown.split('\n').filter((line) => !/\bbellwether\/|\(node-internal:|at async Run\./.test(line)).join('\n') + extra
}

/** Runs what was defined; answers whether all passed. Nothing is written for a program without tests. */
export async function runAll(isTestRun) {
  if (top.items.length === 0 && !isTestRun) return true
  const start = performance.now()
  top.depth = -1
  for (const run of top.hooks.before) await called(run)
  for (let i = 0; i < top.items.length; i++) await runItem(top, top.items[i], 0)
  for (const run of top.hooks.after) await called(run)
  counts.duration_ms = performance.now() - start
  return counts.fail === 0
}
export const results = () => ({ ...counts, names: failures.map(({ name }) => name) })

class Mocks {
  #restores = []
  fn(original = () => undefined, implementation = original) {
    const calls = []
    let run = implementation
    const once = new Map()
    const mock = { calls, callCount: () => calls.length, mockImplementation: (next) => { run = next }, mockImplementationOnce: (next, at = calls.length) => { once.set(at, next) }, resetCalls: () => { calls.length = 0 }, restore: () => { run = original } }
    const fn = function (...args) {
      const call = { arguments: args, this: this, result: undefined, error: undefined, target: new.target }
      const chosen = once.get(calls.length) ?? run
      calls.push(call)
      try { return (call.result = new.target ? Reflect.construct(chosen, args) : chosen.apply(this, args)) } catch (error) { call.error = error; throw error }
    }
    this.#restores.push(mock.restore)
    return Object.assign(fn, { mock })
  }
  method(object, name, implementation) {
    const descriptor = Object.getOwnPropertyDescriptor(object, name)
    const original = object[name]
    const fn = this.fn(original, typeof implementation === 'function' ? implementation : original)
    const restore = () => { if (descriptor) Object.defineProperty(object, name, descriptor); else delete object[name] }
    fn.mock.restore = restore
    Object.defineProperty(object, name, { value: fn, configurable: true, writable: true })
    this.#restores.push(restore)
    return fn
  }
  getter(object, name, implementation) { return this.#accessor(object, name, 'get', implementation) }
  setter(object, name, implementation) { return this.#accessor(object, name, 'set', implementation) }
  #accessor(object, name, kind, implementation) {
    const descriptor = Object.getOwnPropertyDescriptor(object, name)
    const fn = this.fn(descriptor?.[kind], implementation)
    Object.defineProperty(object, name, { ...descriptor, [kind]: fn, configurable: true })
    this.#restores.push(() => { if (descriptor) Object.defineProperty(object, name, descriptor) })
    return fn
  }
  reset() { this.restoreAll() }
  restoreAll() { for (const restore of this.#restores.splice(0).reverse()) restore() }
}
export const mock = new Mocks()
export default Object.assign(test, { test, it, describe, suite, before, after, beforeEach, afterEach, mock, default: test })
`
