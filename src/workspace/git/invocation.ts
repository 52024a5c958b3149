// One run of the git command: where, for whom, and what it has said so far.

import { type FileSystem, isFileError } from '../file-system.ts'
import { resolvePath } from '../paths.ts'
import { joined, utf8 } from './bytes.ts'
import { ConfigFile, canonicalKey, type Setting } from './config-file.ts'
import { fatal } from './failure.ts'
import { signature } from './identity.ts'
import type { Signature } from './objects.ts'
import { Pathspec } from './pathspec.ts'
import { readText } from './refs.ts'
import type { GitRemotes } from './remotes.ts'
import { Repository } from './repository.ts'
import type { Pace } from './tree.ts'

export interface InvocationParts {
  fs: FileSystem
  cwd: string
  env: Readonly<Record<string, string>>
  stdin: string
  pace: Pace
  signal?: AbortSignal | undefined
  remotes: GitRemotes
  /** Runs a script of the workspace in the shell that git was called from. */
  execute?: (script: string, cwd: string) => Promise<{ stdout: string; stderr: string; exitCode: number }>
}

export class Invocation {
  readonly fs: FileSystem
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
  readonly pace: Pace
  readonly signal: AbortSignal | undefined
  readonly remotes: GitRemotes
  readonly execute: InvocationParts['execute']
  /** What the log of refs calls the command, where another one runs it for itself. */
  reflogAction: string | null = null
  /** Settings given on the command line. */
  readonly overrides: { key: string; value: string }[] = []
  /** Where it runs, without links. */
  cwd: string
  #out: (string | Uint8Array)[] = []
  #err = ''
  #repo: Repository | null = null
  #global: ConfigFile | null = null
  #identity: Promise<Setting[]> | null = null

  constructor({ fs, cwd, env, stdin, pace, signal, remotes, execute }: InvocationParts) {
    this.fs = fs
    this.cwd = real(fs, cwd)
    this.env = env
    this.stdin = stdin
    this.pace = pace
    this.signal = signal
    this.remotes = remotes
    this.execute = execute
  }

  out(text: string | Uint8Array): void {
    this.#out.push(text)
  }

  /** As the log of refs calls what is done. */
  logged(command: string): string {
    return this.reflogAction ?? (this.env.GIT_REFLOG_ACTION || command)
  }

  line(text = ''): void {
    this.#out.push(`${text}\n`)
  }

  err(text: string): void {
    // What ends in a carriage return is written over by what comes next.
    this.#err += /[\n\r]$/.test(text) || text === '' ? text : `${text}\n`
  }

  /** What was said. Bytes are there only if some of it was no text. */
  get output(): { stdout: string; bytes: Uint8Array | null; stderr: string } {
    const isText = this.#out.every((part) => typeof part === 'string')
    const parts = this.#out.map((part) => (typeof part === 'string' ? utf8(part) : part))
    return { stdout: isText ? this.#out.join('') : '', bytes: isText ? null : joined(parts), stderr: this.#err }
  }

  /** Output is held back, so that a command can be part of another one. */
  quietly(): void {
    this.#out = []
    this.#err = ''
  }

  moveTo(folder: string): void {
    const path = resolvePath(this.cwd, folder)
    if (!isFolder(this.fs, path)) throw fatal(`cannot change to '${folder}': No such file or directory`)
    this.cwd = real(this.fs, path)
  }

  resolve(path: string): string {
    return resolvePath(this.cwd, path)
  }

  /** The repository around the current folder. */
  repo(): Repository {
    if (!this.hasRepo() || !this.#repo) throw fatal('not a git repository (or any of the parent directories): .git')
    return this.#repo
  }

  hasRepo(): boolean {
    if (this.#repo) return true
    this.#repo = Repository.around({ fs: this.fs, pace: this.pace }, this.cwd)
    if (this.#repo) {
      this.#repo.warn = (text) => this.err(text)
      const { root } = this.#repo
      this.#repo.folder = this.cwd === root ? '' : this.cwd.slice(root === '/' ? 1 : root.length + 1)
    }
    return this.#repo !== null
  }

  /** What every exchange with a remote is given. Relative paths lead from the top of the working tree. */
  transfers() {
    const folder = this.hasRepo() ? this.repo().root : this.cwd
    return { remotes: this.remotes, signal: this.signal, place: { fs: this.fs, folder, pace: this.pace } }
  }

  use(repo: Repository): void {
    this.#repo = repo
  }

  pathspec(given: readonly string[]): Pathspec {
    return new Pathspec(this.repo(), this.cwd, given)
  }

  /** A setting of the command line, the repository or the user, in this order. */
  async setting(key: string): Promise<string | null> {
    const wanted = canonicalKey(key)
    const given = this.overrides.findLast((override) => canonicalKey(override.key) === wanted)
    if (given) return given.value
    const own = this.hasRepo() ? (await this.repo().config()).get(key) : null
    return own ?? (await this.globalConfig()).get(key) ?? (await this.#givenSetting(wanted))
  }

  /** Who commits according to the owner's settings, as settings of lowest rank. */
  givenIdentity(): Promise<Setting[]> {
    this.#identity ??= this.#readIdentity()
    return this.#identity
  }

  async #readIdentity(): Promise<Setting[]> {
    const { name = null, email = null } = (await this.remotes.identity?.()) ?? {}
    return [
      ...(name ? [{ key: 'user.name', value: name }] : []),
      ...(email ? [{ key: 'user.email', value: email }] : []),
    ]
  }

  async #givenSetting(wanted: string): Promise<string | null> {
    if (!wanted.startsWith('user.')) return null
    return (await this.givenIdentity()).find(({ key }) => key === wanted)?.value ?? null
  }

  async globalConfig(): Promise<ConfigFile> {
    this.#global ??= new ConfigFile((await readText(this.fs, this.globalConfigPath)) ?? '')
    return this.#global
  }

  get globalConfigPath(): string {
    return `${this.env.HOME || '/home/user'}/.gitconfig`
  }

  async signature(role: 'author' | 'committer'): Promise<Signature> {
    const keys = ['name', 'email'].flatMap((what) => [`${role}.${what}`, `user.${what}`])
    const settings = new Map<string, string | null>()
    for (const key of keys) settings.set(key, await this.setting(key))
    return signature(role, { env: this.env, setting: (key) => settings.get(key) ?? null })
  }
}

function real(fs: FileSystem, path: string): string {
  try {
    return fs.realPath(path)
  } catch (error) {
    if (!isFileError(error)) throw error
    throw fatal('Unable to read current working directory: No such file or directory')
  }
}

function isFolder(fs: FileSystem, path: string): boolean {
  try {
    return fs.stat(path).kind === 'directory'
  } catch (error) {
    if (isFileError(error)) return false
    throw error
  }
}
