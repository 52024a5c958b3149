/** Marks a branch that the types exclude; throws if the types were wrong. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}

/** The value; throws an error that names the missing value. For facts that the code guarantees, never for input. */
export function must<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`missing: ${what}`)
  return value
}
