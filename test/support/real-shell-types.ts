// Messages between the shell's differential test and the host of the real shell.

declare module 'vitest' {
  interface ProvidedContext {
    /** The host of the real shell, and what was asked of this run. */
    realShell: {
      url: string
      /** One for each file of commands. */
      themes: string[]
      /** Of the programs without which nothing can be compared. */
      missing: string[]
      /** Whether all entries are asked for, not those of a pattern. */
      isWhole: boolean
      /** `REQUIRE_ALL=1`: a program that the comparison needs and that is missing is a failure. */
      requireAll: boolean
    }
  }
}

export const NORMALISERS = ['sorted', 'long', 'temp', 'binary-paths'] as const
export type Normaliser = (typeof NORMALISERS)[number]

export interface CorpusEntry {
  /** Of the whole corpus, `theme/name`. */
  id: string
  theme: string
  /** The tree that it is run in. */
  fixture: string
  script: string
  /** Whether the real shell runs it as an unprivileged user, even if root runs the tests. */
  isAsUser?: boolean
  /** Programs without which the real shell cannot run it. */
  needs: string[]
  /** Parts that are normalised in both outputs before the comparison, because they differ between machines. */
  normalise: Normaliser[]
}

/** One file, folder or link of a fixture, parents before their children. */
export type FixtureEntry = { path: string; mtimeMs: number } & (
  | { kind: 'directory' }
  | { kind: 'file'; base64: string; executable: boolean }
  | { kind: 'symlink'; target: string }
)

/** The content of each path and the state of each repository, as comparable text. */
export type TreeSummary = Record<string, string>

export interface ShellReport {
  exitCode: number
  stdout: string
  stderr: string
  tree: TreeSummary
}

/** For an entry that could not be run: what is missing. */
export type RealAnswer = { ok: true; report: ShellReport } | { ok: false; missing: string }

/** The environment of every command in both shells. Commit ids depend on it. */
export const SHELL_ENV: Readonly<Record<string, string>> = {
  LC_ALL: 'C.UTF-8',
  TZ: 'UTC',
  GIT_AUTHOR_NAME: 'Robin Doe',
  GIT_AUTHOR_EMAIL: 'robin@example.com',
  GIT_COMMITTER_NAME: 'Robin Doe',
  GIT_COMMITTER_EMAIL: 'robin@example.com',
  GIT_AUTHOR_DATE: '1710000000 +0000',
  GIT_COMMITTER_DATE: '1710000000 +0000',
  GIT_EDITOR: 'true',
}

export const COMMAND_TIMEOUT_MS = 60_000
