import { type Context, NO_SUCH_FILE, quoted, type Result, shellMessage } from '../interpreter-command.ts'

/**
 * Runs the script file that is its first argument, as a name with a slash in it does. The interpreter would run such a
 * file outside everything that lets a script be paused, and would take any text for shell.
 */
export async function runFile([name = '', ...args]: string[], context: Context): Promise<Result> {
  const path = context.fs.resolvePath(context.cwd, name)
  try {
    const { isDirectory, mode } = await context.fs.stat(path)
    if (isDirectory) return runFailure(name, 'Is a directory', 126)
    if ((mode & 0o111) === 0) return runFailure(name, 'Permission denied', 126)
    const [firstLine = ''] = (await context.fs.readFile(path)).split('\n', 1)
    const interpreter = /^#!\s*(.*\S)/.exec(firstLine)?.[1]
    if (interpreter && !/\b(ba|da|a|k|z)?sh\b/.test(interpreter)) {
      return runFailure(name, `${interpreter}: bad interpreter: ${NO_SUCH_FILE}`, 126)
    }
  } catch (error) {
    return runFailure(name, shellMessage(error), 127)
  }
  const run = context.execWithInheritedStdin ?? context.exec
  if (!run) return runFailure(name, 'cannot be run here', 126)
  return run(['bash', name, ...args].map(quoted).join(' '), { cwd: context.cwd })
}

function runFailure(name: string, why: string, exitCode: number): Result {
  return { stdout: '', stderr: `bash: ${name}: ${why}\n`, exitCode }
}
