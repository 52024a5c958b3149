// Messages between tests and the loopback git host.

declare module 'vitest' {
  interface ProvidedContext {
    /** `http://127.0.0.1:<port>` */
    gitServer: string
    /** Whether to use the whole corpus instead of a sample. */
    isProof: boolean
  }
}

/** Files to write below the server's folder, then git to run there. */
export interface Order {
  files?: { path: string; base64?: string; link?: string; executable?: boolean; remove?: boolean }[]
  /** Below the server's folder. */
  cwd?: string
  /** The arguments of each run. */
  git?: string[][]
  stdinBase64?: string
  env?: Record<string, string>
}

export interface Report {
  exitCode: number
  stdoutBase64: string
  stderr: string
}

/** The credentials for repositories under `/git/private/`. */
export const CREDENTIALS = { username: 'robin', password: 'correct horse' } as const
