// The state of a shell's dynamic variables, and the numbers of RANDOM.

/** The state of one shell. */
export interface OwnVariables {
  /** The script given with `-c`. */
  text: string | null
  /** Names that were unset, and are ordinary variables from then on. */
  readonly unset: Set<string>
  /** The state of RANDOM after it was assigned. */
  seed: number | null
  /** The position of `getopts` in a word with several letters, and the word's number. */
  letter: number
  optind: string
}

export const ownVariables = (text: string | null): OwnVariables => ({
  ...{ text, unset: new Set(), seed: null, letter: 0, optind: '' },
})

/** The next number of RANDOM like in bash for its seed; random without one, and in a subshell. */
export function nextRandom({ own, subshells }: { own: OwnVariables; subshells: number }): number {
  if (own.seed === null || subshells > 0) return Math.floor(Math.random() * 32_768)
  const last = own.seed === 0 ? 123_459_876 : own.seed
  const high = Math.trunc(last / 127_773)
  const next = (16_807 * (last - 127_773 * high) - 2836 * high) | 0
  own.seed = next < 0 ? next + 0x7f_ff_ff_ff : next
  return ((own.seed >>> 16) ^ (own.seed & 65_535)) & 32_767
}
