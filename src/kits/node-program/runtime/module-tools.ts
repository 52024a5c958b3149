// What the compiled code of a file finds as `__module`: how it takes from other files and shows what it has itself.

import { emptyNamespace, expose, type Namespace, namespaceOf } from './namespaces.ts'
import type { ModuleDescription } from './protocol.ts'
import {
  descriptionOf,
  folderOf,
  isPath,
  missingError,
  nodeBuiltin,
  type ResolvedTarget,
  targetOf,
  urlOf,
} from './resolution.ts'

/** A file and how far it has come. */
export interface ModuleRecord<Script = unknown> {
  readonly id: string
  readonly node: ModuleDescription
  state: 'new' | 'running' | 'done'
  promise: Promise<void> | null
  namespace: Namespace
  /** Of a script that was required. */
  module: Script | null
  error: { value: unknown } | null
}

const records = new Map<string, ModuleRecord>()

export function recordOf(id: string): ModuleRecord {
  const known = records.get(id)
  if (known) return known
  const made: ModuleRecord = {
    id,
    node: descriptionOf(id),
    state: 'new',
    promise: null,
    namespace: emptyNamespace(),
    module: null,
    error: null,
  }
  records.set(id, made)
  return made
}

/** Runs a file if it has not run; nothing for one that need not be waited for. */
export type Evaluate = (id: string) => Promise<void> | undefined

export function toolsOf(record: ModuleRecord, evaluate: Evaluate) {
  const { id, namespace } = record
  const space = (name: string) => namespaceNamed(id, name)
  const define = (from: Namespace, names: readonly (readonly [string, string])[]) => {
    for (const [inner, outer] of names) expose(namespace, outer, () => from[inner])
  }
  return {
    export: (getters: Readonly<Record<string, () => unknown>>) => {
      for (const [name, get] of Object.entries(getters)) expose(namespace, name, get)
    },
    load: () => load(record, evaluate),
    from: (name: string, wanted: readonly string[]) => {
      const found = space(name)
      const lacking = wanted.find((one) => !(one in found))
      if (lacking === undefined) return found
      throw new SyntaxError(`The requested module '${name}' does not provide an export named '${lacking}'`)
    },
    exportAll: (name: string, as: string | null) => {
      const all = space(name)
      if (as !== null) return void expose(namespace, as, () => all)
      const names = Object.keys(all).filter((one) => one !== 'default' && !Object.hasOwn(namespace, one))
      define(
        all,
        names.map((one) => [one, one]),
      )
    },
    exportFrom: (name: string, names: readonly (readonly [string, string])[]) => define(space(name), names),
    dynamic: async (given: unknown) => {
      const name = String(given)
      const target = importTarget(id, name)
      if (target.kind === 'file') await evaluate(target.path)
      return spaceOf(target)
    },
    meta: metaOf(record),
  }
}

function importTarget(id: string, name: string): ResolvedTarget {
  const target = targetOf(id, name, 'import')
  if (target.kind === 'missing') throw missingError(target)
  return target
}

function spaceOf(target: ResolvedTarget): Namespace {
  return target.kind === 'builtin' ? namespaceOf(nodeBuiltin(target.name)) : recordOf(target.path).namespace
}

function namespaceNamed(id: string, name: string): Namespace {
  return spaceOf(importTarget(id, name))
}

/** Runs what the file imports before itself, one after the other. */
function load({ id, node }: ModuleRecord, evaluate: Evaluate): Promise<void> | undefined {
  const paths = node.statics.flatMap((name) => {
    const target = importTarget(id, name)
    return target.kind === 'file' ? [target.path] : []
  })
  if (node.isAsync) return inTurn(paths, evaluate)
  // Nothing of what such a file imports has to be waited for.
  for (const path of paths) void evaluate(path)
  return undefined
}

async function inTurn(paths: readonly string[], evaluate: Evaluate): Promise<void> {
  for (const path of paths) await evaluate(path)
}

function metaOf({ id, node }: ModuleRecord): object {
  return Object.assign(Object.create(null), {
    dirname: folderOf(id),
    filename: id,
    main: node.isMain,
    url: urlOf(id),
    resolve: (name: string) => {
      if (isPath(name) || name.startsWith('file:')) return new URL(name, urlOf(id)).href
      const target = importTarget(id, name)
      return target.kind === 'file' ? urlOf(target.path) : `node:${target.name}`
    },
  })
}
