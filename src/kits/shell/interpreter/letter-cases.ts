// The variables with automatic case conversion.

/** The letter of `declare`. */
export type Kind = 'u' | 'l' | 'c'

export interface LetterCases {
  /** By the name of the variable. */
  kinds: Map<string, Kind>
  /** Values from before the variable got the attribute, which are not converted. */
  readonly exempt: Map<string, string>
  /** The previous attributes of the local names of the running function. */
  locals: Map<string, Kind | undefined>
}

export const noCases = (): LetterCases => ({ kinds: new Map(), exempt: new Map(), locals: new Map() })
