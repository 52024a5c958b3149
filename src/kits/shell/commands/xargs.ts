// `xargs` as GNU's. The interpreter's knows no joined options and no quotes, and splits lines where `-I` must not.

import { byteLength } from '../../../workspace/file-system.ts'
import { textToBytes } from '../../../workspace/text-encodings.ts'
import {
  type Context,
  inBytes,
  passedFunctions,
  quoted,
  type Result,
  shellMessage,
  withVariables,
} from '../interpreter-command.ts'

interface Settings {
  separator: string | null
  replaced: string | null
  maxWords: number
  maxLines: number
  /** Of a command with its words, each with what ends it. */
  maxChars: number
  isVerbose: boolean
  skipsEmpty: boolean
  file: string | null
  command: string[]
}

/** As long as a command line may be elsewhere. */
const MAX_COMMAND_CHARS = 128 * 1024

const LONG: Record<string, string> = {
  '--null': '0',
  '--max-args': 'n',
  '--max-lines': 'L',
  '--replace': 'I',
  '--delimiter': 'd',
  '--max-procs': 'P',
  '--no-run-if-empty': 'r',
  '--verbose': 't',
  '--arg-file': 'a',
  '--max-chars': 's',
  '--exit': 'x',
}
const VALUED = new Set([...'nLIdPas'])
const KNOWN = new Set([...'nLIdPas0rtx'])

class Misuse extends Error {}

export async function xargs(args: string[], context: Context): Promise<Result> {
  try {
    const settings = settingsOf(args)
    return await runAll(commandLines(settings, await inputOf(settings, context)), settings, context)
  } catch (error) {
    if (!(error instanceof Misuse)) throw error
    return { stdout: '', stderr: `xargs: ${error.message}\n`, exitCode: 1 }
  }
}

function settingsOf(args: readonly string[]): Settings {
  const given = new Map<string, string>()
  let at = 0
  for (; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') {
      at++
      break
    }
    if (!/^-./.test(arg)) break
    const [, word = '', inline] = /^(--[^=]+)(?:=(.*))?$/s.exec(arg) ?? []
    let letters = word === '' ? arg.slice(1) : (LONG[word] ?? '?')
    while (letters !== '') {
      const letter = letters.charAt(0)
      if (!KNOWN.has(letter)) throw new Misuse(`option ${word || `-${letter}`} is not available here`)
      const rest = word === '' ? letters.slice(1) : ''
      const value = VALUED.has(letter) ? (inline ?? (rest || args[++at])) : ''
      if (value === undefined) throw new Misuse(`option requires an argument -- '${letter}'`)
      given.set(letter, value)
      letters = VALUED.has(letter) ? '' : rest
    }
  }
  const command = args.slice(at)
  return {
    separator: given.has('0') ? '\0' : given.has('d') ? unescaped(given.get('d') ?? '') : null,
    replaced: given.get('I') ?? null,
    maxWords: countOf(given.get('n')),
    maxLines: countOf(given.get('L')),
    maxChars: Math.min(countOf(given.get('s')), MAX_COMMAND_CHARS),
    isVerbose: given.has('t'),
    skipsEmpty: given.has('r'),
    file: given.get('a') ?? null,
    command: command.length > 0 ? command : ['echo'],
  }
}

function countOf(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY
  if (!/^[1-9]\d*$/.test(text)) throw new Misuse(`invalid number '${text}'`)
  return Number(text)
}

function unescaped(text: string): string {
  const escapes: Record<string, string> = { '\\n': '\n', '\\t': '\t', '\\0': '\0', '\\\\': '\\' }
  return escapes[text] ?? text.charAt(0)
}

async function inputOf({ file }: Settings, context: Context): Promise<string> {
  const { fs, cwd } = context
  if (file === null) return new TextDecoder().decode(textToBytes(String(context.stdin), 'latin1'))
  try {
    return await fs.readFile(fs.resolvePath(cwd, file))
  } catch (error) {
    throw new Misuse(`cannot open '${file}': ${shellMessage(error)}`)
  }
}

