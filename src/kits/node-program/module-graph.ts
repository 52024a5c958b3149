// The files of a program. The specifiers in them are resolved here, like in Node, because the isolate that runs them
// contains exactly these files.

import { type FileSystem, isFileError } from '../../workspace/file-system.ts'
import { resolvePath } from '../../workspace/paths.ts'
import { isBuiltin } from './builtins.ts'
import { isModuleText, readSource, type Source, type Specifiers, specifiersOf } from './compile.ts'
import { Packages } from './packages.ts'
import type { Target } from './runtime/protocol.ts'

export interface GraphModule {
  kind: 'module' | 'script' | 'json'
  source: Source
  /**
   * The meaning of each specifier: the path of a file, `node:…`, or why it is invalid. A package may resolve import and
   * require differently.
   */
  imports: Map<string, Target>
  requires: Map<string, Target>
  statics: string[]
  /** Whether it must be awaited. */
  isAsync: boolean
}

export interface Graph {
  modules: Map<string, GraphModule>
  builtins: Set<string>
  /** Whether a specifier is computed at run time, or it may read folders without a module's name. */
  computed: boolean
}

/** The entry point: an existing file, or a text with the path of a file that does not exist, and its display name. */
export type Entry = { path: string; text: string | null; forced: 'module' | 'script' | null; unnamed?: string }

const NAMES_NOTHING = {
  imports: new Map<string, Target>(),
  requires: new Map<string, Target>(),
  statics: [] as string[],
  isAsync: false,
}
/** They give access to files without a module's name. */
const LOOKS_ROUND: ReadonlySet<string> = new Set(['chdir', 'getBuiltinModule'])

const MAX_MODULES = 1000
const MAX_FILE_BYTES = 4 * 1024 * 1024
const MAX_TOTAL_CHARS = 16 * 1024 * 1024

/** A program that cannot be built: the message is for the user. */
export class GraphError extends Error {
  override readonly name = 'GraphError'
}

export class GraphBuilder {
  readonly #fs: FileSystem
  readonly #packages: Packages
  readonly #graph: Graph = { modules: new Map(), builtins: new Set(), computed: false }
  #chars = 0

  constructor(fs: FileSystem) {
    this.#fs = fs
    this.#packages = new Packages(fs)
  }

  async build(entry: Entry): Promise<Graph> {
    const waiting = [await this.#add(entry)]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      for (const path of next) {
        if (!this.#graph.modules.has(path)) waiting.push(await this.#add({ path, text: null, forced: null }))
      }
    }
    this.#spreadAsync()
    return this.#graph
  }

  /** Reads a file; returns the files that it names. */
  async #add({ path, text, forced, unnamed }: Entry): Promise<string[]> {
    if (this.#graph.modules.size >= MAX_MODULES) throw new GraphError(`The program has more than ${MAX_MODULES} files`)
    const content = text ?? (await this.#read(path))
    this.#chars += content.length
    if (this.#chars > MAX_TOTAL_CHARS) throw new GraphError('The files of the program are too large together')
    if (path.endsWith('.json')) {
      this.#graph.modules.set(path, { ...NAMES_NOTHING, kind: 'json', source: plain(content) })
      return []
    }
    const source = readSource(content)
    // A text without a file belongs to no package.
    const detected = unnamed === undefined ? await this.#kindOf(path, source) : kindOfText(source)
    const kind = forced ?? detected
    const specifiers = specifiersOf(source)
    this.#graph.computed ||= specifiers.computed || source.tokens.some(({ text }) => LOOKS_ROUND.has(text))
    const targets = await this.#targets(specifiers, path)
    const isAsync = kind === 'module' && source.syntax.awaits
    this.#graph.modules.set(path, { kind, source, ...targets, statics: specifiers.statics, isAsync })
    const all = [...targets.imports.values(), ...targets.requires.values()]
    return all.flatMap((target) => (target.kind === 'file' ? [target.path] : []))
  }

  async #targets({ imports, requires }: Specifiers, from: string) {
    const targets = { imports: new Map<string, Target>(), requires: new Map<string, Target>() }
    for (const name of imports) targets.imports.set(name, await this.#target(name, from, true))
    for (const name of requires) targets.requires.set(name, await this.#target(name, from, false))
    return targets
  }

  async #target(name: string, from: string, isImport: boolean): Promise<Target> {
    const builtin = isBuiltin(name)
    if (builtin !== null) {
      this.#graph.builtins.add(builtin)
      return { kind: 'builtin', name: builtin }
    }
    const path = await this.#packages.resolve(name, { from, isImport })
    if (path !== null && typeof path === 'object') return { kind: 'missing', ...path }
    if (path !== null && /\.[mc]?tsx?$|\.jsx$/.test(path)) {
      const why = `${path}: TypeScript and JSX cannot be run here`
      return { kind: 'missing', why, code: 'ERR_UNKNOWN_FILE_EXTENSION' }
    }
    if (path !== null) return { kind: 'file', path }
    if (!isImport) return { kind: 'missing', why: `Cannot find module '${name}'`, code: 'MODULE_NOT_FOUND' }
    const isPath = /^\.{0,2}\//.test(name)
    const what = isPath ? `module '${resolvePath(from.slice(0, from.lastIndexOf('/')), name)}'` : `package '${name}'`
    return { kind: 'missing', why: `Cannot find ${what} imported from ${from}`, code: 'ERR_MODULE_NOT_FOUND' }
  }

  async #read(path: string): Promise<string> {
    try {
      if (this.#fs.stat(path).sizeBytes > MAX_FILE_BYTES) throw new GraphError(`${path} is too large to be run`)
      return new TextDecoder().decode(await this.#fs.read(path))
    } catch (error) {
      if (isFileError(error)) throw new GraphError(`Cannot read '${path}': ${error.message}`)
      throw error
    }
  }

  async #kindOf(path: string, source: Source): Promise<'module' | 'script'> {
    if (path.endsWith('.mjs')) return 'module'
    if (path.endsWith('.cjs')) return 'script'
    const declared = await this.#packages.typeFor(path)
    if (declared !== null) return declared
    return kindOfText(source)
  }

  /** A module that imports an awaited one must be awaited too. */
  #spreadAsync(): void {
    for (let changed = true; changed; ) {
      changed = false
      for (const module of this.#graph.modules.values()) {
        if (module.isAsync || module.kind !== 'module') continue
        const waits = module.statics.some((name) => {
          const target = module.imports.get(name)
          return target?.kind === 'file' && this.#graph.modules.get(target.path)?.isAsync
        })
        module.isAsync = waits
        changed ||= waits
      }
    }
  }
}

function kindOfText(source: Source): 'module' | 'script' {
  return isModuleText(source) ? 'module' : 'script'
}

function plain(text: string): Source {
  return { text, tokens: [], syntax: { imports: [], exports: [], dynamic: [], required: [], awaits: false } }
}
