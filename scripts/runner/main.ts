// `npm run runner`: starts a runner on this machine for the service of `npm start`, without configuration. The service stores
// a token for it in its state folder, which no other user can read.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../start/fault.ts'
import { ROOT } from '../start/paths.ts'
import { readSettings } from '../start/settings.ts'

/** Runs the runner with these further options, and ends this process with its exit code. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    process.exitCode = await runRunner(runnerArguments(args, process.env))
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}

/** Given options override the values of the local service. */
export function runnerArguments(args: readonly string[], env: Readonly<Record<string, string | undefined>>): string[] {
  const isSaid = (name: string) => args.some((arg) => arg === name || arg.startsWith(`${name}=`))
  if (isSaid('--help') || isSaid('--version') || isSaid('--url')) return [...args]
  const { port, stateDir } = readSettings(env)
  const token = join(stateDir, 'runner-token')
  const hasKey = isSaid('--key') || isSaid('--key-file')
  if (!hasKey && !existsSync(token)) {
    throw new Fault(`There is no ${token}: start the service first with "npm start", or say --url and --key-file.`)
  }
  return ['--url', `http://127.0.0.1:${port}`, ...(hasKey ? [] : ['--key-file', token]), ...args]
}

function runRunner(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [join(ROOT, 'runner', 'src', 'main.ts'), ...args], { stdio: 'inherit' })
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  // A Ctrl-C of the terminal reaches the child by itself.
  process.on('SIGINT', () => {})
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}
