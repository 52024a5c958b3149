// `sed` like GNU's.

import { isFileError } from '../../../../workspace/file-system.ts'
import { shellMessage } from '../../interpreter-command.ts'
import { losslessBytes } from '../../lossless-text.ts'
import type { ShellCall, ShellResult } from '../../shell-extensions.ts'
import { CommandOutput, OutputLimitError, readText, wordIn } from '../text-files.ts'
import { readSettings, type Settings, USAGE, VERSION } from './options.ts'
import { editProblem, LineWriter, replaceFile, WrittenFiles } from './output.ts'
import { parseScript, type Script } from './parser.ts'
import { Runner } from './run.ts'
import { SedError } from './script.ts'
import type { Piece } from './source.ts'

const EXIT_TROUBLE = 4

export async function runSed(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const read = readSettings(args)
  if (read.kind === 'misuse') return { stdout: '', stderr: read.message, exitCode: read.exitCode }
  if (read.kind !== 'settings') return { stdout: read.kind === 'help' ? USAGE : VERSION, stderr: '', exitCode: 0 }
  const output = new CommandOutput()
  try {
    const { exitCode, stdinTaken } = await edit(read.settings, { call, output })
    return { ...output.result(exitCode), ...(stdinTaken === null ? {} : { stdinTaken }) }
  } catch (error) {
    if (error instanceof SedError || error instanceof OutputLimitError) output.addError(`sed: ${error.message}\n`)
    else if (isFileError(error)) output.addError(`sed: ${error.path}: ${shellMessage(error)}\n`)
    else throw error
    return output.result(error instanceof SedError ? error.exitCode : EXIT_TROUBLE)
  }
}

type Edited = { exitCode: number; stdinTaken: number | null }
type RunContext = { call: ShellCall; output: CommandOutput }

async function edit(settings: Settings, context: RunContext): Promise<Edited> {
  const { call, output } = context
  const pieces: Piece[] = []
  for (const { kind, value } of settings.scripts)
    pieces.push(kind === 'text' ? { text: wordIn(call, value), file: null } : await scriptFile(value, call))
  const script = parseScript(pieces, settings)
  const separator = settings.isZero ? '\0' : '\n'
  const stdout = new LineWriter((text) => output.add(text), separator)
  const written = new WrittenFiles(call, output, separator)
  for (const name of filesWritten(script)) await written.open(name, stdout)
  const deps = { settings, script, separator, stdout, written }
  const edited =
    settings.suffix === null
      ? await editStream(deps, context)
      : { exitCode: await editInPlace(deps, context), stdinTaken: null }
  await written.flush()
  return edited
}

interface EditDeps {
  settings: Settings
  script: Script
  separator: string
  stdout: LineWriter
  written: WrittenFiles
}

async function editStream(deps: EditDeps, context: RunContext): Promise<Edited> {
  const runner = new Runner({ ...deps, ...context, files: deps.settings.files, target: deps.stdout })
  const end = await runner.run()
  return { exitCode: end.exitCode ?? runner.problemCode, stdinTaken: runner.stdinTaken }
}

/** Each file is written when all of it has been read. On quit, the rest of it and all other files are unchanged. */
async function editInPlace(deps: EditDeps, context: RunContext): Promise<number> {
  const { settings, separator } = deps
  let problemCode = 0
  let memory = { hold: '', hasEnd: true }
  for (const name of settings.files) {
    const problem = editProblem(context.call, name)
    if (problem) {
      context.output.addError(`sed: ${problem.message}\n`)
      problemCode = problem.exitCode
      continue
    }
    const lines: string[] = []
    const target = new LineWriter((text) => lines.push(text), separator)
    const runner = new Runner({ ...deps, ...context, files: [name], target, memory })
    const end = await runner.run()
    memory = runner.memory
    const bytes = losslessBytes(lines.join(''))
    await replaceFile(context.call, name, { bytes, suffix: settings.suffix ?? '' })
    if (end.exitCode !== null) return end.exitCode
  }
  return problemCode
}

function filesWritten({ commands }: Script): string[] {
  return commands.flatMap(({ action }) => {
    if (action.kind === 'w' || action.kind === 'W') return [action.file]
    return action.kind === 's' && action.substitution.file !== null ? [action.substitution.file] : []
  })
}

async function scriptFile(name: string, call: ShellCall): Promise<Piece> {
  try {
    const text = await readText(call, name)
    return { text: text.endsWith('\n') ? text.slice(0, -1) : text, file: name }
  } catch (error) {
    throw new SedError(`couldn't open file ${name}: ${shellMessage(error)}`, EXIT_TROUBLE)
  }
}
