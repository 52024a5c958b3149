// Which variables have their letters made large or small.

/** The letter of `declare` for it. */
export type Kind = 'u' | 'l' | 'c'

export interface LetterCases {
  /** By the name of the variable. */
  kinds: Map<string, Kind>
  /** Values from before the variable got its kind, which stay as they are. */
  readonly exempt: Map<string, string>
  /** What the names that the function which runs made its own were before. */
  locals: Map<string, Kind | undefined>
}

export const noCases = (): LetterCases => ({ kinds: new Map(), exempt: new Map(), locals: new Map() })
