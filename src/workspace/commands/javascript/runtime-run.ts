// Runs a program inside the isolate: loads its modules as Node does, and reports what it writes and changes while it runs.
// The text of a module.

export const RUN_MODULE = String.raw`
import { mount, takeChanges } from '/bellwether/files.js'
import fs, { promises } from '/bellwether/fs.js'
import * as test from '/bellwether/test.js'
import { console, end, Exit, guarded, hasPending, install, isOver, leave, over, placed, process, takeOutput, timers, uncaught, wait } from '/bellwether/process.js'

/** How long nothing may be going on before a program counts as over. */
const QUIET_MS = 8
const REPORT_EVERY_MS = 60

let graph = {}
let wrappers = {}
let builtins = {}
const loaded = new Map()

const missing = (why, from) => Object.assign(new Error(why), { code: from === 'require' ? 'MODULE_NOT_FOUND' : 'ERR_MODULE_NOT_FOUND' })
const nodeBuiltin = (name) => {
  if (Object.hasOwn(builtins, name)) return builtins[name]
  throw Object.assign(new Error('No such built-in module: node:' + name), { code: 'ERR_UNKNOWN_BUILTIN_MODULE' })
}

function namespaceOf(value) {
  const names = (typeof value === 'object' || typeof value === 'function') && value !== null ? Object.keys(value) : []
  const namespace = Object.create(null)
  for (const name of names) if (name !== 'default') Object.defineProperty(namespace, name, { enumerable: true, get: () => value[name] })
  Object.defineProperty(namespace, 'default', { enumerable: true, get: () => value })
  return Object.defineProperty(namespace, Symbol.toStringTag, { value: 'Module' })
}

function recordOf(id) {
  let record = loaded.get(id)
  if (!record) {
    record = { id, node: graph[id], state: 'new', promise: null, namespace: null, module: null, error: null }
    loaded.set(id, record)
  }
  return record
}

/** The file or builtin that a name means in that file, also for a name that was put together. */
function targetOf(id, name, how) {
  const known = graph[id].targets[name]
  if (known) return known
  const plain = name.startsWith('node:') ? name.slice(5) : name
  if (Object.hasOwn(builtins, plain) && (plain !== 'test' || plain !== name)) return { kind: 'builtin', name: plain }
  const folder = id.slice(0, id.lastIndexOf('/'))
  const path = /^\.{1,2}(\/|$)/.test(name) ? new URL(name, 'file://' + folder + '/').pathname : name.startsWith('file://') ? new URL(name).pathname : name
  const found = [path, path + '.js', path + '.json', path + '.mjs', path + '.cjs', path + '/index.js'].find((one) => Object.hasOwn(graph, decodeURIComponent(one)))
  return found ? { kind: 'file', path: decodeURIComponent(found) } : { kind: 'missing', why: "Cannot find module '" + name + "'" + (how === 'require' ? '\nRequire stack:\n- ' + id : ' imported from ' + id) }
}

function toolsOf(record) {
  const { id } = record
  const folder = id.slice(0, id.lastIndexOf('/'))
  const fileOf = (name) => targetOf(id, name, 'import')
  const space = (name) => {
    const target = fileOf(name)
    if (target.kind === 'missing') throw missing(target.why, 'import')
    return target.kind === 'builtin' ? namespaceOf(nodeBuiltin(target.name)) : recordOf(target.path).namespace
  }
  const dependencies = () => Object.entries(record.node.targets).filter(([name]) => record.node.statics.includes(name)).map(([, target]) => target)
  const define = (names, get) => { for (const [inner, outer] of names) Object.defineProperty(record.namespace, outer, { enumerable: true, configurable: true, get: () => get(inner) }) }
  return {
    export: (getters) => { for (const [name, get] of Object.entries(getters)) Object.defineProperty(record.namespace, name, { enumerable: true, configurable: true, get }) },
    load: () => {
      const waits = []
      for (const target of dependencies()) {
        if (target.kind === 'missing') throw missing(target.why, 'import')
        if (target.kind === 'file') waits.push(() => evaluate(target.path))
      }
      if (!record.node.isAsync) { for (const run of waits) run(); return undefined }
      return waits.reduce((before, run) => before.then(run), Promise.resolve())
    },
    from: (name, wanted) => {
      const namespace = space(name)
      for (const one of wanted) if (!(one in namespace)) throw new SyntaxError("The requested module '" + name + "' does not provide an export named '" + one + "'")
      return namespace
    },
    exportAll: (name, as) => {
      const namespace = space(name)
      if (as !== null) return void Object.defineProperty(record.namespace, as, { enumerable: true, configurable: true, get: () => namespace })
      define(Object.keys(namespace).filter((one) => one !== 'default' && !Object.hasOwn(record.namespace, one)).map((one) => [one, one]), (one) => namespace[one])
    },
    exportFrom: (name, names) => { const namespace = space(name); define(names, (one) => namespace[one]) },
    dynamic: async (name) => {
      const target = targetOf(id, String(name), 'import')
      if (target.kind === 'missing') throw missing(target.why, 'import')
      if (target.kind === 'builtin') return namespaceOf(nodeBuiltin(target.name))
      await evaluate(target.path)
      return recordOf(target.path).namespace
    },
    meta: { url: 'file://' + encodeURI(id), filename: id, dirname: folder, main: record.node.isMain, resolve: (name) => { const target = fileOf(name); return target.kind === 'file' ? 'file://' + target.path : 'node:' + target.name } },
  }
}

/** Runs a file if it has not run; nothing for one that need not be waited for. */
function evaluate(id) {
  const record = recordOf(id)
  if (record.error) throw record.error.value
  if (record.state !== 'new') return record.promise ?? undefined
  record.state = 'running'
  if (record.node.kind !== 'module') { requireFile(id); return undefined }
  record.namespace = Object.defineProperty(Object.create(null), Symbol.toStringTag, { value: 'Module', configurable: true })
  const failed = (value) => { record.error = { value }; throw value }
  if (!record.node.isAsync) {
    try { wrapperOf(id)(toolsOf(record)) } catch (error) { failed(error) }
    record.state = 'done'
    return undefined
  }
  record.promise = (async () => { try { await wrapperOf(id)(toolsOf(record)); record.state = 'done' } catch (error) { failed(error) } })()
  return record.promise
}

function wrapperOf(id) {
  const wrapper = wrappers[id]
  if (typeof wrapper === 'function') return wrapper
  throw new SyntaxError(graph[id].problem ?? 'The file cannot be read')
}

class Module {
  constructor(id) { Object.assign(this, { id, filename: id, path: id.slice(0, id.lastIndexOf('/')), exports: {}, loaded: false, children: [], paths: [], parent: null }) }
  static builtinModules = []
  static createRequire(from) { return requireFrom(fileNamed(from)) }
  static isBuiltin(name) { return Object.hasOwn(builtins, String(name).replace(/^node:/, '')) }
}
Module.Module = Module
const fileNamed = (from) => { const path = String(from).startsWith('file://') ? decodeURIComponent(new URL(from).pathname) : String(from); return Object.hasOwn(graph, path) ? path : mainId }
let mainId = ''

function requireFile(id) {
  const record = recordOf(id)
  if (record.module) return record.module.exports
  if (record.node.kind === 'module') {
    const waiting = evaluate(id)
    if (waiting) throw Object.assign(new Error('require() cannot be used on an ESM graph with top-level await: ' + id), { code: 'ERR_REQUIRE_ASYNC_MODULE' })
    return 'module.exports' in record.namespace ? record.namespace['module.exports'] : record.namespace
  }
  const module = new Module(record.node.isMain ? '.' : id)
  module.filename = id
  record.module = module
  record.state = 'running'
  try {
    if (record.node.kind === 'json') {
      try { module.exports = JSON.parse(record.node.text.replace(/^\uFEFF/, '')) } catch (error) { error.message = id + ': ' + error.message; throw error }
    } else wrapperOf(id).call(module.exports, module.exports, requireFrom(id), module, id, module.path === '' ? '/' : id.slice(0, id.lastIndexOf('/')), toolsOf(record))
  } catch (error) { record.module = null; record.state = 'new'; throw error }
  module.loaded = true
  record.state = 'done'
  record.namespace = namespaceOf(module.exports)
  return module.exports
}

function requireFrom(id) {
  const require = (name) => {
    if (typeof name !== 'string') throw Object.assign(new TypeError('The "id" argument must be of type string. Received ' + typeof name), { code: 'ERR_INVALID_ARG_TYPE' })
    const target = targetOf(id, name, 'require')
    if (target.kind === 'builtin') return nodeBuiltin(target.name)
    if (target.kind === 'missing') throw Object.assign(missing(target.why, 'require'), { requireStack: [id] })
    return requireFile(target.path)
  }
  require.resolve = (name) => { const target = targetOf(id, name, 'require'); if (target.kind === 'missing') throw missing(target.why, 'require'); return target.kind === 'builtin' ? name : target.path }
  require.cache = Object.create(null)
  require.main = recordOf(mainId).module ?? undefined
  return require
}

const noChildren = () => { throw Object.assign(new Error('There are no processes here: a script cannot start another program'), { code: 'ENOSYS' }) }

export async function run(input, given, tell) {
  graph = input.graph
  wrappers = given.wrappers
  mainId = input.main
  builtins = { ...given.builtins, fs, 'fs/promises': promises, process, console, timers, test: test.default, module: Module, child_process: Object.fromEntries(['exec', 'execFile', 'execSync', 'execFileSync', 'spawn', 'spawnSync', 'fork'].map((name) => [name, noChildren])) }
  Module.builtinModules = Object.keys(builtins)
  mount(input.files, { cwd: input.cwd, closed: isOver, stdin: input.stdin })
  install({ argv: input.argv, env: input.env, input: input.stdin, deadline: input.deadline })
  test.setUp({ write: (text) => process.stdout.write(placed(text)), only: input.test.only, namePatterns: input.test.namePatterns.map((text) => new RegExp(text)) })
  const late = wait(Math.max(0, input.deadline - Date.now())).then(() => void end(124))
  const reporting = reportWhile(tell)
  const main = begin(input)
  await Promise.race([main, over, late])
  if (!isOver()) leave(Number(process.exitCode ?? 0))
  const code = await over
  await reporting
  return { code, output: takeOutput(), changes: takeChanges(), tests: test.results() }
}

async function begin(input) {
  let settled = false
  const started = (async () => {
    try {
      const value = recordOf(mainId).node.kind === 'module' ? await evaluate(mainId) : requireFile(mainId)
      if (input.prints) console.log(recordOf(mainId).module?.exports)
      return value
    } catch (error) {
      if (error instanceof Exit) return undefined
      uncaught(error, 'uncaughtException')
    } finally { settled = true }
  })()
  await quiet(() => settled)
  if (isOver()) return
  if (!settled) { process.stderr.write('Warning: Detected unsettled top-level await\n'); process.exitCode ??= 13; return }
  await started
  const passed = await Promise.race([test.runAll(input.test.isRun), over.then(() => true)])
  if (!passed) process.exitCode ??= 1
  await quiet(() => true)
  guarded(() => { process.emit('beforeExit', process.exitCode ?? 0) }, [])
  await quiet(() => true)
}

/** Until no timer is left and, for a moment, nothing else came of it. */
async function quiet(isSettled) {
  for (let still = 0; still < 2 && !isOver(); ) {
    await wait(still === 0 ? 0 : QUIET_MS)
    if (hasPending()) still = 0
    else still += isSettled() ? 1 : 0.1
  }
}

/** What was written and changed so far, now and then, so that it is kept whatever becomes of the program. */
async function reportWhile(tell) {
  while (!isOver()) {
    await Promise.race([wait(REPORT_EVERY_MS), over])
    if (isOver()) return
    const [output, changes] = [takeOutput(), takeChanges()]
    const { stop } = await tell({ output, changes })
    if (stop) end(130)
  }
}
`
