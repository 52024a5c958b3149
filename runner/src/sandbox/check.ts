// Tests the sandbox before the runner offers it.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { SANDBOX_ENV, sandboxLine } from './bwrap.ts'
import type { LaunchPlan } from './launch.ts'
import { writeRunFiles } from './run-files.ts'

const TRY_MS = 10_000

/** Advice for a machine without sandbox support; null on Linux. */
export function notLinux(): string | null {
  if (platform() === 'linux') return null
  return `The sandbox needs Linux (bubblewrap), and this is ${platform()}: there is no isolation here. Run the runner in a Linux machine or container, or, on a machine of your own whose files you are ready to lend, with --isolation none: commands then run with your rights.`
}

/** What to install or to configure; null if the sandbox works. */
export function sandboxProblem(plan: LaunchPlan): string | null {
  const missing = [
    { command: 'bwrap', package: 'bubblewrap', isNeeded: true },
    { command: 'socat', package: 'socat', isNeeded: plan.network === 'list' },
  ].filter(
    ({ command, isNeeded }) =>
      isNeeded &&
      spawnSync(command, [command === 'bwrap' ? '--version' : '-V'], { timeout: TRY_MS }).error !== undefined,
  )
  if (missing.length > 0) {
    const names = missing.map((one) => one.package).join(' ')
    return `The sandbox needs ${names}: apt install ${names} (or dnf, pacman, apk). Without a sandbox: --isolation none, and commands run with your rights.`
  }
  const why = tryIt(plan)
  return why === null
    ? null
    : `The sandbox does not start here: ${why}. Often the kernel forbids user namespaces: sysctl kernel.unprivileged_userns_clone=1, or on Ubuntu sysctl kernel.apparmor_restrict_unprivileged_userns=0; in a container they need --security-opt seccomp=unconfined. Without a sandbox: --isolation none, and commands run with your rights.`
}

function tryIt(plan: LaunchPlan): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-sandbox-'))
  try {
    const folders = { workspace: join(folder, 'workspace'), home: join(folder, 'home'), run: join(folder, 'run') }
    for (const path of Object.values(folders)) mkdirSync(path)
    writeRunFiles(folders.run, plan)
    const { command, args } = sandboxLine(['bash', '-c', 'echo it works'], folders, plan)
    const options = { env: { ...SANDBOX_ENV }, encoding: 'utf8', timeout: TRY_MS } as const
    const { status, stdout, stderr, error } = spawnSync(command, args, options)
    if (status === 0 && stdout === 'it works\n') return null
    return (error?.message ?? stderr.trim()) || `it ended with ${status}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
