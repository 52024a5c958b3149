// Commands about the shell and its jobs: `caller`, `enable`, `disown`, `times`, and the commands of an interactive
// shell.

import type { Position } from './position.ts'
import type { ShellVariables, StepResult } from './shape.ts'

/** Null for a command of another kind. */
export function runOfShell(
  state: ShellVariables,
  { jobs }: Position,
  { name, args }: { name: string; args: readonly string[] },
): StepResult | null {
  switch (name) {
    case 'caller':
      return caller(state, args)
    case 'enable':
      return enable(args)
    case 'disown':
      return jobs.disown(args)
    case 'times':
      // The time of a single script is not measured.
      return said('0m0.000s 0m0.000s\n0m0.000s 0m0.000s\n')
    case 'suspend':
      return failed('suspend: cannot suspend: no job control')
    case 'bg':
    case 'fg':
      return failed(`${name}: no job control`)
    case 'logout':
      return failed("logout: not login shell: use `exit'")
    default:
      return null
  }
}

/** The line and the file of a call; with a number also the calling function. */
function caller(
  { callLineStack = [], funcNameStack = [], sourceStack = [] }: ShellVariables,
  args: readonly string[],
): StepResult {
  const [given] = args
  if (given !== undefined && !/^\d+$/.test(given)) return failed(`caller: ${given}: invalid number`, 2)
  const depth = Number(given ?? 0)
  const line = callLineStack[depth]
  const file = sourceStack[depth + 1]
  if (line === undefined) return { stdout: '', stderr: '', exitCode: 1 }
  if (given === undefined) return said(`${line} ${file ?? 'NULL'}\n`)
  const name = funcNameStack[depth + 1]
  const isWhole = name !== undefined && file !== undefined
  return isWhole ? said(`${line} ${name} ${file}\n`) : { stdout: '', stderr: '', exitCode: 1 }
}

const BUILTINS: ReadonlySet<string> = new Set(
  `. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec
  exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray
  readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait`.split(
    /\s+/,
  ),
)

function enable(args: readonly string[]): StepResult {
  const names = args.filter((arg) => !arg.startsWith('-'))
  const letters = args.filter((arg) => arg.startsWith('-')).join('')
  const unknown = names.find((name) => !BUILTINS.has(name))
  if (unknown !== undefined) return failed(`enable: ${unknown}: not a shell builtin`)
  if (/[^-aps]/.test(letters)) return failed(`enable: ${letters}: builtins cannot be turned off or loaded here`)
  if (names.length > 0) return said('')
  return said([...BUILTINS].map((name) => `enable ${name}\n`).join(''))
}

const said = (stdout: string): StepResult => ({ stdout, stderr: '', exitCode: 0 })
const failed = (message: string, exitCode = 1): StepResult => ({ stdout: '', stderr: `bash: ${message}\n`, exitCode })
