// `env`: the interpreter's shows variables that were never exported, and hides those that it sets from a shell that it runs.

import { type Context, IS_NAME, quoted, type Result, withVariables } from '../interpreter-command.ts'

/** Sets, takes away and shows exported variables, and runs a command with them. */
export async function env(args: string[], context: Context): Promise<Result> {
  const exported = context.exportedEnv ?? {}
  const set = new Map<string, string>()
  const unset = new Set<string>()
  let at = 0
  for (; at < args.length; at++) {
    const arg = args[at] ?? ''
    const [, unsetName] = /^(?:-u|--unset=)(.+)$/s.exec(arg) ?? []
    if (arg === '-' || arg === '-i' || arg === '--ignore-environment') for (const name in exported) unset.add(name)
    else if (arg === '-u' || arg === '--unset') unset.add(args[++at] ?? '')
    else if (unsetName !== undefined) unset.add(unsetName)
    else if (/^[A-Za-z_]\w*=/.test(arg)) set.set(arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1))
    else if (arg.startsWith('-') && arg !== '--') return envFailure(`option ${arg} is not available here`)
    else break
  }
  const command = args.slice(args[at] === '--' ? at + 1 : at)
  if (command.length === 0) {
    const kept = Object.entries(exported).filter(([name]) => !unset.has(name) && !set.has(name))
    const lines = [...kept, ...set].map(([name, value]) => `${name}=${value}\n`)
    return { stdout: lines.join(''), stderr: '', exitCode: 0 }
  }
  const run = context.execWithInheritedStdin ?? context.exec
  if (!run) return envFailure('cannot run commands here')
  const kept = Object.fromEntries([...Object.entries(exported).filter(([name]) => !unset.has(name)), ...set])
  const script = withVariables(command.map(quoted).join(' '), { exportedEnv: kept })
  const removed = [...unset].filter((name) => IS_NAME.test(name) && !set.has(name))
  return run(removed.length > 0 ? `unset ${removed.join(' ')}; ${script}` : script, { cwd: context.cwd })
}

function envFailure(message: string): Result {
  return { stdout: '', stderr: `env: ${message}\n`, exitCode: 125 }
}
