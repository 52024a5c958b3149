// `mapfile` and `readarray`: the interpreter's version ignores unsupported options (`-C`, `-c`, `-u`, combined
// options), and always reads all of its input.

import { bytesToText, textToBytes } from '../../../workspace/text-encodings.ts'
import { quoted } from '../interpreter-command.ts'
import type { Watched } from './position.ts'
import { joinedResults } from './position.ts'
import type { CommandCall, ShellVariables, StepResult } from './shape.ts'
import { textTaken } from './taken-text.ts'
import { literal } from './words-alone.ts'

const USAGE =
  'mapfile: usage: mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]\n'
const DONE: StepResult = { stdout: '', stderr: '', exitCode: 0 }
const NAME = /^[A-Za-z_]\w*$/
const EACH = 5000

interface Call {
  name: string
  delimiter: string
  trims: boolean
  /** 0 for all. */
  count: number
  skipped: number
  /** Without one, the array is cleared first. */
  origin: number | null
  descriptor: string | null
  callback: string | null
  quantum: number
}

export async function runMapfile(shell: Watched, [called, args, , stdin]: CommandCall): Promise<StepResult> {
  const call = readCall(args)
  if ('exitCode' in call) return withName(call, called)
  if (call.descriptor !== null) return withName(await fromDescriptor(shell, call.descriptor, args), called)
  const { state, limits } = shell.ctx
  const refused = refusal(state, call)
  if (refused !== null) return withName(refused, called)
  const isOfGroup = stdin === '' && state.groupStdin !== undefined
  const input = isOfGroup ? (state.groupStdin ?? '') : stdin
  const { pieces, end } = piecesOf(input, call)
  if (isOfGroup) state.groupStdin = input.slice(end)
  const result = await store(shell, call, pieces)
  const isTooLarge = (state.arrays?.get(call.name)?.elements.size ?? 0) > limits.maxArrayElements
  if (isTooLarge) return failed(`more than ${limits.maxArrayElements} elements`)
  return { ...result, internalStdinConsumed: end } as StepResult
}

function readCall(args: readonly string[]): Call | StepResult {
  const values = new Map<string, string>()
  let at = 0
  for (; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--' && ++at >= 0) break
    if (!/^-./.test(arg)) break
    const [, flags = '', letter, rest = ''] = /^-(t*)(.?)([\s\S]*)$/.exec(arg) ?? []
    if (flags !== '') values.set('t', '')
    if (!letter) continue
    if (!'CcdnOsu'.includes(letter))
      return {
        ...failed(`-${letter}: invalid option`, 2),
        stderr: `bash: mapfile: -${letter}: invalid option\n${USAGE}`,
      }
    const value = rest === '' ? args[++at] : rest
    if (value === undefined)
      return { ...failed('', 2), stderr: `bash: mapfile: -${letter}: option requires an argument\n${USAGE}` }
    values.set(letter, value)
  }
  return callOf(values, args[at] ?? 'MAPFILE')
}

function callOf(values: ReadonlyMap<string, string>, name: string): Call | StepResult {
  const numbers: [string, string][] = [
    ...([
      ['n', 'line count'],
      ['s', 'line count'],
      ['c', 'callback quantum'],
      ['O', 'array origin'],
    ] as const),
  ].map(([letter, what]) => [letter, what])
  for (const [letter, what] of numbers) {
    const value = values.get(letter)
    if (value !== undefined && (!/^\d+$/.test(value) || (letter === 'c' && Number(value) === 0))) {
      return failed(`${value}: invalid ${what}`)
    }
  }
  const number = (letter: string, otherwise: number) => Number(values.get(letter) ?? otherwise)
  return {
    name,
    delimiter: values.has('d') ? (values.get('d')?.[0] ?? '\0') : '\n',
    trims: values.has('t'),
    ...{ count: number('n', 0), skipped: number('s', 0), quantum: number('c', EACH) },
    origin: values.has('O') ? number('O', 0) : null,
    descriptor: values.get('u') ?? null,
    callback: values.get('C') ?? null,
  }
}

function refusal({ readonlyVars, arrays }: ShellVariables, { name }: Call): StepResult | null {
  if (!NAME.test(name)) return failed(`\`${name}': not a valid identifier`)
  if (readonlyVars?.has(name)) return { ...DONE, stderr: `bash: ${name}: readonly variable\n`, exitCode: 1 }
  return arrays?.get(name)?.kind === 'associative' ? failed(`${name}: not an indexed array`) : null
}

/** The same command again, with the descriptor as its input. */
async function fromDescriptor(shell: Watched, descriptor: string, args: readonly string[]): Promise<StepResult> {
  if (!/^\d+$/.test(descriptor)) return failed(`${descriptor}: invalid file descriptor specification`)
  const words: string[] = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    const [, others, rest] = /^-(t*)u([\s\S]*)$/.exec(arg) ?? []
    if (others === undefined) words.push(arg)
    else if (others !== '') words.push('-t')
    if (others !== undefined && rest === '') i++
    else if (others === undefined && /^-t*[CcdnOs]$/.test(arg)) words.push(args[++i] ?? '')
  }
  const result = await shell.executeCommand(
    {
      type: 'SimpleCommand',
      assignments: [],
      name: literal('mapfile'),
      args: words.map(literal),
      redirections: [{ type: 'Redirection', fd: null, operator: '<&', target: literal(descriptor) }],
    },
    '',
  )
  return result.stderr.endsWith(`${descriptor}: Bad file descriptor\n`)
    ? failed(`${descriptor}: invalid file descriptor: Bad file descriptor`)
    : result
}

/** The elements to store, and the length of the input that was used. */
function piecesOf(input: string, { delimiter, trims, count, skipped }: Call): { pieces: string[]; end: number } {
  const mark = bytesToText(textToBytes(delimiter, 'utf8'), 'latin1')
  const pieces: string[] = []
  let at = 0
  for (let line = 0; at < input.length && (count === 0 || pieces.length < count); line++) {
    const found = input.indexOf(mark, at)
    const end = found < 0 ? input.length : found + mark.length
    const keepsMark = found >= 0 && (trims || delimiter === '\0')
    const bytes = input.slice(at, keepsMark ? found : end).replace(/\0[\s\S]*$/, '')
    if (line >= skipped) pieces.push(textTaken(bytes))
    at = end
  }
  return { pieces, end: at }
}

async function store(shell: Watched, call: Call, pieces: readonly string[]): Promise<StepResult> {
  const { state } = shell.ctx
  const { name, origin, callback, quantum } = call
  state.arrays ??= new Map()
  const kept = origin === null ? undefined : state.arrays.get(name)
  const elements = new Map(kept?.elements)
  const scalar = state.env.get(name)
  if (origin !== null && !kept && scalar !== undefined) elements.set('0', scalar)
  state.env.delete(name)
  state.arrays.set(name, { kind: 'indexed', elements })
  let result = DONE
  for (const [i, piece] of pieces.entries()) {
    const index = (origin ?? 0) + i
    if (callback !== null && (i + 1) % quantum === 0) {
      const called = await shell.runCommand('eval', ['--', `${callback} ${index} ${quoted(piece)}`], [], '', true)
      result = joinedResults(result, called, 0)
    }
    elements.set(String(index), piece)
  }
  return result
}

function failed(message: string, exitCode = 1): StepResult {
  return { stdout: '', stderr: `bash: mapfile: ${message}\n`, exitCode }
}

const withName = (result: StepResult, called: string): StepResult =>
  called === 'mapfile' ? result : { ...result, stderr: result.stderr.replaceAll('mapfile:', `${called}:`) }
