// What a script is to bash itself, besides the commands that it runs: loops under every option, traps, child shells, jobs,
// traces, redirections. Each of the fixture's scripts is run by the real bash of this machine and by ours.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runScript } from '../../../../src/kits/shell/index.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'
import { ROOT } from '../../../support/source-tree.ts'

const SCRIPTS = readFileSync(join(ROOT, 'test/fixtures/shell/scripts.txt'), 'utf8').trimEnd().split('\n%%\n')
const ENV = { PATH: '/usr/bin:/bin', HOME: '/home/user', LANG: 'C.UTF-8' }

const version = /version (\d+)/.exec(spawnSync('bash', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1]

test.skipIf(version === undefined || Number(version) < 5)(
  `${SCRIPTS.length} scripts end as with the real bash`,
  async () => {
    const different: object[] = []
    for (const script of SCRIPTS) {
      const [expected, ours] = [real(script), await run(script)]
      if (expected !== ours) different.push({ script, expected, ours })
    }
    expect(different).toEqual([])
  },
)

function real(script: string): string {
  const cwd = mkdtempSync(join(tmpdir(), 'bash-'))
  try {
    const merged = `exec 2>&1\n${script}`
    const options = { cwd, env: ENV, encoding: 'utf8', input: '', timeout: 60_000 } as const
    const { stdout, status } = spawnSync('bash', ['-c', merged], options)
    return comparable(stdout, status ?? -1)
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

async function run(script: string): Promise<string> {
  const { output, exitCode } = await runScript({ fs: new MemoryFileSystem(), script, cwd: '/workspace', env: {} })
  return comparable(output, exitCode)
}

/** Ours does not say in which line something failed. */
function comparable(output: string, status: number): string {
  return `${output.replace(/^bash: (-c: )?(line \d+: )?/gm, 'bash: ').replace(/: line \d+: /g, ': ')}[${status}]`
}
