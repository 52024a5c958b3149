// What one shell keeps of the variables that it makes by itself, and the numbers of RANDOM.

/** What one shell keeps of them. */
export interface OwnVariables {
  /** The words that were given with `-c`. */
  text: string | null
  /** Names that were unset, and are variables like others from then on. */
  readonly unset: Set<string>
  /** From which RANDOM goes on, once it was given a value. */
  seed: number | null
  /** Where `getopts` stands in a word of several letters, and in which word. */
  letter: number
  optind: string
}

export const ownVariables = (text: string | null): OwnVariables => ({
  ...{ text, unset: new Set(), seed: null, letter: 0, optind: '' },
})

/** A number of RANDOM as bash makes it of its seed; by chance without one, and in a subshell. */
export function nextRandom({ own, subshells }: { own: OwnVariables; subshells: number }): number {
  if (own.seed === null || subshells > 0) return Math.floor(Math.random() * 32_768)
  const last = own.seed === 0 ? 123_459_876 : own.seed
  const high = Math.trunc(last / 127_773)
  const next = (16_807 * (last - 127_773 * high) - 2836 * high) | 0
  own.seed = next < 0 ? next + 0x7f_ff_ff_ff : next
  return ((own.seed >>> 16) ^ (own.seed & 65_535)) & 32_767
}
