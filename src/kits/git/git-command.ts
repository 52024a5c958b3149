// Git for a conversation: the command in its shell, and its initial working copy. Large modules are loaded on first
// use.

import type { FileSystem } from '../../workspace/file-system.ts'
import type { ShellCommand } from '../shell/index.ts'
import { explainedFailure } from './explain.ts'
import type { FailureReason } from './failure.ts'
import { DEFAULT_IDENTITY, now } from './identity.ts'
import type { GitRemotes } from './remotes.ts'
import { Repository } from './repository.ts'

/** The `git` of the shell. */
export function gitCommand(remotes: GitRemotes): ShellCommand {
  return {
    name: 'git',
    run: async (args, call) => {
      const { runGit } = await import('./dispatch.ts')
      const { fs, cwd, env, pause, signal, execute } = call
      const parts = { fs, cwd, env, pace: pause, signal, remotes, execute }
      return runGit(args, {
        ...parts,
        get stdin() {
          return call.stdin
        },
      })
    },
  }
}

export interface CloneOptions {
  fs: FileSystem
  url: string
  /** The target: an absolute path that does not exist yet or is an empty folder. */
  directory: string
  /** A branch or a tag; null for the remote's default branch. */
  branch?: string | null
  /** The number of commits; null for all, or for one if there are too many. */
  depth?: number | null
  remotes: GitRemotes
  /** Called with the progress, one line at a time. */
  onProgress?: (text: string) => void
  signal?: AbortSignal
}

/** `commit` is null if the remote has none yet. */
export type CloneOutcome =
  | { ok: true; commit: string | null; branch: string | null }
  | { ok: false; reason: FailureReason; message: string }

/** Clones; removes everything after a failure. Throws the signal's reason when it is aborted. */
export async function cloneRepository(options: CloneOptions): Promise<CloneOutcome> {
  const { fs, url, directory, branch = null, depth = null, remotes, onProgress, signal } = options
  const { cloneInto } = await import('./cloning.ts')
  const how = { branch, depth, singleBranch: depth !== null, tags: true, remote: 'origin', checkout: true }
  try {
    const by = { ...DEFAULT_IDENTITY, ...now() }
    const { repo, oid } = await cloneInto({
      fs,
      url,
      root: directory,
      remotes,
      onProgress,
      ...(onProgress && { onWarning: onProgress }),
      signal,
      pace: pacing(signal),
      by,
      ...how,
    })
    const { ref } = await repo.refs.head()
    return { ok: true, commit: oid, branch: ref?.replace(/^refs\/heads\//, '') ?? null }
  } catch (error) {
    signal?.throwIfAborted()
    const failure = explainedFailure(error)
    if (!failure) throw error
    return { ok: false, reason: failure.reason, message: failure.message.replace(/^(fatal|error): /, '') }
  }
}

/** The prefix of all branch names created for a conversation. */
const FRESH_PREFIX = 'bellwether-'
const FRESH_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** A branch name that is not in use. */
export function freshBranchName(): string {
  const random = crypto.getRandomValues(new Uint8Array(8))
  return FRESH_PREFIX + Array.from(random, (byte) => FRESH_LETTERS[byte % FRESH_LETTERS.length]).join('')
}

/** Creates such a branch and checks it out. Returns its name. */
export async function checkoutFreshBranch({ fs, directory }: { fs: FileSystem; directory: string }): Promise<string> {
  const repo = new Repository({ fs, root: directory })
  const name = freshBranchName()
  const ref = `refs/heads/${name}`
  const { oid, ref: before } = await repo.refs.head()
  const by = { ...DEFAULT_IDENTITY, ...now() }
  if (oid !== null) await repo.refs.change(ref, { oid, by, message: 'branch: Created from HEAD' })
  await repo.refs.moveHead(
    { ref },
    by,
    `checkout: moving from ${before?.replace(/^refs\/heads\//, '') ?? oid} to ${name}`,
  )
  return name
}

const PAUSE_EVERY_MS = 12
const PAUSE_EVERY_CALLS = 2000

/** Outside a shell, other work must get a turn too. */
function pacing(signal: AbortSignal | undefined): () => Promise<void> | null {
  let pausedAt = Date.now()
  let calls = 0
  return () => {
    signal?.throwIfAborted()
    calls++
    // On a platform whose clock stands still between I/O, only the number of calls is known.
    if (calls < PAUSE_EVERY_CALLS && Date.now() - pausedAt < PAUSE_EVERY_MS) return null
    calls = 0
    return new Promise((resolve) => {
      setTimeout(() => {
        pausedAt = Date.now()
        resolve()
      }, 0)
    })
  }
}
