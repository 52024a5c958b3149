// `xargs` like GNU's. The interpreter's version supports neither joined options nor quotes, and splits lines where `-I`
// must not.

import { textToBytes } from '../../../../workspace/text-encodings.ts'
import {
  type Context,
  inBytes,
  passedFunctions,
  quoted,
  type Result,
  shellMessage,
  withVariables,
} from '../../interpreter-command.ts'
import { versionText } from '../versions.ts'
import { type CommandLines, commandLines } from './input.ts'
import { Misuse, type Settings, xargsSettings } from './options.ts'

const NOT_RUN = 126
const NOT_FOUND = 127
const EXIT_STOPPED = 124
const EXIT_SOME_FAILED = 123

export async function xargs(args: string[], context: Context): Promise<Result> {
  try {
    const version = versionText('xargs', args)
    if (version !== null) return { stdout: version, stderr: '', exitCode: 0 }
    const settings = xargsSettings(args)
    return await runAll(commandLines(settings, await inputOf(settings, context)), settings, context)
  } catch (error) {
    if (!(error instanceof Misuse)) throw error
    return { stdout: '', stderr: `xargs: ${error.message}\n`, exitCode: 1 }
  }
}

async function inputOf({ file }: Settings, context: Context): Promise<string> {
  const { fs, cwd } = context
  if (file === null) return new TextDecoder().decode(textToBytes(String(context.stdin), 'latin1'))
  try {
    return await fs.readFile(fs.resolvePath(cwd, file))
  } catch (error) {
    throw new Misuse(`Cannot open input file ${shownFile(file)}: ${shellMessage(error)}`)
  }
}

const shownFile = (name: string): string => `\u2018${name}\u2019`

async function runAll({ groups, problem }: CommandLines, settings: Settings, context: Context): Promise<Result> {
  let [stdout, stderr, exitCode] = ['', settings.warnings, 0]
  const result = (code: number): Result => ({ stdout, stdoutKind: 'bytes', stderr, exitCode: code })
  for (const words of groups) {
    const command = settings.replaced === null ? settings.command : words
    const added = settings.replaced === null ? words : []
    if (settings.isVerbose) stderr += `${[...command, ...added].join(' ')}\n`
    const ended = await runOne(command, added, { settings, context })
    stdout += inBytes(ended)
    stderr += ended.stderr
    if (ended.exitCode === NOT_RUN || ended.exitCode === NOT_FOUND) return result(ended.exitCode)
    if (ended.exitCode === 255) {
      stderr += `xargs: ${command[0]}: exited with status 255; aborting\n`
      return result(EXIT_STOPPED)
    }
    if (ended.exitCode !== 0) exitCode = EXIT_SOME_FAILED
  }
  if (problem === null) return result(exitCode)
  stderr += `xargs: ${problem}\n`
  return result(1)
}

type Running = { settings: Settings; context: Context }

/** The words of the input are not put into a script, which would have to be parsed. */
async function runOne(command: readonly string[], added: string[], { settings, context }: Running): Promise<Result> {
  const { exec, cwd, signal } = context
  if (!exec) throw new Misuse('cannot run commands here')
  const slot = settings.slot === null ? '' : `${settings.slot}=0 `
  const ended = await exec(slot + withVariables(command.map(quoted).join(' '), context), {
    cwd,
    args: added,
    ...passedFunctions(context),
    ...(signal && { signal }),
  })
  return { ...ended, stderr: inWordsOfXargs(command[0] ?? '', ended) }
}

/** If a command cannot be run, the message is from `xargs` itself, not from a shell. */
function inWordsOfXargs(name: string, { stderr, exitCode }: Result): string {
  if (exitCode !== NOT_RUN && exitCode !== NOT_FOUND) return stderr
  if (stderr === `bash: ${name}: command not found\n`) return `xargs: ${name}: No such file or directory\n`
  return stderr.startsWith(`bash: ${name}: `) ? stderr.replace('bash', 'xargs') : stderr
}
