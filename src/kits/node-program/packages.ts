// Resolves a specifier to a file, like Node: next to the importing file, or in a `node_modules` above it.

import { z } from 'zod'
import { type FileKind, type FileSystem, isFileError } from '../../workspace/file-system.ts'
import { resolvePath } from '../../workspace/paths.ts'

const Exports: z.ZodType<Exports> = z.lazy(() =>
  z.union([z.string(), z.null(), z.array(Exports), z.record(z.string(), Exports)]),
)
type Exports = string | null | Exports[] | { [key: string]: Exports }

const PackageFile = z.object({
  main: z.string().optional().catch(undefined),
  type: z.string().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  exports: Exports.optional().catch(undefined),
  imports: z.record(z.string(), Exports).optional().catch(undefined),
})
type PackageFile = z.infer<typeof PackageFile>

export interface Asking {
  from: string
  /** `import` rather than `require`. */
  isImport: boolean
}

const EXTENSIONS = ['.js', '.json', '.mjs', '.cjs'] as const
const MAX_PACKAGE_BYTES = 1024 * 1024
/** Why a specifier cannot be resolved, if the reason is not just a missing file. */
export type Refusal = { why: string; code: string }

/** Nested conditional targets. */
const MAX_DEPTH = 10

export class Packages {
  readonly #fs: FileSystem
  readonly #read = new Map<string, Promise<PackageFile | null>>()

  constructor(fs: FileSystem) {
    this.#fs = fs
  }

  /** The file, or null if there is none. */
  async resolve(name: string, asking: Asking): Promise<string | Refusal | null> {
    const folder = folderOf(asking.from)
    if (/^\.{1,2}(\/|$)|^\//.test(name)) return this.#file(resolvePath(folder, name))
    if (name.startsWith('file://')) return this.#file(decodeURIComponent(new URL(name).pathname))
    if (name.startsWith('#')) return this.#own(name, asking)
    const [, packageName = '', rest = ''] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(name) ?? []
    const own = await this.#itself(folder, packageName)
    if (own !== null) return this.#inPackage(own, `.${rest}`, asking)
    for (const above of foldersAbove(folder)) {
      const root = `${above === '/' ? '' : above}/node_modules/${packageName}`
      if (this.#kind(root) === 'directory') return this.#inPackage(root, `.${rest}`, asking)
    }
    return null
  }

  /** The meaning of `.js` there; null if no package file defines it. */
  async typeFor(path: string): Promise<'module' | 'script' | null> {
    for (const folder of foldersAbove(folderOf(path))) {
      const file = await this.#packageIn(folder)
      if (file !== null) return file.type === 'module' ? 'module' : file.type === 'commonjs' ? 'script' : null
    }
    return null
  }

  /** The folder of the package that the file belongs to, if it has this name and defines exports. */
  async #itself(folder: string, packageName: string): Promise<string | null> {
    for (const above of foldersAbove(folder)) {
      const file = await this.#packageIn(above)
      if (file !== null) return file.name === packageName && file.exports !== undefined ? above : null
    }
    return null
  }

  async #inPackage(root: string, subpath: string, asking: Asking): Promise<string | Refusal | null> {
    const file = await this.#packageIn(root)
    if (file?.exports !== undefined && file.exports !== null) {
      const target = targetOf(file.exports, { subpath, isImport: asking.isImport })
      return target === null ? notExported(root, subpath) : this.#exact(resolvePath(root, target))
    }
    return this.#file(subpath === '.' ? root : resolvePath(root, subpath))
  }

