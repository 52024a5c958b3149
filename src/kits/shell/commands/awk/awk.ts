// `awk`: the POSIX language, with the common extensions of mawk and gawk.

import { isFileError } from '../../../../workspace/file-system.ts'
import { shellMessage } from '../../interpreter-command.ts'
import type { ShellCall, ShellResult } from '../../shell-extensions.ts'
import { OutputLimitError, readText, wordIn } from '../text-files.ts'
import { compile } from './compile.ts'
import { unescapeString } from './lexer.ts'
import { Machine } from './machine.ts'
import { assign } from './main-input.ts'
import { parseProgram } from './parser.ts'
import { AwkError } from './syntax.ts'
import { Input } from './values.ts'

interface Settings {
  program: string
  separator: string | null
  assignments: string[]
  operands: string[]
}

const EXIT_TROUBLE = 2
const VERSION = 'mawk 1.3.4 compatible, of Bellwether\n'
const USAGE = 'Usage: awk [-F value] [-v var=value] [-f file | program] [--] [file ...]\n'

export async function runAwk(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const machine = new Machine(call)
  try {
    if (args.length === 0) return { stdout: USAGE, stderr: '', exitCode: 0 }
    if (/^(-W *)?v(ersion)?$/.test(args.slice(0, 2).join('').slice(0, 9)) || args[0] === '-Wversion')
      return { stdout: VERSION, stderr: '', exitCode: 0 }
    const settings = await settingsOf(args, call)
    prepare(machine, settings)
    compile(parseProgram(settings.program), machine)
    await machine.run()
    await machine.streams.end()
    return machine.output.result(machine.exitCode)
  } catch (error) {
    return failure(machine, error)
  }
}

async function failure(machine: Machine, error: unknown): Promise<ShellResult> {
  if (!(error instanceof AwkError) && !(error instanceof OutputLimitError) && !isFileError(error)) throw error
  const message = isFileError(error) ? shellMessage(error) : error.message
  machine.output.addError(`awk: ${message}\n`)
  if (message.startsWith('run time error')) machine.output.addError(`\t${whereabouts(machine)}\n`)
  // Earlier output is kept.
  if (!isFileError(error)) await machine.streams.flush()
  return machine.output.result(EXIT_TROUBLE)
}

function whereabouts({ variables }: Machine): string {
  const file = variables.text(variables.variable('FILENAME').get())
  return `FILENAME="${file}" FNR=${variables.fnr} NR=${variables.nr}`
}

function prepare({ variables, call }: Machine, { separator, assignments, operands }: Settings): void {
  const environment = variables.array('ENVIRON')
  for (const [name, value] of Object.entries(call.env)) environment.set(name, new Input(value))
  const words = variables.array('ARGV')
  for (const [i, word] of ['awk', ...operands].entries()) words.set(String(i), new Input(word))
  variables.variable('ARGC').set(operands.length + 1)
  if (separator !== null) variables.variable('FS').set(unescapeString(separator))
  for (const assignment of assignments) {
    if (!assign(assignment, variables)) throw new AwkError(`improper assignment: -v ${assignment}`)
  }
}

async function settingsOf(args: readonly string[], call: ShellCall): Promise<Settings> {
  const settings: Settings = { program: '', separator: null, assignments: [], operands: [] }
  const programs: string[] = []
  let at = 0
  for (; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') {
      at++
      break
    }
    if (!arg.startsWith('-') || arg === '-') break
    const letter = arg.charAt(1)
    if (!'Fvf'.includes(letter)) throw new AwkError(`not an option: ${arg}`)
    const value = arg.length > 2 ? arg.slice(2) : args[++at]
    if (value === undefined) throw new AwkError(`option ${arg} lacks argument`)
    if (letter === 'F') settings.separator = value
    else if (letter === 'v') settings.assignments.push(value)
    else programs.push(await programOf(value, call))
  }
  const isInline = programs.length === 0
  const inline = args[at]
  if (isInline && inline === undefined) throw new AwkError('no program')
  settings.program = isInline ? wordIn(call, inline ?? '') : programs.join('\n')
  settings.assignments = settings.assignments.map((one) => wordIn(call, one))
  if (settings.separator !== null) settings.separator = wordIn(call, settings.separator)
  settings.operands = args.slice(isInline ? at + 1 : at)
  return settings
}

async function programOf(name: string, call: ShellCall): Promise<string> {
  try {
    return await readText(call, name)
  } catch (error) {
    throw new AwkError(`cannot open ${name} (${shellMessage(error)})`)
  }
}
