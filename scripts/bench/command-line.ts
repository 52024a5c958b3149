// What the command line does with a folder, as a process of its own on the core of the servers.

import { execFile, spawn } from 'node:child_process'
import { rmSync, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { serveCalls } from './pinned-process.ts'

export type CommandLineCalls = {
  /** `zip -6` into a file. */
  zip(job: { folder: string }): Promise<{ totalMs: number; sizeBytes: number }>
  /** `zip -6` into a pipe, until something comes out. */
  zipBegins(job: { folder: string }): Promise<{ firstByteMs: number }>
  /** `cp -r`, of which nothing stays. */
  copy(job: { folder: string }): Promise<{ totalMs: number }>
}

const run = promisify(execFile)

const calls: CommandLineCalls = {
  zip: async ({ folder }) => {
    const file = `${folder}.zip`
    rmSync(file, { force: true })
    const startedAt = performance.now()
    await run('zip', ['-q', '-6', '-r', file, '.'], { cwd: folder })
    return { totalMs: performance.now() - startedAt, sizeBytes: statSync(file).size }
  },
  zipBegins: async ({ folder }) => {
    const startedAt = performance.now()
    const zip = spawn('zip', ['-q', '-6', '-r', '-', '.'], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] })
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    zip.on('error', reject)
    zip.stdout.once('data', () => resolve(performance.now() - startedAt))
    const firstByteMs = await promise
    zip.kill()
    return { firstByteMs }
  },
  copy: async ({ folder }) => {
    const copy = `${folder}-copy`
    const startedAt = performance.now()
    await run('cp', ['-r', folder, copy])
    const totalMs = performance.now() - startedAt
    rmSync(copy, { recursive: true })
    return { totalMs }
  },
}

serveCalls(calls)
