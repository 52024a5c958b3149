// Runs the machine's git in a folder of the workspace, in the conversation's sandbox and without its network: programs
// that a repository's configuration makes git run could also be run by the conversation's commands.

import { execFile } from 'node:child_process'
import { type ConversationFolders, type LaunchPlan, programLaunch } from './launch.ts'

const WITHIN_MS = 10_000
const MAX_BYTES = 8 * 1024 * 1024
const SETTINGS = ['-c', 'core.fsmonitor=false', '-c', 'core.quotePath=false']

/** Git's output, split at each NUL; null if it failed, or its time or output exceeded the limit. */
export function askGit(
  folder: string,
  args: readonly string[],
  { folders, plan }: { folders: ConversationFolders; plan: LaunchPlan },
): Promise<string[] | null> {
  const line = ['-C', `./${folder}`, ...SETTINGS, ...args]
  const program = { command: 'git', args: line, env: { GIT_OPTIONAL_LOCKS: '0' } }
  const launch = programLaunch(program, { folders, plan: { ...plan, network: 'none' } })
  const { cwd, env } = launch
  const options = { cwd, env, timeout: WITHIN_MS, killSignal: 'SIGKILL', maxBuffer: MAX_BYTES } as const
  return new Promise((resolve) => {
    execFile(launch.command, launch.args, options, (error, stdout) => {
      resolve(error === null ? stdout.split('\0').filter((path) => path !== '') : null)
    })
  })
}
