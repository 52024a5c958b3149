// Commands for files, times and data, each line of the fixture in our shell and in the machine's real one: what is written to
// the standard output and how it ends must be the same.

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runPatch } from '../../../../src/kits/shell/commands/patch/patch.ts'
import { runTar } from '../../../../src/kits/shell/commands/tar/tar.ts'
import { runScript } from '../../../../src/kits/shell/index.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'
import { needPrograms } from '../../../support/programs.ts'

const NEEDED = ['bash', 'jq', 'patch', 'tar', 'dd', 'install']
const TIMEOUT_MS = 300_000
const COMMANDS = [
  { name: 'tar', run: runTar },
  { name: 'patch', run: runPatch },
]

const linesOf = async (): Promise<string[]> => {
  const text = await readFile(new URL('../../../fixtures/shell/files-and-data.txt', import.meta.url), 'utf8')
  return text.split('\n').filter((line) => line !== '')
}

/** The errors are not compared: their order among the rest is not that of a terminal. */
const quiet = (line: string): string => `{ ${line}\n} 2> /dev/null`

type Ended = { stdout: string; exitCode: number }

async function ours(line: string): Promise<Ended> {
  const fs = new MemoryFileSystem()
  const { output, exitCode } = await runScript({
    fs,
    script: quiet(line),
    cwd: '/workspace',
    env: {},
    commands: COMMANDS,
  })
  return { stdout: output, exitCode }
}

async function real(line: string): Promise<Ended> {
  const cwd = await mkdtemp(join(tmpdir(), 'shell-files-'))
  const env = { PATH: process.env.PATH, HOME: '/home/user', LC_ALL: 'C.UTF-8', TZ: 'UTC' }
  const ended = await new Promise<Ended>((resolve) => {
    const child = execFile('bash', ['-c', quiet(line)], { cwd, env, timeout: 60_000 }, (error, stdout) => {
      resolve({ stdout, exitCode: typeof error?.code === 'number' ? error.code : 0 })
    })
    child.stdin?.end()
  })
  await rm(cwd, { recursive: true, force: true })
  return ended
}

test('commands for files, times and data answer as the real ones do', { timeout: TIMEOUT_MS }, async ({ skip }) => {
  needPrograms(skip, ...NEEDED)
  const lines = await linesOf()
  expect(lines.length).toBeGreaterThan(100)
  for (const line of lines) expect(await ours(line), line).toEqual(await real(line))
})
