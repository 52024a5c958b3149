// Git for a conversation: the command in its shell, and the working copy that it starts with. What is heavy is loaded
// when it is used for the first time.

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
  /** Where to: an absolute path, not there yet or an empty folder. */
  directory: string
  /** A branch or a tag; null for the one that the remote shows first. */
  branch?: string | null
  /** How many commits; null for all, or for one if they are too many. */
  depth?: number | null
  remotes: GitRemotes
  /** Told what happens, a line at a time. */
  onProgress?: (text: string) => void
  signal?: AbortSignal
}

/** `commit` is null when the remote has none yet. */
export type CloneOutcome =
  | { ok: true; commit: string | null; branch: string | null }
  | { ok: false; reason: FailureReason; message: string }

/** Clones; leaves nothing behind when that fails. Throws the signal's reason when it is aborted. */
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

/** Before every name of a branch that was made for a conversation. */
const FRESH_PREFIX = 'bellwether-'
const FRESH_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** The name of a branch that nobody has yet. */
export function freshBranchName(): string {
  const random = crypto.getRandomValues(new Uint8Array(8))
  return FRESH_PREFIX + Array.from(random, (byte) => FRESH_LETTERS[byte % FRESH_LETTERS.length]).join('')
}

/** Makes such a branch and checks it out. Answers with its name. */
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

/** Outside a shell, others get their turn as well. */
function pacing(signal: AbortSignal | undefined): () => Promise<void> | null {
  let pausedAt = Date.now()
  let calls = 0
  return () => {
    signal?.throwIfAborted()
    calls++
    // On a machine whose clock stands still between I/O, the calls are all there is to go by.
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
