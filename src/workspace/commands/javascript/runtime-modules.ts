// How files become modules inside the isolate: `require`, `import` and what each file knows about itself, as Node has them.
// The text of a module.

export const MODULES_MODULE = String.raw`
import { inspect } from 'node:util'

let graph = {}
let wrappers = {}
let builtins = {}
let mainId = ''
const loaded = new Map()
/** What was required, by its path; a program may delete from it to have a file run again. */
const cache = Object.create(null)

export function setUp(given) { ({ graph, wrappers, builtins, mainId } = given); Module.builtinModules = Object.keys(builtins) }

const folderOf = (path) => path.slice(0, path.lastIndexOf('/')) || '/'
const urlOf = (path) => new URL('file://' + path.replace(/[%\\\n\r\t?#]/g, encodeURIComponent)).href
const isPath = (name) => /^\.{0,2}\/|^\.{1,2}$/.test(name)

const nodeBuiltin = (name) => {
  if (Object.hasOwn(builtins, name)) return builtins[name]
  throw Object.assign(new Error('No such built-in module: node:' + name), { code: 'ERR_UNKNOWN_BUILTIN_MODULE' })
}
export const builtinOf = (name) => { const plain = String(name).replace(/^node:/, ''); return Object.hasOwn(builtins, plain) && (plain !== 'test' || plain !== name) ? builtins[plain] : undefined }

/** As Node shows one: values instead of getters. */
function shown(depth, options) {
  const values = {}
  for (const name of Object.keys(this)) try { values[name] = this[name] } catch (error) { if (!(error instanceof ReferenceError)) throw error; values[name] = { [inspect.custom]: () => '<uninitialized>' } }
  return '[Module: null prototype] ' + inspect(values, { ...options, depth: options.depth })
}
function emptyNamespace() {
  return Object.defineProperties(Object.create(null), { [Symbol.toStringTag]: { value: 'Module' }, [inspect.custom]: { value: shown } })
}
const expose = (namespace, name, get) => Object.defineProperty(namespace, name, { enumerable: true, configurable: true, get })
function namespaceOf(value) {
  const names = (typeof value === 'object' || typeof value === 'function') && value !== null ? Object.keys(value) : []
  const namespace = emptyNamespace()
  for (const name of names) if (name !== 'default') expose(namespace, name, () => value[name])
  return expose(namespace, 'default', () => value)
}
/** What a script gets that requires a module: it can be told from what compilers make of one. */
function requiredNamespace(namespace) {
  if ('module.exports' in namespace) return namespace['module.exports']
  if (!('default' in namespace) || '__esModule' in namespace) return namespace
  const copy = emptyNamespace()
  expose(copy, '__esModule', () => true)
  for (const name of Object.keys(namespace)) expose(copy, name, () => namespace[name])
  return copy
}

export function recordOf(id) {
  let record = loaded.get(id)
  if (!record) {
    record = { id, node: graph[id], state: 'new', promise: null, namespace: null, module: null, error: null }
    loaded.set(id, record)
  }
  return record
}

/** The file or builtin that a name means in that file, also for a name that was put together. */
function targetOf(id, name, how) {
  const known = graph[id]?.[how === 'require' ? 'requires' : 'imports'][name]
  if (known) return known
  const plain = name.startsWith('node:') ? name.slice(5) : name
  if (Object.hasOwn(builtins, plain) && (plain !== 'test' || plain !== name)) return { kind: 'builtin', name: plain }
  const folder = folderOf(id)
  const path = isPath(name) ? decodeURIComponent(new URL(encodeURI(name), urlOf(folder === '/' ? '/' : folder + '/')).pathname) : name.startsWith('file://') ? decodeURIComponent(new URL(name).pathname) : name
  const found = (isPath(name) || name.startsWith('file://') ? [path] : pathsAbove(folder).map((one) => one + '/' + path)).flatMap((one) => ['', '.js', '.json', '.mjs', '.cjs', '/index.js', '/index.json'].map((more) => one.replace(/\/$/, '') + more)).find((one) => Object.hasOwn(graph, one))
  if (found) return { kind: 'file', path: found }
  return { kind: 'missing', code: how === 'require' ? 'MODULE_NOT_FOUND' : 'ERR_MODULE_NOT_FOUND', why: how === 'require' ? "Cannot find module '" + name + "'" : 'Cannot find ' + (isPath(name) ? "module '" + path : "package '" + name) + "' imported from " + id }
}
function missing(target, from) {
  const error = Object.assign(new Error(target.why), { code: target.code })
  if (from === undefined || target.code !== 'MODULE_NOT_FOUND') return error
  const requireStack = []
  for (let module = from; module; module = module.parent) requireStack.push(module.filename)
  error.message += '\nRequire stack:\n- ' + requireStack.join('\n- ')
  return Object.assign(error, { requireStack })
}

function toolsOf(record) {
  const { id } = record
  const importTarget = (name) => { const target = targetOf(id, name, 'import'); if (target.kind === 'missing') throw missing(target); return target }
  const space = (name) => { const target = importTarget(name); return target.kind === 'builtin' ? namespaceOf(nodeBuiltin(target.name)) : recordOf(target.path).namespace }
  const define = (names, get) => { for (const [inner, outer] of names) expose(record.namespace, outer, () => get(inner)) }
  return {
    export: (getters) => { for (const [name, get] of Object.entries(getters)) expose(record.namespace, name, get) },
    load: () => {
      const waits = []
      for (const name of record.node.statics) {
        const target = importTarget(name)
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
      if (as !== null) return void expose(record.namespace, as, () => namespace)
      define(Object.keys(namespace).filter((one) => one !== 'default' && !Object.hasOwn(record.namespace, one)).map((one) => [one, one]), (one) => namespace[one])
    },
    exportFrom: (name, names) => { const namespace = space(name); define(names, (one) => namespace[one]) },
    dynamic: async (name) => {
      const target = importTarget(String(name))
      if (target.kind === 'builtin') return namespaceOf(nodeBuiltin(target.name))
      await evaluate(target.path)
      return recordOf(target.path).namespace
    },
    meta: Object.assign(Object.create(null), { dirname: folderOf(id), filename: id, main: record.node.isMain, url: urlOf(id), resolve: (name) => {
      if (isPath(name) || name.startsWith('file:')) return new URL(name, urlOf(id)).href
      const target = importTarget(name)
      return target.kind === 'file' ? urlOf(target.path) : 'node:' + target.name
    } }),
  }
}

/** Runs a file if it has not run; nothing for one that need not be waited for. */
export function evaluate(id) {
  const record = recordOf(id)
  if (record.error) throw record.error.value
  if (record.state !== 'new') return record.promise ?? undefined
  if (record.node.kind !== 'module') { requireFile(id, null); return undefined }
  record.state = 'running'
  record.namespace = emptyNamespace()
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

const pathsAbove = (folder) => {
  const parts = folder.split('/').filter(Boolean)
  return [...parts.keys(), parts.length].reverse().filter((n) => parts[n - 1] !== 'node_modules').map((n) => (n === 0 ? '' : '/' + parts.slice(0, n).join('/')) + '/node_modules')
}

class Module {
  constructor(id = '', parent) { Object.assign(this, { id, path: folderOf(id), exports: {}, filename: id, loaded: false, children: [], paths: pathsAbove(folderOf(id)) }); Object.defineProperty(this, 'parent', { value: parent ?? (parent === null ? undefined : null), writable: true, configurable: true }) }
  require(name) { return requireFrom(this.filename, this)(name) }
}
Object.assign(Module, {
  Module, builtinModules: [], _cache: cache,
  createRequire(from) { const path = String(from).startsWith('file:') ? decodeURIComponent(new URL(from).pathname) : String(from); return requireFrom(path, { filename: path, children: [], parent: undefined }) },
  isBuiltin: (name) => builtinOf(String(name)) !== undefined,
  _nodeModulePaths: pathsAbove,
})

/** A file of the older kind, or JSON, as a module of its own; 'parent' is null where a module imports it. */
export function requireFile(id, parent) {
  const record = recordOf(id)
  const cached = cache[id]
  if (cached) { if (parent && !parent.children.includes(cached)) parent.children.push(cached); return cached.exports }
  if (record.node.kind === 'module') {
    const waiting = evaluate(id)
    if (waiting && record.state !== 'done') throw Object.assign(new Error('require() cannot be used on an ESM graph with top-level await: ' + id), { code: 'ERR_REQUIRE_ASYNC_MODULE' })
    return requiredNamespace(record.namespace)
  }
  const module = new Module(id, parent)
  if (record.node.isMain) Object.assign(module, { id: record.node.unnamed ?? '.' })
  parent?.children.push(module)
  record.module = module
  record.state = 'running'
  cache[id] = module
  try {
    if (record.node.kind === 'json') {
      try { module.exports = JSON.parse(record.node.text.replace(/^\uFEFF/, '')) } catch (error) { error.message = id + ': ' + error.message; throw error }
    } else {
      // A text that is no file has no place either.
      const unnamed = record.node.isMain ? record.node.unnamed : undefined
      wrapperOf(id).call(module.exports, module.exports, requireFrom(id, module), module, unnamed ?? id, unnamed === undefined ? folderOf(id) : '.', toolsOf(record))
    }
  } catch (error) { delete cache[id]; record.module = null; record.state = 'new'; throw error }
  module.loaded = true
  record.state = 'done'
  record.namespace = namespaceOf(module.exports)
  return module.exports
}

function requireFrom(id, module) {
  const found = (name) => {
    if (typeof name !== 'string') throw Object.assign(new TypeError('The "id" argument must be of type string. Received ' + (name === null || name === undefined ? name : 'type ' + typeof name + ' (' + inspect(name) + ')')), { code: 'ERR_INVALID_ARG_TYPE' })
    const target = targetOf(id, name, 'require')
    if (target.kind === 'missing') throw missing(target, module)
    return target
  }
  const require = (name) => { const target = found(name); return target.kind === 'builtin' ? nodeBuiltin(target.name) : requireFile(target.path, module) }
  require.resolve = (name) => { const target = found(name); return target.kind === 'builtin' ? name : target.path }
  require.resolve.paths = (name) => builtinOf(name) !== undefined ? null : /^\.{1,2}(\/|$)/.test(name) ? [folderOf(id)] : pathsAbove(folderOf(id))
  require.main = recordOf(mainId).node.unnamed === undefined ? (recordOf(mainId).module ?? undefined) : undefined
  require.extensions = Object.create(null)
  require.cache = cache
  return require
}
export { Module }
`
