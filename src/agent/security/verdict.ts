// What a judgement begins with, and what it ends with.

/** The links of a workspace. */
export interface Links {
  /** The real path, as far as it exists; null when it cannot be determined. */
  resolve(path: string): string | null
  /** Whether something is there. */
  exists(path: string): boolean
}

export type JudgeContext = {
  /** The variables of the shell that hold secrets. */
  readonly secretNames?: readonly string[]
  /** The folder and the variables that earlier commands left. */
  readonly shell?: {
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
    readonly variables: Readonly<Record<string, string>>
  }
  readonly files?: Links
}

/** `reasons`: the sentences of the rules that made it what it is, for a person to read. */
export type Verdict = { readonly risk: number; readonly reasons: readonly string[] }

export const RISK = { unknown: -1, low: 0, medium: 1, high: 2 } as const

/** Actions below this level need no confirmation, unless the owner chose another level. */
export const DEFAULT_RISK_SEVERITY = RISK.medium
