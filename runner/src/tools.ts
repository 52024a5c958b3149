// The programs of the machine that a conversation can use, searched in the sandbox's path.

import { spawnSync } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { FoundTool } from '../../src/runners/wire.ts'

const PROBES: readonly { name: string; commands: readonly string[]; args: readonly string[] }[] = [
  { name: 'bash', commands: ['bash'], args: ['--version'] },
  { name: 'python', commands: ['python3', 'python'], args: ['--version'] },
  { name: 'pip', commands: ['pip3', 'pip'], args: ['--version'] },
  { name: 'node', commands: ['node'], args: ['--version'] },
  { name: 'npm', commands: ['npm'], args: ['--version'] },
  { name: 'git', commands: ['git'], args: ['--version'] },
  { name: 'gcc', commands: ['gcc', 'cc'], args: ['--version'] },
  { name: 'clang', commands: ['clang'], args: ['--version'] },
  { name: 'make', commands: ['make'], args: ['--version'] },
  { name: 'go', commands: ['go'], args: ['version'] },
  { name: 'rustc', commands: ['rustc'], args: ['--version'] },
  { name: 'java', commands: ['java'], args: ['-version'] },
  { name: 'chromium', commands: ['chromium', 'chromium-browser', 'google-chrome'], args: ['--version'] },
  { name: 'jupyter', commands: ['jupyter'], args: ['--version'] },
]

const PROBE_TIMEOUT_MS = 10_000

/** A Python that can run a notebook's kernel, and the kernel's version. */
export type KernelPython = { readonly file: string; readonly version: string }
// Only checks for the modules, because importing them takes half a second.
const KERNEL_PROBE = `import importlib.util as u, importlib.metadata as m
assert u.find_spec('ipykernel') and u.find_spec('jupyter_client')
print(m.version('ipykernel'))`

/** The first one in the path; null for none. */
export function findKernelPython(path: string): KernelPython | null {
  for (const folder of path.split(delimiter)) {
    const file = onPath('python3', folder)
    const version = file === null ? null : versionOf(file, ['-c', KERNEL_PROBE], { PATH: path, HOME: tmpdir() })
    if (file !== null && version !== null) return { file, version }
  }
  return null
}

export function findTools(path: string): FoundTool[] {
  // Some programs write to the home folder even when asked for their version.
  const home = mkdtempSync(join(tmpdir(), 'bellwether-tools-'))
  try {
    return PROBES.flatMap(({ name, commands, args }) => {
      const file = commands.map((command) => onPath(command, path)).find((found) => found !== null)
      const version = file === undefined || file === null ? null : versionOf(file, args, { PATH: path, HOME: home })
      return version === null ? [] : [{ name, version }]
    })
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Null if no folder of the path contains it. */
export function onPath(command: string, path: string): string | null {
  for (const folder of path.split(delimiter)) {
    try {
      accessSync(join(folder, command), constants.X_OK)
      return join(folder, command)
    } catch {
      // Not in this folder: try the next one.
    }
  }
  return null
}

/** Null for a program that exists and does not run. */
export function versionOf(file: string, args: readonly string[], env: NodeJS.ProcessEnv): string | null {
  const { status, stdout, stderr } = spawnSync(file, [...args], {
    env,
    encoding: 'utf8',
    timeout: PROBE_TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (status !== 0) return null
  const first = `${stdout}\n${stderr}`.split('\n').find((line) => /\d/.test(line)) ?? ''
  return (/\d+(\.\d+)+[\w.+-]*/.exec(first)?.[0] ?? first.trim()).slice(0, 100)
}
