// Numbers that a run is told by its environment.

/** That of the variable, or the usual one. A word that is no number would try nothing, and pass. */
export function wantedNumber(name: string, usual: number, least = 1): number {
  const text = process.env[name]
  if (text === undefined) return usual
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || !Number.isSafeInteger(value))
    throw new Error(`${name}: found "${text}", allowed is a whole number from ${least}`)
  return value
}
