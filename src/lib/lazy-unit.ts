// What the operator configures and what is loaded when it is first used: its variables are known without its code.

import { type RawVariables, readVariables, type ValuesOf, type Variables } from './variables.ts'

export type LazyUnit<Deps, Made> = {
  readonly variables: Variables
  readonly load: () => Promise<unknown>
  /** Null where the operator has not given what it needs. */
  readonly make: (raw: RawVariables, deps: Deps) => Promise<Made | null>
}

export type LazyUnitSpec<Table extends Variables, Module, Deps, Made> = {
  variables: Table
  load: () => Promise<Module>
  make: (module: Module, values: ValuesOf<Table>, deps: Deps) => Made | null
}

export function lazyUnit<Table extends Variables, Module, Deps, Made>({
  variables,
  load,
  make,
}: LazyUnitSpec<Table, Module, Deps, Made>): LazyUnit<Deps, Made> & { readonly variables: Table } {
  return { variables, load, make: async (raw, deps) => make(await load(), readVariables(variables, raw), deps) }
}

/** Those that the names call for, in their order; a name that is not known, or not configured, is passed over. */
export async function madeOf<Deps, Made>(
  units: Readonly<Record<string, LazyUnit<Deps, Made>>>,
  names: readonly string[],
  made: { variables: RawVariables; deps: Deps },
): Promise<Made[]> {
  const all = await Promise.all(
    names.map((name) => (Object.hasOwn(units, name) ? (units[name]?.make(made.variables, made.deps) ?? null) : null)),
  )
  return all.filter((one) => one !== null)
}
