// `rg` like ripgrep 13 without a terminal. It uses the search of `grep`.

import { isFileError } from '../../../../workspace/file-system.ts'
import { shellMessage } from '../../interpreter-command.ts'
import type { ShellCall, ShellResult } from '../../shell-extensions.ts'
import { outputOf, textOf } from '../file-text.ts'
import { LinesOut } from '../grep/lines-out.ts'
import { searchText } from '../grep/search-text.ts'
import { pathOf, readInput } from '../inputs.ts'
import { type Match, Matcher } from '../regex/matcher.ts'
import { BadPattern } from '../regex/syntax.ts'
import { RgMisuse, type RgSettings, rgSettings } from './settings.ts'
import { type RgTarget, RgTargets } from './targets.ts'
import { FILE_TYPES } from './types.ts'

export async function runRg(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  try {
    const settings = rgSettings(args)
    if (settings.has('type-list')) return { stdout: typeList(), stderr: '', exitCode: 0 }
    return await new Ripgrep(settings, call).run()
  } catch (error) {
    if (error instanceof BadPattern) return failed(`regex parse error:\nerror: ${error.message}`)
    if (error instanceof RgMisuse) return failed(error.message)
    throw error
  }
}

const failed = (problem: string): ShellResult => ({ stdout: '', stderr: `${problem}\n`, exitCode: 2 })

function typeList(): string {
  return Object.entries(FILE_TYPES)
    .map(([name, globs]) => `${name}: ${globs.replaceAll(' ', ', ')}\n`)
    .join('')
}

/** `name` is null if file names are not shown; `selected` counts lines. */
type Searched = { name: string | null; selected: number; matches: () => number }

class Ripgrep {
  readonly #settings: RgSettings
  readonly #call: ShellCall
  #text = ''
  #problems = ''
  #hasFound = false
  #hasFailed = false

  constructor(settings: RgSettings, call: ShellCall) {
    this.#settings = settings
    this.#call = call
  }

