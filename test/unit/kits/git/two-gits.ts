// The same steps taken twice: by our git in a workspace in memory, and by the real one in a folder of the test host.

import { runGit } from '../../../../src/kits/git/dispatch.ts'
import { resolvePath } from '../../../../src/workspace/paths.ts'
import { LOOPBACK_REMOTES, orderGit, toBase64 } from '../../../helpers/git-host.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

export interface GitOutput {
  exitCode: number
  stdout: string
  stderr: string
}

/** A file's new contents; null removes it. `link` makes a symbolic link. */
export type Change = string | null | { link: string } | { text: string; executable: true }

const ROOT = '/workspace/repo'
const FIRST_SECOND = 1_700_000_000

export class TwoGits {
  readonly fs = new MemoryFileSystem()
  readonly folder: string
  #seconds = FIRST_SECOND

  constructor(name: string) {
    this.folder = `${name}-${crypto.randomUUID().slice(0, 8)}/repo`
    this.fs.makeDirectory(ROOT)
  }

  async files(changes: Record<string, Change>): Promise<void> {
    const files = []
    for (const [path, change] of Object.entries(changes)) {
      await this.#change(resolvePath(ROOT, path), change)
      const isText = typeof change === 'string'
      files.push({
        path: resolvePath(`/${this.folder}`, path).slice(1),
        ...(change === null && { remove: true }),
        ...(isText && { base64: toBase64(change) }),
        ...(change !== null && !isText && 'link' in change && { link: change.link }),
        ...(change !== null && !isText && 'text' in change && { base64: toBase64(change.text), executable: true }),
      })
    }
    await orderGit({ cwd: this.folder, files })
  }

  /** What both said to the words, with the folder that they worked in called the same. */
  async git(
    words: string | readonly string[],
    { at = '', stdin = '', env: more = {} }: { at?: string; stdin?: string; env?: Record<string, string> } = {},
  ): Promise<{ ours: GitOutput; real: GitOutput }> {
    const args = typeof words === 'string' ? words.split(' ') : [...words]
    this.#seconds += 60
    const date = `${this.#seconds} +0000`
    const env = {
      GIT_AUTHOR_NAME: 'Robin',
      GIT_AUTHOR_EMAIL: 'robin@example.com',
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: 'Robin',
      GIT_COMMITTER_EMAIL: 'robin@example.com',
      GIT_COMMITTER_DATE: date,
      ...more,
    }
    const cwd = resolvePath(ROOT, at)
    const result = await runGit(args, {
      fs: this.fs,
      cwd,
      env,
      stdin,
      pace: () => null,
      remotes: LOOPBACK_REMOTES,
    })
    const stdout = result.bytes ? new TextDecoder().decode(result.bytes) : result.stdout
    const [report] = await orderGit({
      cwd: resolvePath(`/${this.folder}`, at).slice(1),
      git: [args],
      env,
      stdinBase64: toBase64(stdin),
    })
    const real = {
      exitCode: report?.exitCode ?? -1,
      stdout: this.#plain(
        new TextDecoder().decode(Uint8Array.from(atob(report?.stdoutBase64 ?? ''), (char) => char.charCodeAt(0))),
      ),
      stderr: this.#plain(report?.stderr ?? ''),
    }
    return { ours: { exitCode: result.exitCode, stdout, stderr: result.stderr }, real }
  }

  #plain(text: string): string {
    // What stands beside the repository is another one, such as a remote.
    const parent = this.folder.replace(/\/repo$/, '')
    return text.replaceAll(new RegExp(`/[^ '"\\n]*/${parent}`, 'g'), ROOT.replace(/\/repo$/, ''))
  }

  async #change(path: string, change: Change): Promise<void> {
    const there = this.#exists(path)
    if (there) this.fs.remove(path, { recursive: true })
    if (change === null) return
    this.fs.makeDirectory(path.replace(/\/[^/]*$/, ''), { recursive: true })
    if (typeof change === 'string') await this.fs.write(path, new TextEncoder().encode(change))
    else if ('link' in change) this.fs.symlink(change.link, path)
    else await this.fs.write(path, new TextEncoder().encode(change.text), { mode: 0o755 })
  }

  #exists(path: string): boolean {
    try {
      this.fs.lstat(path)
      return true
    } catch {
      return false
    }
  }
}

export type Step =
  | string
  | readonly string[]
  | { files: Record<string, Change> }
  | { git: string; at?: string; stdin?: string; env?: Record<string, string> }

/** Takes the steps and answers with the words of the first one that the two differ about, or null. */
export async function firstDifference(name: string, steps: readonly Step[]): Promise<string | null> {
  const two = new TwoGits(name)
  for (const step of steps) {
    if (typeof step === 'object' && 'files' in step) {
      await two.files(step.files)
      continue
    }
    const [words, how] = typeof step === 'object' && 'git' in step ? [step.git, step] : [step, {}]
    const { ours, real } = await two.git(words, how)
    if (JSON.stringify(ours) !== JSON.stringify(real)) {
      return `git ${words}\n--- ours\n${JSON.stringify(ours, null, 1)}\n--- real\n${JSON.stringify(real, null, 1)}`
    }
  }
  return null
}
