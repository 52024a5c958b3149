// Runs the real bash, with the machine's programs, in a fresh copy of a fixture. It works in its own folder,
// where the scripts say `/workspace`, `/tmp` and `/home/user`: the paths are put in before and taken out afterwards.

import { execFile, spawn } from 'node:child_process'
import { constants, type Stats } from 'node:fs'
import { access, chmod, cp, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, utimes } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import {
  COMMAND_TIMEOUT_MS,
  type CorpusEntry,
  type FixtureEntry,
  type RealAnswer,
  SHELL_ENV,
  type ShellReport,
} from './real-shell-types.ts'
import { FIXTURES } from './shell-corpus.ts'
import { summaryOf, type TreeReader } from './shell-tree.ts'

const run = promisify(execFile)
const NOBODY = 65534
const ALWAYS_NEEDED = ['bash', 'git']
/** The age of the files, one minute apart in the order of their paths: more than half a year, so that `ls -l` shows the year. */
const FIRST_MTIME_MS = Date.UTC(2024, 0, 10, 12)

export class RealShell {
  readonly #folder: string
  readonly #fixtures = new Map<string, Promise<string>>()
  readonly #found = new Map<string, Promise<boolean>>()

  constructor(folder: string) {
    this.#folder = folder
  }

  async answer(entry: CorpusEntry): Promise<RealAnswer> {
    for (const name of entry.needs) {
      if (!(await this.#has(name))) return { ok: false, missing: name }
    }
    return { ok: true, report: await this.#report(entry) }
  }

  /** Of what every fixture needs. */
  async missing(): Promise<string[]> {
    const names: string[] = []
    for (const name of ALWAYS_NEEDED) if (!(await this.#has(name))) names.push(name)
    return names
  }

  async fixture(name: string): Promise<FixtureEntry[]> {
    return fixtureEntries(await this.#made(name))
  }

  async #report({ fixture, script, isAsUser }: CorpusEntry): Promise<ShellReport> {
    const root = await mkdtemp(join(this.#folder, 'r'))
    await chmod(root, 0o755)
    const workspace = join(root, 'workspace')
    await Promise.all([
      run('cp', ['-a', await this.#made(fixture), workspace]),
      mkdir(join(root, 'tmp')),
      mkdir(join(root, 'home', 'user'), { recursive: true }),
    ])
    const inside = script.replaceAll(/(?<![\w.*}])\/(workspace|tmp|home\/user)\b/g, `${root}/$1`)
    const prefix = isAsUser && process.getuid?.() === 0 ? await this.#withoutPowers(root) : []
    const said = await execute([...prefix, 'bash', '-c', inside], { cwd: workspace, env: environment(root) })
    if (isAsUser) await run('chmod', ['-R', 'u+rwX', workspace])
    const tree = await summaryOf(DISK, workspace)
    const plain = (text: string) => text.replaceAll(`${root}/`, '/').replaceAll(root, '/')
    for (const [path, held] of Object.entries(tree)) tree[path] = plain(held)
    await rm(root, { recursive: true, force: true })
    return { ...said, stdout: plain(said.stdout), stderr: plain(said.stderr), tree }
  }

  /** Gives all files to an unprivileged user. Returns the prefix that runs a command as that user. */
  async #withoutPowers(root: string): Promise<string[]> {
    await chmod(this.#folder, 0o755)
    await run('chown', ['-R', `${NOBODY}:${NOBODY}`, root])
    return ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
  }

  #made(name: string): Promise<string> {
    const known = this.#fixtures.get(name) ?? this.#make(name)
    this.#fixtures.set(name, known)
    return known
  }

  async #make(name: string): Promise<string> {
    const root = await mkdtemp(join(this.#folder, 'f'))
    const folder = join(root, 'workspace')
    await mkdir(folder)
    await cp(FIXTURES, join(root, 'fixtures'), { recursive: true })
    const env = { ...environment(root), FIXTURES: join(root, 'fixtures') }
    const made = await execute(['bash', join(FIXTURES, `${name}.sh`)], { cwd: folder, env })
    if (made.exitCode !== 0) throw new Error(`the fixture ${name} cannot be made: ${made.stderr}`)
    let mtimeMs = FIRST_MTIME_MS
    for (const { path, stat } of await pathsIn(folder)) {
      if (path === '.git' || path.startsWith('.git/') || stat.isSymbolicLink()) continue
      mtimeMs += 60_000
      await utimes(join(folder, path), mtimeMs / 1000, mtimeMs / 1000)
    }
    return folder
  }

  #has(name: string): Promise<boolean> {
    const known = this.#found.get(name) ?? isInPath(name)
    this.#found.set(name, known)
    return known
  }
}

function environment(root: string): Record<string, string> {
  return { ...userEnvironment(root), PATH: process.env.PATH ?? '/usr/bin:/bin', TERM: 'dumb' }
}

/** Of the user whose home and temporary folder are beneath this one. */
export function userEnvironment(root: string): Record<string, string> {
  return {
    ...SHELL_ENV,
    HOME: join(root, 'home', 'user'),
    TMPDIR: join(root, 'tmp'),
    USER: 'user',
    LOGNAME: 'user',
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
  }
}

type ProcessOptions = { cwd: string; env: Record<string, string> }

/** Kills the command and all its processes after the time limit. */
async function execute([program = '', ...args]: string[], where: ProcessOptions): Promise<Omit<ShellReport, 'tree'>> {
  const child = spawn(program, args, { ...where, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), COMMAND_TIMEOUT_MS)
  const ended = new Promise<number>((done, fail) => {
    child.on('error', fail)
    child.on('close', (code) => done(code ?? -1))
  })
  const [stdout, stderr, exitCode] = await Promise.all([textFrom(child.stdout), textFrom(child.stderr), ended])
  clearTimeout(timer)
  return { exitCode, stdout, stderr }
}

async function textFrom(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

async function isInPath(name: string): Promise<boolean> {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const runs = (folder: string) =>
    access(join(folder, name), constants.X_OK).then(
      () => true,
      () => false,
    )
  return (await Promise.all(folders.map(runs))).some((isThere) => isThere)
}

const isProgram = async (path: string): Promise<boolean> => ((await lstat(path)).mode & 0o100) !== 0

const DISK: TreeReader = {
  async list(path) {
    const entries = (await readdir(path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
    const kindOf = (entry: (typeof entries)[number]) =>
      entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'symlink' : 'file'
    return Promise.all(
      entries.map(async (entry) => ({
        name: entry.name,
        kind: kindOf(entry),
        executable: entry.isFile() && (await isProgram(join(path, entry.name))),
      })),
    )
  },
  // Otherwise reading from a remaining pipe would never end.
  read: async (path) => ((await lstat(path)).isFile() ? new Uint8Array(await readFile(path)) : new Uint8Array()),
  readLink: (path) => readlink(path),
}

async function fixtureEntries(folder: string): Promise<FixtureEntry[]> {
  return Promise.all(
    (await pathsIn(folder)).map(async ({ path, stat }) => {
      const full = join(folder, path)
      const common = { path, mtimeMs: Math.trunc(stat.mtimeMs) }
      if (stat.isDirectory()) return { ...common, kind: 'directory' as const }
      if (stat.isSymbolicLink()) return { ...common, kind: 'symlink' as const, target: await readlink(full) }
      const executable = (stat.mode & 0o100) !== 0
      return {
        ...common,
        kind: 'file' as const,
        base64: Buffer.from(await readFile(full)).toString('base64'),
        executable,
      }
    }),
  )
}

/** All paths beneath the folder, in their order; no link is followed, as the library's own walk would. */
async function pathsIn(folder: string, under = ''): Promise<{ path: string; stat: Stats }[]> {
  const names = (await readdir(join(folder, under))).sort()
  const found = names.map(async (name) => {
    const path = join(under, name)
    const stat = await lstat(join(folder, path))
    return [{ path, stat }, ...(stat.isDirectory() ? await pathsIn(folder, path) : [])]
  })
  return (await Promise.all(found)).flat()
}
