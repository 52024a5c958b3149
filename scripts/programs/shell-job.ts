export type ShellJob = {
  script: string
  files: Record<string, string>
  cwd: string
  timeoutMs: number
  maxOutputChars: number
  /** When somebody stops it; null for never. */
  stopAfterMs: number | null
  /** Who shares places in the program host with it. */
  group: string
  /** Files whose contents are wanted afterwards. */
  wanted: string[]
}

export type ShellOutcome = {
  output: string
  exitCode: number
  timedOut: boolean
  tookMs: number
  files: Record<string, string>
}
