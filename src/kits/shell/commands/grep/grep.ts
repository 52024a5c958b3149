// `grep` like GNU's: its three syntaxes with automata whose time is proportional to the text, Perl's syntax with the
// runtime's engine.

import { isFileError } from '../../../../workspace/file-system.ts'
import { byteText, isByteLocale } from '../../byte-locale.ts'
import { shellMessage } from '../../interpreter-command.ts'
import type { ShellCall, ShellResult } from '../../shell-extensions.ts'
import { type FileText, outputOf, textOf } from '../file-text.ts'
import { globExpression } from '../globs.ts'
import { pathOf, readInput } from '../inputs.ts'
import { Matcher } from '../regex/matcher.ts'
import { BadPattern } from '../regex/syntax.ts'
import { HELP, VERSION } from './help.ts'
import { LinesOut } from './lines-out.ts'
import { type Search, searchText } from './search-text.ts'
import { GrepMisuse, type GrepSettings, grepSettings } from './settings.ts'
import { type Target, targets } from './targets.ts'

export function runGrep(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  return grep(args, call)
}

export function runEgrep(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  return grep(['-E', ...args], call)
}

export function runFgrep(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  return grep(['-F', ...args], call)
}

async function grep(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  try {
    const settings = grepSettings(args)
    if (settings.flags.has('help')) return { stdout: HELP, stderr: '', exitCode: 0 }
    if (settings.flags.has('V')) return { stdout: VERSION, stderr: '', exitCode: 0 }
    return await new Grep(settings, call).run()
  } catch (error) {
    if (error instanceof GrepMisuse) return { stdout: '', stderr: `${error.message}\n`, exitCode: 2 }
    if (error instanceof BadPattern) return { stdout: '', stderr: `grep: ${error.message}\n`, exitCode: 2 }
    throw error
  }
}

class Grep {
  readonly #settings: GrepSettings
  readonly #call: ShellCall
  readonly #out: LinesOut
  #problems: string
  #hasFailed = false
  #hasFound = false

  constructor(settings: GrepSettings, call: ShellCall) {
    this.#settings = settings
    this.#call = call
    this.#out = new LinesOut(settings)
    this.#problems = settings.warning
  }

  async run(): Promise<ShellResult> {
    const { settings, matcher } = await this.#prepared()
    this.#problems += matcher.warnings.map((warning) => `grep: warning: ${warning}\n`).join('')
    if (settings.maxCount === 0 || this.#selectsNothing()) return { stdout: '', stderr: this.#problems, exitCode: 1 }
    const search = { settings, matcher, out: this.#out }
    const isNamed = this.#namesFiles()
    for await (const found of targets(settings, this.#call)) {
      const pause = this.#call.pause()
      if (pause) await pause
      if ('problem' in found) this.#fail(found.problem)
      else if ('warning' in found) this.#problems += `grep: ${found.warning}\n`
      else await this.#look(found.target, isNamed, search)
      if (settings.flags.has('q') && this.#hasFound) break
    }
    const isQuiet = settings.flags.has('q') && this.#hasFound
    const exitCode = this.#hasFailed && !isQuiet ? 2 : this.#hasFound ? 0 : 1
    return { ...outputOf(this.#out.text), stderr: this.#problems, exitCode }
  }

  async #look(target: Target, isNamed: boolean, search: Search): Promise<void> {
    const { flags } = this.#settings
    let bytes: Uint8Array
    try {
      bytes = await target.read()
    } catch (error) {
      if (!isFileError(error)) throw error
      return this.#fail(`${target.name}: ${shellMessage(error)}`)
    }
    const name = isNamed ? target.name : null
    const width = target.isStdin ? 20 : String(bytes.length + (flags.has('n') ? 1 : 0)).length
    this.#out.numberWidth = width
    const { selected, isBinary } = searchText(this.#textOf(bytes), name, search)
    if (selected > 0) this.#hasFound = true
    if (flags.has('q')) return
    if (flags.has('c') && !flags.has('l') && !flags.has('L')) this.#out.count(name, selected)
    if (flags.has('l') ? selected > 0 : flags.has('L') && selected === 0) this.#out.fileName(target.name)
    if (isBinary) this.#problems += `grep: ${target.name}: binary file matches\n`
  }

  #textOf(bytes: Uint8Array): FileText {
    const found = textOf(bytes)
    return this.#isByteLocale ? { text: byteText(found.text), isMixed: false } : found
  }

  get #isByteLocale(): boolean {
    return isByteLocale((name) => this.#call.env[name])
  }

  /** Like in the original, which does not even count if no line can be selected. */
  #selectsNothing(): boolean {
    const { flags, patterns } = this.#settings
    const isEmpty = patterns.length === 1 && patterns.every(({ text, isFile }) => text === '' && !isFile)
    return isEmpty && flags.has('v') && !['x', 'w', 'L'].some((flag) => flags.has(flag))
  }

  #namesFiles(): boolean {
    const { namesFiles, directories, files } = this.#settings
    if (namesFiles !== null) return namesFiles
    if (files.length > 1) return true
    if (directories !== 'recurse') return false
    const [only] = files
    return only === undefined || this.#isFolder(only)
  }

  #isFolder(name: string): boolean {
    try {
      return this.#call.fs.stat(this.#call.fs.realPath(pathOf(this.#call, name))).kind === 'directory'
    } catch (error) {
      if (isFileError(error)) return false
      throw error
    }
  }

  async #prepared(): Promise<{ settings: GrepSettings; matcher: Matcher }> {
    const settings = this.#settings
    for (const file of settings.ruleFiles) {
      const lines = (await this.#linesOf(file)).filter((line) => line !== '')
      settings.rules.push(...lines.map((glob) => ({ includes: false, expression: globExpression(glob) })))
    }
    const patterns: string[] = []
    for (const { text, isFile } of settings.patterns)
      patterns.push(...(isFile ? await this.#linesOf(text) : text.split('\n')))
    if (this.#isByteLocale) patterns.splice(0, patterns.length, ...patterns.map(byteText))
    const { flags } = settings
    if (settings.matcher === 'P' && patterns.length > 1) {
      throw new GrepMisuse('grep: the -P option only supports a single pattern')
    }
    const flavours = { G: 'basic', E: 'extended', F: 'extended', P: 'perl' } as const
    const matcher = new Matcher(settings.matcher === 'F' ? patterns.map(asLetters) : [...new Set(patterns)], {
      flavour: flavours[settings.matcher ?? 'G'],
      ignoresCase: flags.has('i'),
      separator: flags.has('z') ? 0 : 10,
      wholeWords: flags.has('w'),
      wholeLines: flags.has('x'),
      findsByAutomaton: true,
    })
    return { settings, matcher }
  }

  async #linesOf(file: string): Promise<string[]> {
    try {
      const { text } = textOf(await readInput(this.#call, file))
      return text === '' ? [] : text.replace(/\n$/, '').split('\n')
    } catch (error) {
      throw new GrepMisuse(`grep: ${file}: ${shellMessage(error)}`)
    }
  }

  #fail(problem: string): void {
    this.#hasFailed = true
    if (!this.#settings.flags.has('s')) this.#problems += `grep: ${problem}\n`
  }
}

/** The literal text, for `-F`. */
function asLetters(text: string): string {
  return text.replace(/[.^$*+?()[\]{}|\\]/g, '\\$&')
}
