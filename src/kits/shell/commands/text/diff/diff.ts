// `diff`: the changes between two files, or between the files of two folders.

import { lineEdits, linesOf } from '../../../../../workspace/diff.ts'
import type { LineEdit } from '../../../../../workspace/shifted-edits.ts'
import { quoted, shellMessage } from '../../../interpreter-command.ts'
import { bytesOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { Misuse } from '../misuse.ts'
import { type Change, type Compared, contextText, edText, plainText, rcsText, unifiedText } from './formats.ts'
import { blankTest, keyFor } from './line-keys.ts'
import { type DiffSettings, diffSettings } from './options.ts'
import { sideBySide } from './side-by-side.ts'

const EXIT_TROUBLE = 2

interface Side {
  name: string
  bytes: string
  time: Date
}

export async function diff(call: TextCall, args = call.args): Promise<void> {
  call.misuseExit = EXIT_TROUBLE
  call.hintPrefix = `${call.name}: `
  const settings = diffSettings(args)
  const [first, second, extra] = settings.operands
  if (first === undefined || second === undefined) {
    throw new Misuse(`missing operand after '${first ?? settings.given.at(-1) ?? 'diff'}'`)
  }
  if (extra !== undefined) throw new Misuse(`extra operand '${extra}'`)
  for (const list of settings.excludedFrom) {
    const names = await call.mustRead(list, undefined, EXIT_TROUBLE)
    settings.excluded = settings.excluded.concat(names.split('\n').filter((name) => name !== ''))
  }
  await new Comparison(call, settings).compareOperands(first, second)
}

class Comparison {
  readonly #call: TextCall
  readonly #settings: DiffSettings
  readonly #key: (line: string) => string
  readonly #isBlank: (line: string) => boolean

  constructor(call: TextCall, settings: DiffSettings) {
    this.#call = call
    this.#settings = settings
    this.#key = keyFor(settings.ignored)
    this.#isBlank = blankTest(settings.ignored)
  }

  async compareOperands(first: string, second: string): Promise<void> {
    const kinds = [await this.#kindOf(first), await this.#kindOf(second)] as const
    const isEmptyAllowed = (which: 0 | 1) =>
      this.#settings.newFiles === 'both' || (this.#settings.newFiles === 'first' && which === 0)
    const missing = [first, second].filter((_, i) => kinds[i] === null && !isEmptyAllowed(i as 0 | 1))
    for (const name of missing) this.#call.complain(`${name}: No such file or directory`, EXIT_TROUBLE)
    if (missing.length > 0) return
    if (kinds[0] === null && kinds[1] === null) {
      for (const name of [first, second]) this.#call.complain(`${name}: No such file or directory`, EXIT_TROUBLE)
      return
    }
    if (kinds[0] === 'folder' && kinds[1] === 'folder') return this.#compareFolders(first, second, true)
    // A file is compared with the one of the same name in the folder.
    if (kinds[0] === 'folder' && kinds[1] === 'file') return this.#comparePair(below(first, lastOf(second)), second)
    if (kinds[1] === 'folder' && kinds[0] === 'file') return this.#comparePair(first, below(second, lastOf(first)))
    if (kinds.includes('folder')) return this.#compareFolders(first, second, true)
    await this.#comparePair(first, second)
  }

  async #comparePair(first: string, second: string): Promise<void> {
    const kinds = [await this.#kindOf(first), await this.#kindOf(second)]
    const isThere = (i: number) => kinds[i] !== null || this.#settings.newFiles !== 'none'
    for (const [i, name] of [first, second].entries()) {
      if (!isThere(i)) this.#call.complain(`${name}: No such file or directory`, EXIT_TROUBLE)
    }
    if (this.#call.exitCode === 0) await this.#compareFiles(first, second, '')
  }

  async #compareFolders(first: string, second: string, isTop = false): Promise<void> {
    const { isRecursive, newFiles, given } = this.#settings
    if (!isTop && !isRecursive) {
      this.#call.writeText(`Common subdirectories: ${first} and ${second}\n`)
      return
    }
    const [a, b] = [await this.#namesIn(first), await this.#namesIn(second)]
    for (const name of [...new Set([...a, ...b])].sort()) {
      await this.#call.pause()
      const [old, now] = [below(first, name), below(second, name)]
      const isMissing = (!a.has(name) && newFiles === 'none') || (!b.has(name) && newFiles !== 'both')
      if (isMissing) {
        this.#call.writeText(`Only in ${a.has(name) ? first : second}: ${name}\n`)
        this.#differs()
        continue
      }
      const kinds = [await this.#kindOf(old), await this.#kindOf(now)]
      if (kinds.every((kind) => kind !== 'file')) await this.#compareFolders(old, now)
      else if (kinds.includes('folder')) this.#differentKinds([old, now], kinds)
      else await this.#compareFiles(old, now, `${['diff', ...given, old, now].map(worded).join(' ')}\n`)
    }
  }

  #differentKinds(names: readonly [string, string], kinds: readonly (string | null)[]): void {
    const [first, second] = kinds.map((kind) => (kind === 'folder' ? 'directory' : 'regular file'))
    this.#call.writeText(`File ${names[0]} is a ${first} while file ${names[1]} is a ${second}\n`)
    this.#differs()
  }

  async #compareFiles(first: string, second: string, header: string): Promise<void> {
    const { isText, isBrief, style } = this.#settings
    let sides: readonly [Side, Side]
    try {
      sides = [await this.#side(first), await this.#side(second)]
    } catch (error) {
      return this.#call.complain(`${first}: ${shellMessage(error)}`, EXIT_TROUBLE)
    }
    const [old, now] = sides
    if (!isText && (old.bytes.includes('\0') || now.bytes.includes('\0'))) {
      if (old.bytes === now.bytes) return this.#identical(first, second)
      this.#call.writeText(`${isBrief ? 'Files' : 'Binary files'} ${first} and ${second} differ\n`)
      return this.#differs()
    }
    const compared = this.#comparedLines(old.bytes, now.bytes)
    const isSame = compared.changes.every(({ isIgnored }) => isIgnored)
    if (isSame) this.#identical(first, second)
    else this.#differs()
    if (isBrief && !isSame) this.#call.writeText(`Files ${first} and ${second} differ\n`)
    if (isBrief || (isSame && style.kind !== 'sides')) return
    this.#call.writeText(isSame ? '' : header)
    this.#call.write(this.#shown(compared, old, now))
  }

  #comparedLines(before: string, after: string): Compared {
    const [oldLines, newLines] = [before, after].map((bytes) =>
      linesOf(this.#settings.stripsReturns ? bytes.replaceAll('\r\n', '\n') : bytes),
    ) as [string[], string[]]
    const edits = lineEdits(oldLines.map(this.#key), newLines.map(this.#key))
    const { ignoresBlankLines, ignoredLines } = this.#settings
    const isOfNoCount = (line: string) =>
      (ignoresBlankLines && this.#isBlank(line)) || ignoredLines.some((regex) => regex.test(line.replace(/\n$/, '')))
    const isIgnored = ({ start, end, from, to }: LineEdit) =>
      [...oldLines.slice(start, end), ...newLines.slice(from, to)].every(isOfNoCount)
    const changes: Change[] = edits.map((edit) => ({ ...edit, isIgnored: isIgnored(edit) }))
    return { oldLines, newLines, changes }
  }

  #shown(compared: Compared, old: Side, now: Side): string {
    const { style, labels, showsFunction } = this.#settings
    if (style.kind === 'plain') return plainText(compared)
    if (style.kind === 'rcs') return rcsText(compared)
    if (style.kind === 'ed') {
      // The script cannot express it.
      const hasNoEnd = ({ bytes }: Side) => bytes !== '' && !bytes.endsWith('\n')
      for (const { name } of [old, now].filter(hasNoEnd)) {
        this.#call.complainPlainly(`diff: ${name}: No newline at end of file\n`)
      }
      return edText(compared)
    }
    if (style.kind === 'sides') return sideBySide(compared, style.sides)
    const titled = ({ name, time }: Side) =>
      `${name}\t${time.toISOString().replace('T', ' ').replace('Z', '000000')} +0000`
    const titles = { old: bytesOf(labels[0] ?? titled(old)), now: bytesOf(labels[1] ?? titled(now)), showsFunction }
    const form = style.kind === 'unified' ? unifiedText : contextText
    return form(compared, style.lines, titles)
  }

  #identical(first: string, second: string): void {
    if (this.#settings.reportsSame) this.#call.writeText(`Files ${first} and ${second} are identical\n`)
  }

  #differs(): void {
    this.#call.exitCode = Math.max(this.#call.exitCode, 1)
  }

  async #namesIn(folder: string): Promise<Set<string>> {
    const { fs } = this.#call.context
    const path = this.#call.path(folder)
    if (!(await fs.exists(path))) return new Set()
    const excluded = this.#settings.excluded.map(patternOf)
    return new Set((await fs.readdir(path)).filter((name) => !excluded.some((pattern) => pattern.test(name))))
  }

  async #kindOf(name: string): Promise<'file' | 'folder' | null> {
    if (name === '-') return 'file'
    const { fs } = this.#call.context
    const path = this.#call.path(name)
    if (!(await fs.exists(path))) return null
    return (await fs.stat(path)).isDirectory ? 'folder' : 'file'
  }

  async #side(name: string): Promise<Side> {
    const { fs } = this.#call.context
    if (name === '-') return { name, bytes: this.#call.stdin, time: new Date() }
    const path = this.#call.path(name)
    if (!(await fs.exists(path))) return { name, bytes: '', time: new Date(0) }
    return { name, bytes: await this.#call.read(name), time: (await fs.stat(path)).mtime }
  }
}

/** As it would be typed. */
function worded(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word)
}

/** A name with stars, question marks and sets. */
function patternOf(glob: string): RegExp {
  const source = glob.replace(/\[(!?)([^\]]+)\]|\*+|\?|[.+^${}()|[\]\\]/g, (found, not?: string, set?: string) => {
    if (set !== undefined) return `[${not ? '^' : ''}${set.replaceAll('\\', '\\\\')}]`
    return found.startsWith('*') ? '.*' : found === '?' ? '.' : `\\${found}`
  })
  return new RegExp(`^${source}$`, 's')
}

function below(folder: string, name: string): string {
  return `${folder.replace(/\/+$/, '')}/${name}`
}

function lastOf(path: string): string {
  return path.replace(/\/+$/, '').replace(/^.*\//, '')
}