  async #own(name: string, asking: Asking): Promise<string | Refusal | null> {
    for (const folder of foldersAbove(folderOf(asking.from))) {
      const file = await this.#packageIn(folder)
      if (file === null) continue
      const target = targetOf(file.imports ?? {}, { subpath: name, isImport: asking.isImport })
      if (target === null) return null
      return target.startsWith('.') ? this.#exact(resolvePath(folder, target)) : this.resolve(target, asking)
    }
    return null
  }

  /** A file, one with an omitted extension, or a folder's main file. */
  async #file(path: string): Promise<string | null> {
    const plain = this.#plainFile(path)
    if (plain !== null || this.#kind(path) !== 'directory') return plain
    const main = (await this.#packageIn(path))?.main
    const named = main === undefined ? null : resolvePath(path, main)
    // The main entry of a package file may be a folder, but that folder's own package file is not read.
    const fromMain = named === null ? null : (this.#plainFile(named) ?? this.#index(named))
    return fromMain ?? this.#index(path)
  }

  #plainFile(path: string): string | null {
    const found = ['', ...EXTENSIONS].find((extension) => this.#kind(path + extension) === 'file')
    return found === undefined ? null : this.#fs.realPath(path + found)
  }

  #index(folder: string): string | null {
    for (const extension of EXTENSIONS) {
      if (this.#kind(`${folder}/index${extension}`) === 'file') return this.#fs.realPath(`${folder}/index${extension}`)
    }
    return null
  }

  #exact(path: string): string | null {
    return this.#kind(path) === 'file' ? this.#fs.realPath(path) : null
  }

  #kind(path: string): FileKind | null {
    try {
      return this.#fs.stat(path).kind
    } catch (error) {
      if (isFileError(error)) return null
      throw error
    }
  }

  #packageIn(folder: string): Promise<PackageFile | null> {
    const path = `${folder === '/' ? '' : folder}/package.json`
    const reading = this.#read.get(path) ?? this.#readPackage(path)
    this.#read.set(path, reading)
    return reading
  }

  async #readPackage(path: string): Promise<PackageFile | null> {
    if (this.#kind(path) !== 'file' || this.#fs.stat(path).sizeBytes > MAX_PACKAGE_BYTES) return null
    try {
      return PackageFile.parse(JSON.parse(new TextDecoder().decode(await this.#fs.read(path))))
    } catch {
      // An unreadable package file is ignored: the program runs as if it did not exist.
      return null
    }
  }
}

function notExported(root: string, subpath: string): Refusal {
  const what =
    subpath === '.' ? 'No "exports" main defined' : `Package subpath '${subpath}' is not defined by "exports"`
  return { why: `${what} in ${root}/package.json`, code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' }
}

type PackageEntry = { subpath: string; isImport: boolean }

function targetOf(exports: Exports, wanted: PackageEntry): string | null {
  if (typeof exports !== 'object' || exports === null || Array.isArray(exports)) {
    return wanted.subpath === '.' ? conditional(exports, wanted, '') : null
  }
  const keys = Object.keys(exports)
  const isMap = keys.some((key) => key.startsWith('.') || key.startsWith('#'))
  if (!isMap) return wanted.subpath === '.' ? conditional(exports, wanted, '') : null
  if (Object.hasOwn(exports, wanted.subpath)) return conditional(exports[wanted.subpath] ?? null, wanted, '')
  for (const key of keys.toSorted((a, b) => b.length - a.length)) {
    const [before = '', after] = key.split('*')
    if (after === undefined || !wanted.subpath.startsWith(before) || !wanted.subpath.endsWith(after)) continue
    const middle = wanted.subpath.slice(before.length, wanted.subpath.length - after.length)
    return conditional(exports[key] ?? null, wanted, middle)
  }
  return null
}

function conditional(target: Exports, wanted: PackageEntry, middle: string, depth = 0): string | null {
  if (typeof target === 'string') return target.replaceAll('*', () => middle)
  if (target === null || depth > MAX_DEPTH) return null
  const options = Array.isArray(target)
    ? target
    : Object.entries(target).flatMap(([condition, one]) => (holds(condition, wanted) ? [one] : []))
  for (const option of options) {
    const found = conditional(option, wanted, middle, depth + 1)
    if (found !== null) return found
  }
  return null
}

const SHARED_CONDITIONS: ReadonlySet<string> = new Set(['node', 'default', 'module-sync'])

function holds(condition: string, { isImport }: PackageEntry): boolean {
  return SHARED_CONDITIONS.has(condition) || condition === (isImport ? 'import' : 'require')
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

function* foldersAbove(folder: string): Generator<string> {
  for (let at = folder; ; at = folderOf(at)) {
    if (!at.endsWith('/node_modules')) yield at
    if (at === '/') return
  }
}
