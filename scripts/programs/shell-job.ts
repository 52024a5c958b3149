export type ShellJob = {
  script: string
  files: Record<string, string>
  cwd: string
  timeoutMs: number
  maxOutputChars: number
  /** The time at which it is stopped; null for never. */
  stopAfterMs: number | null
  /** The group with which it shares places in the program host. */
  group: string
  /** Files whose contents are returned afterwards. */
  wanted: string[]
}

export type ShellOutcome = {
  output: string
  exitCode: number
  timedOut: boolean
  tookMs: number
  files: Record<string, string>
}
