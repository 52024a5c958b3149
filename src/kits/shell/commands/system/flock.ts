// `flock`: nothing runs in parallel within a script, so every lock is free. It is given by a file name, which is
// created, or by a file descriptor.

import { isFileError } from '../../../../workspace/file-system.ts'
import { quoted, shellMessage } from '../../interpreter-command.ts'
import { resolvePath } from '../../named-path.ts'
import type { ShellCommand } from '../../shell-extensions.ts'
import { type GnuSpec, misuse, readGnuOptions } from '../gnu-options.ts'

const EXIT_USAGE = 64
const EXIT_CANNOT_OPEN = 66
const SPEC: GnuSpec = {
  name: 'flock',
  letters: 'sexnuw:oE:Fc',
  long: {
    ...{ shared: 's', exclusive: 'x', unlock: 'u', nonblock: 'n', nb: 'n', 'timeout=': 'w', wait: 'w', close: 'o' },
    ...{ 'conflict-exit-code=': 'E', 'no-fork': 'F', verbose: 'verbose' },
  },
  stopsAtOperand: true,
  exitCode: EXIT_USAGE,
}

export const runFlock: ShellCommand['run'] = async (args, call) => {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const [file, ...command] = read.operands
  if (file === undefined) return misuse(SPEC, 'not enough arguments')
  const wait = read.value('w')
  if (wait !== undefined && !/^\d*\.?\d+$/.test(wait)) {
    return { stdout: '', stderr: `flock: invalid timeout value: '${wait}'\n`, exitCode: EXIT_USAGE }
  }
  if (command.length === 0) {
    const stderr = /^\d+$/.test(file) ? '' : `flock: bad file descriptor: '${file}'\n`
    return { stdout: '', stderr, exitCode: stderr === '' ? 0 : EXIT_USAGE }
  }
  try {
    const path = resolvePath(call.cwd, file)
    if (!call.wholeTree.exists(path)) await call.fs.write(path, new Uint8Array())
  } catch (error) {
    if (!isFileError(error)) throw error
    return {
      stdout: '',
      stderr: `flock: cannot open lock file ${file}: ${shellMessage(error)}\n`,
      exitCode: EXIT_CANNOT_OPEN,
    }
  }
  const [first, script] = command
  if (first === '-c' || first === '--command') {
    if (script === undefined || command.length > 2) {
      return { stdout: '', stderr: 'flock: -c requires exactly one command argument\n', exitCode: EXIT_USAGE }
    }
    return asResult(await call.execute(`sh -c ${quoted(script)}`, call.cwd, call.stdinBytes))
  }
  return asResult(await call.execute(command.map(quoted).join(' '), call.cwd, call.stdinBytes))
}

function asResult({ stdoutBytes, stderr, exitCode }: { stdoutBytes: Uint8Array; stderr: string; exitCode: number }) {
  return { stdout: '', bytes: stdoutBytes, stderr, exitCode }
}
