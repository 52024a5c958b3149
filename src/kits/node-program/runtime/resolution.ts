// What a name means in a file, also a name that was put together while the program runs.

import { withCode } from './errors.ts'
import type { ModuleDescription, Target } from './protocol.ts'

export type Graph = Readonly<Record<string, ModuleDescription>>
export type ResolvedTarget = Exclude<Target, { kind: 'missing' }>
export type Missing = Extract<Target, { kind: 'missing' }>
export type ImportKind = 'require' | 'import'

let graph: Graph = {}
let builtins: Readonly<Record<string, unknown>> = {}

export function setNames(given: { graph: Graph; builtins: Readonly<Record<string, unknown>> }): void {
  ;({ graph, builtins } = given)
}

export function descriptionOf(id: string): ModuleDescription {
  const found = graph[id]
  if (found === undefined) throw new Error(`${id} is no file of the program`)
  return found
}

export const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/')) || '/'
export const urlOf = (path: string) => new URL(`file://${path.replace(/[%\\\n\r\t?#]/g, encodeURIComponent)}`).href
export const isPath = (name: string) => /^\.{0,2}\/|^\.{1,2}$/.test(name)

export function nodeBuiltin(name: string): unknown {
  if (Object.hasOwn(builtins, name)) return builtins[name]
  throw withCode(new Error(`No such built-in module: node:${name}`), 'ERR_UNKNOWN_BUILTIN_MODULE')
}

/** The name without `node:`; null for what is none. Node has its test runner under the full name only. */
function builtinName(name: string): string | null {
  const plain = name.replace(/^node:/, '')
  return Object.hasOwn(builtins, plain) && (plain !== 'test' || plain !== name) ? plain : null
}

export function builtinOf(given: unknown): unknown {
  const name = builtinName(String(given))
  return name === null ? undefined : builtins[name]
}

const ENDINGS = ['', '.js', '.json', '.mjs', '.cjs', '/index.js', '/index.json']

export function targetOf(id: string, name: string, how: ImportKind): Target {
  const known = graph[id]?.[how === 'require' ? 'requires' : 'imports'] ?? {}
  const target = Object.hasOwn(known, name) ? known[name] : undefined
  if (target) return target
  const builtin = builtinName(name)
  if (builtin !== null) return { kind: 'builtin', name: builtin }
  const folder = folderOf(id)
  const path = pathNamed(name, folder)
  const places = path === null ? pathsAbove(folder).map((above) => `${above}/${name}`) : [path]
  const candidates = places.flatMap((place) => ENDINGS.map((ending) => place.replace(/\/$/, '') + ending))
  const found = candidates.find((one) => Object.hasOwn(graph, one))
  return found === undefined ? missingTarget(name, { path, id, how }) : { kind: 'file', path: found }
}

/** The path that a name is; null for a package's. */
function pathNamed(name: string, folder: string): string | null {
  if (name.startsWith('file://')) return decodeURIComponent(new URL(name).pathname)
  if (!isPath(name)) return null
  return decodeURIComponent(new URL(encodeURI(name), urlOf(folder === '/' ? '/' : `${folder}/`)).pathname)
}

function missingTarget(name: string, { path, id, how }: { path: string | null; id: string; how: ImportKind }): Missing {
  if (how === 'require') return { kind: 'missing', code: 'MODULE_NOT_FOUND', why: `Cannot find module '${name}'` }
  const what = isPath(name) ? `module '${path}'` : `package '${path ?? name}'`
  return { kind: 'missing', code: 'ERR_MODULE_NOT_FOUND', why: `Cannot find ${what} imported from ${id}` }
}

/** The folders of packages that a file in this folder sees, nearest first. */
export function pathsAbove(folder: string): string[] {
  const parts = folder.split('/').filter((part) => part !== '')
  const depths = [...parts.keys(), parts.length].reverse().filter((depth) => parts[depth - 1] !== 'node_modules')
  return depths.map((depth) => `${depth === 0 ? '' : `/${parts.slice(0, depth).join('/')}`}/node_modules`)
}

/** Who asked for a file, and who had asked for that one. */
export type Asking = { filename: string; parent?: Asking | null | undefined }

export function missingError({ why, code }: Missing, from?: Asking): Error {
  if (from === undefined || code !== 'MODULE_NOT_FOUND') return withCode(new Error(why), code)
  const requireStack: string[] = []
  for (let one: Asking | null | undefined = from; one; one = one.parent) requireStack.push(one.filename)
  const error = new Error(`${why}\nRequire stack:\n- ${requireStack.join('\n- ')}`)
  return Object.assign(withCode(error, code), { requireStack })
}