/** The words of each command to be run. */
function commandLines(settings: Settings, input: string): string[][] {
  const { command, replaced, separator, maxLines, maxWords, skipsEmpty } = settings
  const room = settings.maxChars - sizeOf(command)
  const lines = linesOf(input, separator, replaced !== null)
  if (replaced !== null) {
    return lines.flat().map((item) => command.map((word) => word.replaceAll(replaced, () => item)))
  }
  const groups =
    maxLines === Number.POSITIVE_INFINITY
      ? chunks(lines.flat(), maxWords, room)
      : chunks(lines, maxLines, room).map((group) => group.flat())
  if (groups.length === 0 && !skipsEmpty) groups.push([])
  return groups.map((words) => [...command, ...words])
}

const sizeOf = (words: readonly string[]): number => words.reduce((sum, word) => sum + byteLength(word) + 1, 0)

function chunks<Item extends string | string[]>(items: readonly Item[], size: number, room: number): Item[][] {
  const groups: Item[][] = []
  let length = 0
  for (const item of items) {
    const last = groups.at(-1)
    const own = sizeOf(typeof item === 'string' ? [item] : item)
    if (own > room) throw new Misuse('argument line too long')
    length += own
    if (last && last.length < size && length <= room) last.push(item)
    else {
      groups.push([item])
      length = own
    }
  }
  return groups
}

/** Words by the lines on which they stand; with a separator, and where lines are not split, each is a line of its own. */
function linesOf(input: string, separator: string | null, isWhole: boolean): string[][] {
  if (separator !== null) {
    const items = input.split(separator)
    if (items.at(-1) === '') items.pop()
    return items.map((item) => [separator === '\0' ? item : untilNul(item)])
  }
  const lines: string[][] = [[]]
  // Blanks, line ends, quoted parts, escaped characters, and whatever else belongs to a word.
  const token = /(\n)|([ \t]+)|'([^'\n]*)'|"([^"\n]*)"|\\([\s\S])|([^\s'"\\]+)|(['"])/g
  let word: string | null = null
  const end = () => {
    if (word !== null) lines.at(-1)?.push(untilNul(word))
    word = null
  }
  for (const [, newline, blank, single, double, escaped, plain, open] of input.matchAll(token)) {
    if (open !== undefined) {
      const kind = open === "'" ? 'single' : 'double'
      throw new Misuse(`unmatched ${kind} quote; by default quotes are special to xargs unless you use the -0 option`)
    }
    if (newline !== undefined) {
      end()
      lines.push([])
    } else if (blank !== undefined && !isWhole) end()
    else if (blank === undefined || word !== null) {
      word = (word ?? '') + (blank ?? single ?? double ?? escaped ?? plain ?? '')
    }
  }
  end()
  return lines.filter((words) => words.length > 0)
}

async function runAll(lines: readonly string[][], { isVerbose }: Settings, context: Context): Promise<Result> {
  const { exec, cwd, signal } = context
  if (!exec) throw new Misuse('cannot run commands here')
  let [stdout, stderr, exitCode] = ['', '', 0]
  for (const words of lines) {
    if (isVerbose) stderr += `${words.join(' ')}\n`
    const result = await exec(withVariables(words.map(quoted).join(' '), context), {
      cwd,
      ...passedFunctions(context),
      ...(signal && { signal }),
    })
    stdout += inBytes(result)
    stderr += result.stderr
    if (result.exitCode === 126 || result.exitCode === 127)
      return { stdout, stdoutKind: 'bytes', stderr, exitCode: result.exitCode }
    if (result.exitCode === 255) {
      stderr += `xargs: ${words[0]}: exited with status 255; aborting\n`
      return { stdout, stdoutKind: 'bytes', stderr, exitCode: 124 }
    }
    if (result.exitCode !== 0) exitCode = 123
  }
  return { stdout, stdoutKind: 'bytes', stderr, exitCode }
}

/** No argument can hold a NUL: it ends there. */
const untilNul = (word: string): string => word.replace(/\0[\s\S]*/, '')
