// Numbers from environment variables.

/** The variable's number, or the default. Throws for other text, because with NaN a test would try nothing and pass. */
export function wantedNumber(name: string, usual: number, least = 1): number {
  const text = process.env[name]
  if (text === undefined) return usual
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || !Number.isSafeInteger(value))
    throw new Error(`${name}: found "${text}", allowed is a whole number from ${least}`)
  return value
}
