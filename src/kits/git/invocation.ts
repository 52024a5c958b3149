// One run of the git command: its folder, its user, and its output so far.

import { type FileSystem, isFileError } from '../../workspace/file-system.ts'
import { resolvePath } from '../../workspace/paths.ts'
import { statAt } from '../../workspace/stat.ts'
import { ConfigFile, canonicalKey, type Setting } from './config-file.ts'
import { namedRepository, settingsIn } from './environment.ts'
import { fatal } from './failure.ts'
import { signature } from './identity.ts'
import { InvocationOutput } from './invocation-output.ts'
import type { Signature } from './objects.ts'
import { Pathspec } from './pathspec.ts'
import { readText } from './ref-files.ts'
import type { GitRemotes } from './remotes.ts'
import { Repository } from './repository.ts'
import type { Pace } from './tree.ts'

export interface InvocationDeps {
  fs: FileSystem
  cwd: string
  env: Readonly<Record<string, string>>
  stdin: string
  pace: Pace
  signal?: AbortSignal | undefined
  remotes: GitRemotes
  /** Runs a script of the workspace in the shell that called git. */
  execute?: (script: string, cwd: string) => Promise<{ stdout: string; stderr: string; exitCode: number }>
}

export class Invocation extends InvocationOutput {
  readonly fs: FileSystem
  readonly env: Readonly<Record<string, string>>
  /** Unparsed, because the code that needs a part reads it itself. */
  readonly #deps: InvocationDeps
  readonly pace: Pace
  readonly signal: AbortSignal | undefined
  readonly remotes: GitRemotes
  readonly execute: InvocationDeps['execute']
  /** The name of the command in the reflog, if another command runs it. */
  reflogAction: string | null = null
  /** Settings given on the command line. */
  readonly overrides: { key: string; value: string }[] = []
  /** The given paths of the repository and its working tree. */
  gitDir: string | undefined
  workTree: string | undefined
  /** The current folder, without links. */
  cwd: string
  #repo: Repository | null = null
  #global: ConfigFile | null = null
  #identity: Promise<Setting[]> | null = null

  constructor(parts: InvocationDeps) {
    super()
    const { fs, cwd, env, pace, signal, remotes, execute } = parts
    this.#deps = parts
    this.fs = fs
    this.cwd = real(fs, cwd)
    this.env = env
    this.gitDir = env.GIT_DIR
    this.workTree = env.GIT_WORK_TREE
    this.overrides.push(...settingsIn(env))
    this.pace = pace
    this.signal = signal
    this.remotes = remotes
    this.execute = execute
  }

  get stdin(): string {
    return this.#deps.stdin
  }

  /** The text of an action in the reflog. */
  logged(command: string): string {
    return this.reflogAction ?? (this.env.GIT_REFLOG_ACTION || command)
  }

  moveTo(folder: string): void {
    const path = resolvePath(this.cwd, folder)
    if (statAt(this.fs, path)?.kind !== 'directory')
      throw fatal(`cannot change to '${folder}': No such file or directory`)
    this.cwd = real(this.fs, path)
  }

  resolve(path: string): string {
    return resolvePath(this.cwd, path)
  }

  /** The repository that contains the current folder. */
  repo(): Repository {
    if (!this.hasRepo() || !this.#repo) throw fatal('not a git repository (or any of the parent directories): .git')
    return this.#repo
  }

  hasRepo(): boolean {
    if (this.#repo) return true
    const { fs, pace, cwd, gitDir, workTree } = this
    this.#repo = namedRepository({ fs, pace, cwd, gitDir, workTree }) ?? Repository.around({ fs, pace }, cwd)
    if (this.#repo) {
      this.#repo.warn = (text) => this.err(text)
      const { root } = this.#repo
      this.#repo.folder = this.cwd === root ? '' : this.cwd.slice(root === '/' ? 1 : root.length + 1)
    }
    return this.#repo !== null
  }

  /** The options of every transfer with a remote. Relative paths start at the top of the working tree. */
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

  /** A setting from the command line, the repository or the user, in this order. */
  async setting(key: string): Promise<string | null> {
    const wanted = canonicalKey(key)
    const given = this.overrides.findLast((override) => canonicalKey(override.key) === wanted)
    if (given) return given.value
    const own = this.hasRepo() ? (await this.repo().config()).get(key) : null
    return own ?? (await this.globalConfig()).get(key) ?? (await this.#givenSetting(wanted))
  }

  /** The committer from the owner's settings, as settings of the lowest priority. */
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
    return this.env.GIT_CONFIG_GLOBAL
      ? this.resolve(this.env.GIT_CONFIG_GLOBAL)
      : `${this.env.HOME || '/home/user'}/.gitconfig`
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
