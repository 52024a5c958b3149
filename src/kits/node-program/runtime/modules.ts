// How files become modules inside the isolate: `require`, `import` and what each file knows about itself, as Node has them.

import { withCode, wrongType } from './errors.ts'
import { type ModuleRecord, recordOf, toolsOf } from './module-tools.ts'
import { namespaceOf, requiredNamespace } from './namespaces.ts'
import {
  type Asking,
  builtinOf,
  folderOf,
  type Graph,
  missingError,
  nodeBuiltin,
  pathsAbove,
  type ResolvedTarget,
  setNames,
  targetOf,
} from './resolution.ts'

type Wrapper = (...args: never[]) => unknown

let wrappers: Readonly<Record<string, Wrapper>> = {}
let mainId = ''
/** What was required, by its path; a program may delete from it to have a file run again. */
const cache: Record<string, Module> = Object.create(null)

export type Loading = {
  graph: Graph
  wrappers: Readonly<Record<string, Wrapper>>
  builtins: Readonly<Record<string, unknown>>
  mainId: string
}

export function setUp(given: Loading): void {
  setNames(given)
  ;({ wrappers, mainId } = given)
  Module.builtinModules = Object.keys(given.builtins)
}

/** Runs a file if it has not run; nothing for one that need not be waited for. */
export function evaluate(id: string): Promise<void> | undefined {
  const record = recordOf(id)
  if (record.error) throw record.error.value
  if (record.state !== 'new') return record.promise ?? undefined
  if (record.node.kind !== 'module') {
    requireFile(id, null)
    return undefined
  }
  record.state = 'running'
  if (record.node.isAsync) {
    record.promise = runAsync(record)
    return record.promise
  }
  try {
    Reflect.apply(wrapperOf(record), undefined, [toolsOf(record, evaluate)])
  } catch (value) {
    record.error = { value }
    throw value
  }
  record.state = 'done'
  return undefined
}

async function runAsync(record: ModuleRecord): Promise<void> {
  try {
    await Reflect.apply(wrapperOf(record), undefined, [toolsOf(record, evaluate)])
    record.state = 'done'
  } catch (value) {
    record.error = { value }
    throw value
  }
}

function wrapperOf({ id, node }: ModuleRecord): Wrapper {
  const wrapper = wrappers[id]
  if (typeof wrapper === 'function') return wrapper
  throw new SyntaxError(node.problem ?? 'The file cannot be read')
}

export class Module {
  static Module = Module
  static builtinModules: string[] = []
  static _cache = cache
  static _nodeModulePaths = pathsAbove
  static isBuiltin = (name: unknown) => builtinOf(name) !== undefined
  // No method: what a module imports by its name must be among the keys.
  static createRequire = (from: unknown) => {
    const given = String(from)
    const filename = given.startsWith('file:') ? decodeURIComponent(new URL(given).pathname) : given
    return requireFrom(filename, { filename, children: [], parent: undefined })
  }

  id: string
  path: string
  exports: unknown = {}
  filename: string
  loaded = false
  children: Module[] = []
  paths: string[]
  declare parent: Requiring | null | undefined

  /** Node tells the parent of the main module, null, from that of one that a module of the newer kind imports. */
  constructor(id = '', parent?: Requiring | null) {
    this.id = id
    this.path = folderOf(id)
    this.filename = id
    this.paths = pathsAbove(this.path)
    const value = parent === null ? undefined : (parent ?? null)
    Object.defineProperty(this, 'parent', { value, writable: true, configurable: true })
  }
  require(name: unknown): unknown {
    return requireFrom(this.filename, this)(name)
  }
}

/** A file of the older kind, or JSON, as a module of its own; `parent` is null where a module imports it. */
export function requireFile(id: string, parent?: Requiring | null): unknown {
  const record = recordOf(id)
  const cached = cache[id]
  if (cached) {
    if (parent && !parent.children.includes(cached)) parent.children.push(cached)
    return cached.exports
  }
  if (record.node.kind === 'module') return requireModule(record)
  const module = new Module(id, parent)
  if (record.node.isMain) module.id = record.node.unnamed ?? '.'
  parent?.children.push(module)
  record.module = module
  record.state = 'running'
  cache[id] = module
  try {
    run(record, module)
  } catch (error) {
    delete cache[id]
    record.module = null
    record.state = 'new'
    throw error
  }
  module.loaded = true
  record.state = 'done'
  record.namespace = namespaceOf(module.exports)
  return module.exports
}

function requireModule(record: ModuleRecord): unknown {
  const waiting = evaluate(record.id)
  if (!waiting || record.state === 'done') return requiredNamespace(record.namespace)
  throw withCode(
    new Error(`require() cannot be used on an ESM graph with top-level await: ${record.id}`),
    'ERR_REQUIRE_ASYNC_MODULE',
  )
}

function run(record: ModuleRecord, module: Module): void {
  const { id, node } = record
  if (node.kind === 'json') {
    module.exports = parsed(id, node.text ?? '')
    return
  }
  // A text that is no file has no place either.
  const unnamed = node.isMain ? node.unnamed : undefined
  const place = unnamed === undefined ? [id, folderOf(id)] : [unnamed, '.']
  const require = requireFrom(id, module)
  const tools = toolsOf(record, evaluate)
  Reflect.apply(wrapperOf(record), module.exports, [module.exports, require, module, ...place, tools])
}

function parsed(id: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    if (error instanceof Error) error.message = `${id}: ${error.message}`
    throw error
  }
}

/** What requires: a file of the program, or what `createRequire` was told. */
type Requiring = Asking & { children: Module[] }

function requireFrom(id: string, module: Requiring) {
  const found = (name: unknown): ResolvedTarget => {
    if (typeof name !== 'string') throw wrongType('The "id" argument must be of type string', name)
    const target = targetOf(id, name, 'require')
    if (target.kind === 'missing') throw missingError(target, module)
    return target
  }
  const require = (name: unknown): unknown => {
    const target = found(name)
    return target.kind === 'builtin' ? nodeBuiltin(target.name) : requireFile(target.path, module)
  }
  const resolve = (name: unknown) => {
    const target = found(name)
    return target.kind === 'builtin' ? name : target.path
  }
  const paths = (name: string) => {
    if (builtinOf(name) !== undefined) return null
    return /^\.{1,2}(\/|$)/.test(name) ? [folderOf(id)] : pathsAbove(folderOf(id))
  }
  const main = recordOf(mainId)
  return Object.assign(require, {
    resolve: Object.assign(resolve, { paths }),
    main: main.node.unnamed === undefined ? (main.module ?? undefined) : undefined,
    extensions: Object.create(null),
    cache,
  })
}
