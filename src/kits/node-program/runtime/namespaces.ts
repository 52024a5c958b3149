// Modules as objects: what `import * as` names.

import { inspect } from 'node:util'

export type Namespace = Record<string, unknown>

/** As Node shows one: values instead of getters. */
function shown(this: Namespace, _depth: number, options: object & { depth?: number | null }): string {
  const values: Namespace = {}
  for (const name of Object.keys(this)) {
    try {
      values[name] = this[name]
    } catch (error) {
      if (!(error instanceof ReferenceError)) throw error
      values[name] = { [inspect.custom]: () => '<uninitialized>' }
    }
  }
  return `[Module: null prototype] ${inspect(values, { ...options })}`
}

export function emptyNamespace(): Namespace {
  const about = { [Symbol.toStringTag]: { value: 'Module' }, [inspect.custom]: { value: shown } }
  return Object.defineProperties(Object.create(null), about)
}

export function expose(namespace: Namespace, name: string, get: () => unknown): Namespace {
  return Object.defineProperty(namespace, name, { enumerable: true, configurable: true, get })
}

/** Of a script or a builtin module: its exports by name, and all of them as the default. */
export function namespaceOf(value: unknown): Namespace {
  const namespace = emptyNamespace()
  if ((typeof value === 'object' || typeof value === 'function') && value !== null) {
    for (const name of Object.keys(value))
      if (name !== 'default') expose(namespace, name, () => Reflect.get(value, name))
  }
  return expose(namespace, 'default', () => value)
}

/** What a script gets that requires a module: it can be told from what compilers make of one. */
export function requiredNamespace(namespace: Namespace): unknown {
  if ('module.exports' in namespace) return namespace['module.exports']
  if (!('default' in namespace) || '__esModule' in namespace) return namespace
  const copy = emptyNamespace()
  expose(copy, '__esModule', () => true)
  for (const name of Object.keys(namespace)) expose(copy, name, () => namespace[name])
  return copy
}
