// The real git as a program on the servers' core: the same files in a folder of this machine, and a process for each
// question, as a service that calls git would start one.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { serveCalls } from './pinned-process.ts'

export type GitCalls = {
  /** Makes a repository with these files committed; answers its folder. */
  make(files: readonly (readonly [path: string, text: string])[]): Promise<string>
  /** Writes files, untimed, then asks. */
  ask(job: {
    folder: string
    files: readonly (readonly [path: string, text: string])[]
    args: readonly string[]
  }): Promise<{ ms: number; output: string }>
}

const root = mkdtempSync(join(tmpdir(), 'bellwether-bench-git-'))
const IDENTITY = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com', '-c', 'gc.auto=0']
const ENV = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' }
let made = 0

const git = (cwd: string, args: readonly string[]): string =>
  execFileSync('git', [...IDENTITY, ...args], { cwd, env: ENV, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })

function write(folder: string, files: readonly (readonly [string, string])[]): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

const calls: GitCalls = {
  make: async (files) => {
    const folder = join(root, String(made++))
    mkdirSync(folder)
    write(folder, files)
    git(folder, ['init', '-q', '-b', 'main'])
    git(folder, ['add', '-A'])
    git(folder, ['commit', '-q', '-m', 'all'])
    return folder
  },
  ask: async ({ folder, files, args }) => {
    write(folder, files)
    const startedAt = performance.now()
    const output = git(folder, args)
    return { ms: performance.now() - startedAt, output }
  },
}

serveCalls(calls, async () => rmSync(root, { recursive: true, force: true }))
