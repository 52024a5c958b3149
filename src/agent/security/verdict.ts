// What a judgement begins with, and what it ends with.

/** The links of a workspace. */
export interface Links {
  /** The place to which the path leads, as far as it is there; null when that cannot be told. */
  resolve(path: string): string | null
  /** Whether something is there. */
  exists(path: string): boolean
}

export type Surroundings = {
  /** The variables of the shell that hold secrets. */
  readonly secretNames?: readonly string[]
  /** What earlier commands have left: the folder and the variables. */
  readonly shell?: {
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
    readonly variables: Readonly<Record<string, string>>
  }
  readonly files?: Links
}

/** `reasons`: the sentences of the rules that made it what it is, for a person to read. */
export type Verdict = { readonly risk: number; readonly reasons: readonly string[] }