  async run(): Promise<ShellResult> {
    const { grep } = this.#settings
    const matcher = this.#settings.has('files') ? null : await this.#matcher()
    // Without operands the standard input is searched.
    const isPiped = matcher !== null && grep.files.length === 0 && this.#call.stdinBytes.length > 0
    const operands = isPiped ? ['-'] : grep.files
    const isNamed = grep.namesFiles ?? (operands.length !== 1 || this.#isFolder(operands[0] ?? ''))
    const out = new LinesOut(grep)
    for await (const found of new RgTargets(this.#settings, this.#call).all(operands)) {
      const pause = this.#call.pause()
      if (pause) await pause
      if ('problem' in found) this.#fail(found.problem)
      else if (matcher === null) {
        this.#hasFound = true
        this.#text += found.target.name + (this.#settings.has('0') ? '\0' : '\n')
      } else await this.#look(found.target, matcher, { out, isNamed })
      if (grep.flags.has('q') && this.#hasFound) break
    }
    const isQuiet = grep.flags.has('q') && this.#hasFound
    const exitCode = this.#hasFailed && !isQuiet ? 2 : this.#hasFound ? 0 : 1
    return { ...outputOf(this.#text + out.text), stderr: this.#problems, exitCode }
  }

  async #look(
    target: RgTarget,
    matcher: Matcher,
    { out, isNamed }: { out: LinesOut; isNamed: boolean },
  ): Promise<void> {
    const { grep } = this.#settings
    const bytes = await this.#bytesOf(target)
    if (bytes === null) return
    const nul = this.#settings.has('a') || (this.#settings.given.get('u') ?? 0) >= 3 ? -1 : bytes.indexOf(0)
    if (nul >= 0 && !target.isNamed) return
    const content = textOf(bytes)
    const isCounting = ['c', 'l', 'q'].some((flag) => grep.flags.has(flag)) || this.#settings.has('without')
    if (nul >= 0 && !isCounting) {
      if (matcher.find(content.text, 0, content.text.length) < 0) return
      this.#hasFound = true
      out.text += `${isNamed ? `${target.name}: ` : ''}binary file matches (found "\\0" byte around offset ${nul})\n`
      return
    }
    const lines = this.#settings.has('heading') ? new LinesOut(grep) : out
    const { name, isHeaded } = {
      name: isNamed ? target.name : null,
      isHeaded: isNamed && this.#settings.has('heading'),
    }
    const blocks = this.#settings.has('U') ? matcher.matches(content.text) : null
    const rewrite = this.#rewrite(matcher)
    const search = { settings: this.#quietly(), matcher, out: lines, blocks, ...(rewrite ? { rewrite } : {}) }
    const { selected } = searchText(content, isHeaded ? null : name, search)
    if (this.#settings.has('without') ? selected === 0 : selected > 0) this.#hasFound = true
    if (grep.flags.has('q')) return
    this.#summarise(target, out, { name, selected, matches: () => this.#matches(content.text, matcher) })
    if (lines !== out && lines.text !== '') {
      out.text += `${out.text === '' ? '' : '\n'}${isHeaded ? `${target.name}\n` : ''}${lines.text}`
    }
  }

  /** Null if it cannot be read, which is reported. */
  async #bytesOf(target: RgTarget): Promise<Uint8Array | null> {
    try {
      return await target.read()
    } catch (error) {
      if (!isFileError(error)) throw error
      this.#fail(`${target.name}: ${shellMessage(error)}`)
      return null
    }
  }

  /** The name or the count of a file, if requested. */
  #summarise(target: RgTarget, out: LinesOut, { name, selected, matches }: Searched): void {
    const { flags } = this.#settings.grep
    if (flags.has('l') ? selected > 0 : this.#settings.has('without') && selected === 0) out.fileName(target.name)
    else if (selected > 0 && this.#settings.has('count-matches')) out.count(name, matches())
    else if (selected > 0 && flags.has('c')) out.count(name, selected)
  }

  /** If only names or counts are requested, no line is printed. */
  #quietly(): RgSettings['grep'] {
    const { grep } = this.#settings
    if (this.#settings.has('count-matches')) grep.flags.add('c')
    if (this.#settings.has('without')) grep.flags.add('L')
    return grep
  }

  #matches(text: string, matcher: Matcher): number {
    if (this.#settings.grep.flags.has('v')) throw new RgMisuse('error: --count-matches with -v is not available here')
    if (this.#settings.has('U')) return matcher.matches(text).length
    return text.split('\n').reduce((sum, line) => sum + matcher.matches(line).length, 0)
  }

  #rewrite(matcher: Matcher): ((line: string) => { line: string; matches: string[] }) | null {
    const { replacement } = this.#settings
    if (replacement === null) return null
    return (line) => {
      const found = matcher.matches(line)
      const matches = found.map((match) => replaced(replacement, line, { match, names: matcher.groupNames }))
      let rewritten = ''
      let from = 0
      found.forEach((match, i) => {
        rewritten += line.slice(from, match.from) + (matches[i] ?? '')
        from = match.to
      })
      return { line: rewritten + line.slice(from), matches }
    }
  }

  async #matcher(): Promise<Matcher> {
    const { grep } = this.#settings
    const patterns: string[] = []
    for (const { text, isFile } of grep.patterns) {
      if (!isFile) patterns.push(text)
      else
        patterns.push(
          ...textOf(await this.#file(text))
            .text.replace(/\n$/, '')
            .split('\n'),
        )
    }
    const isSmart = this.#settings.has('S') && !patterns.some((pattern) => /\p{Lu}/u.test(pattern.replace(/\\./gu, '')))
    const isLetters = this.#settings.has('F')
    return new Matcher(isLetters ? patterns.map((text) => text.replace(/[.^$*+?()[\]{}|\\]/g, '\\$&')) : patterns, {
      flavour: this.#settings.has('P') ? 'perl' : 'rust',
      ignoresCase: this.#settings.has('i') || isSmart,
      separator: this.#settings.has('U') ? null : 10,
      dotMatchesAll: this.#settings.has('dotall'),
      wholeWords: grep.flags.has('w'),
      wholeLines: grep.flags.has('x'),
      captures: this.#settings.replacement !== null,
    })
  }

  async #file(name: string): Promise<Uint8Array> {
    try {
      return await readInput(this.#call, name)
    } catch (error) {
      throw new RgMisuse(`${name}: ${shellMessage(error)} (os error 2)`)
    }
  }

  #isFolder(name: string): boolean {
    try {
      return name !== '-' && this.#call.fs.stat(pathOf(this.#call, name)).kind === 'directory'
    } catch (error) {
      if (isFileError(error)) return false
      throw error
    }
  }

  #fail(problem: string): void {
    this.#hasFailed = true
    if (!this.#settings.has('no-messages')) this.#problems += `${problem}\n`
  }
}

/** `$1`, `${1}`, `$name`, and `$$` for a dollar sign. */
function replaced(
  replacement: string,
  line: string,
  { match, names }: { match: Match; names: ReadonlyMap<string, number> },
): string {
  return replacement.replace(/\$(?:(\$)|(\w+)|\{(\w+)\})/g, (_, dollar?: string, bare?: string, braced?: string) => {
    if (dollar !== undefined) return '$'
    const name = bare ?? braced ?? ''
    if (name === '0') return line.slice(match.from, match.to)
    return match.groups[/^\d+$/.test(name) ? Number(name) : (names.get(name) ?? -1)] ?? ''
  })
}
