// The real bash as a program on the servers' core: a process for each script, in a folder of this machine.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveCalls } from './pinned-process.ts'

export type BashCalls = {
  /** Runs a script to its end. */
  run(script: string): Promise<{ ms: number; output: string }>
}

const folder = mkdtempSync(join(tmpdir(), 'bellwether-bench-bash-'))
const ENV = { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8' }

const calls: BashCalls = {
  run: async (script) => {
    const startedAt = performance.now()
    const output = execFileSync('bash', ['-c', script], {
      cwd: folder,
      env: ENV,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })
    return { ms: performance.now() - startedAt, output }
  },
}

serveCalls(calls, async () => rmSync(folder, { recursive: true, force: true }))
