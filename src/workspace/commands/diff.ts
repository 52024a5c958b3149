// `diff` in its plain and its unified form, of files and of folders. The interpreter's knows the second form alone, with a
// line on top that other tools do not write, and no folders.

import { type LineEdit, lineEdits, linesOf, textIfAny } from '../diff.ts'
import { type Context, quoted, type Result, shellMessage } from '../interpreter-command.ts'
import { type OptionSpec, readOptions } from './options.ts'

const SPEC: OptionSpec = {
  flags: {
    '-u': 'u',
    '-r': 'r',
    '--recursive': 'r',
    '-q': 'q',
    '--brief': 'q',
    '-s': 's',
    '--report-identical-files': 's',
    '-N': 'N',
    '--new-file': 'N',
    '-i': 'i',
    '--ignore-case': 'i',
    '-w': 'w',
    '--ignore-all-space': 'w',
    '-b': 'b',
    '--ignore-space-change': 'b',
    '-a': 'a',
    '--text': 'a',
    '--unified': 'u',
    '--normal': 'normal',
    '--color': 'plain',
  },
  values: { '-U': 'U', '-x': 'x', '--exclude': 'x', '--label': 'label', '-L': 'label' },
}

const EXIT_TROUBLE = 2

interface Side {
  name: string
  /** Null when there is none, which `-N` takes for an empty one. */
  bytes: Uint8Array | null
  time: Date
}

export async function diff(args: string[], context: Context): Promise<Result> {
  const plain = args.map((arg) => arg.replace(/^--colou?r=.*/, '--color').replace(/^--unified=/, '-U'))
  const read = readOptions(plain, SPEC)
  if (!read.ok) return failure(read.problem)
  const [first, second, ...others] = read.operands
  if (first === undefined || second === undefined || others.length > 0)
    return failure('two files or folders are needed')
  const given = args.filter((arg) => arg !== first && arg !== second && arg !== '--')
  const comparison = new Comparison(context, { flags: read.flags, values: read.values, given })
  try {
    await comparison.compareOperands(first, second)
  } catch (error) {
    comparison.complain(shellMessage(error))
  }
  return { stdout: comparison.text, stderr: comparison.problems, exitCode: comparison.exitCode }
}

function failure(problem: string): Result {
  return { stdout: '', stderr: `diff: ${problem}\n`, exitCode: EXIT_TROUBLE }
}

interface Settings {
  flags: ReadonlySet<string>
  values: ReadonlyMap<string, string[]>
  /** As they stood on the line. */
  given: readonly string[]
}

class Comparison {
  text = ''
  problems = ''
  exitCode = 0
  readonly #context: Context
  readonly #settings: Settings

  constructor(context: Context, settings: Settings) {
    this.#context = context
    this.#settings = settings
  }

  complain(problem: string): void {
    this.problems += `diff: ${problem}\n`
    this.exitCode = EXIT_TROUBLE
  }

  /** A folder beside a file stands for the file of that name in it. */
  async compareOperands(first: string, second: string): Promise<void> {
    const [a, b] = [await this.#isFolder(first), await this.#isFolder(second)]
    if (a === null || b === null) {
      for (const [name, kind] of [[first, a] as const, [second, b] as const])
        if (kind === null) this.complain(`${name}: No such file or directory`)
    } else if (a && b) await this.#compareFolders(first, second, true)
    else await this.#compareFiles(a ? below(first, lastOf(second)) : first, b ? below(second, lastOf(first)) : second)
  }

  async #compareFolders(first: string, second: string, isTop = false): Promise<void> {
    const { flags } = this.#settings
    if (!isTop && !flags.has('r')) {
      this.text += `Common subdirectories: ${first} and ${second}\n`
      return
    }
    const [a, b] = [await this.#namesIn(first), await this.#namesIn(second)]
    for (const name of [...new Set([...a, ...b])].sort()) {
      const [old, now] = [below(first, name), below(second, name)]
      const isInBoth = a.has(name) && b.has(name)
      if (!isInBoth && !flags.has('N')) {
        this.text += `Only in ${a.has(name) ? first : second}: ${name}\n`
        this.#differs()
        continue
      }
      const kinds = [a.has(name) && (await this.#isFolder(old)), b.has(name) && (await this.#isFolder(now))]
      if (kinds.some(Boolean)) await this.#compareFolders(old, now)
      else await this.#compareFiles(old, now, `${['diff', ...this.#settings.given, old, now].map(worded).join(' ')}\n`)
    }
  }

  async #compareFiles(first: string, second: string, header = ''): Promise<void> {
    const { flags } = this.#settings
    const [old, now] = [await this.#side(first), await this.#side(second)]
    const [before, after] = [old.bytes ?? new Uint8Array(), now.bytes ?? new Uint8Array()]
    const texts = [before, after].map((bytes) => (flags.has('a') ? new TextDecoder().decode(bytes) : textIfAny(bytes)))
    const [a, b] = texts
    if (a === null || a === undefined || b === null || b === undefined) {
      const isSame = before.byteLength === after.byteLength && before.every((byte, i) => byte === after[i])
      if (isSame) return this.#identical(first, second)
      this.text += `${flags.has('q') ? 'Files' : 'Binary files'} ${first} and ${second} differ\n`
      this.#differs()
      return
    }
    const [oldLines, newLines] = [linesOf(a), linesOf(b)]
    const edits = lineEdits(oldLines.map(this.#key), newLines.map(this.#key))
    if (edits.length === 0) return this.#identical(first, second)
    this.#differs()
    if (flags.has('q')) this.text += `Files ${first} and ${second} differ\n`
    else this.text += header + this.#shown({ old, now, oldLines, newLines, edits })
  }

  #shown({ old, now, ...lines }: Lines & { old: Side; now: Side }): string {
    const { flags, values } = this.#settings
    const context = values.get('U')?.at(-1)
    if (!flags.has('u') && context === undefined) return plainText(lines)
    const [oldLabel, newLabel] = values.get('label') ?? []
    const titled = ({ name, time }: Side) =>
      `${name}\t${time.toISOString().replace('T', ' ').replace('Z', '000000')} +0000`
    return `--- ${oldLabel ?? titled(old)}\n+++ ${newLabel ?? titled(now)}\n${unifiedText(lines, Number(context ?? 3))}`
  }

  #key = (line: string): string => {
    const { flags } = this.#settings
    const cased = flags.has('i') ? line.toLowerCase() : line
    if (flags.has('w')) return cased.replace(/\s+/g, '')
    return flags.has('b') ? cased.replace(/[ \t]+/g, ' ').replace(/ ?\n?$/, '') : cased
  }

  #identical(first: string, second: string): void {
    if (this.#settings.flags.has('s')) this.text += `Files ${first} and ${second} are identical\n`
  }

  #differs(): void {
    this.exitCode = Math.max(this.exitCode, 1)
  }

  async #namesIn(folder: string): Promise<Set<string>> {
    const { fs, cwd } = this.#context
    const path = fs.resolvePath(cwd, folder)
    if (!(await fs.exists(path))) return new Set()
    const excluded = (this.#settings.values.get('x') ?? []).map(patternOf)
    return new Set((await fs.readdir(path)).filter((name) => !excluded.some((pattern) => pattern.test(name))))
  }

  /** Null when there is nothing. */
  async #isFolder(name: string): Promise<boolean | null> {
    if (name === '-') return false
    const { fs, cwd } = this.#context
    const path = fs.resolvePath(cwd, name)
    return (await fs.exists(path)) ? (await fs.stat(path)).isDirectory : this.#settings.flags.has('N') ? false : null
  }

  async #side(name: string): Promise<Side> {
    const { fs, cwd, stdin } = this.#context
    if (name === '-') {
      const bytes = Uint8Array.from(String(stdin), (char) => char.charCodeAt(0))
      return { name, bytes, time: new Date() }
    }
    const path = fs.resolvePath(cwd, name)
    if (!(await fs.exists(path))) return { name, bytes: null, time: new Date(0) }
    return { name, bytes: await fs.readFileBuffer(path), time: (await fs.stat(path)).mtime }
  }
}

type Lines = { oldLines: string[]; newLines: string[]; edits: LineEdit[] }

function plainText({ oldLines, newLines, edits }: Lines): string {
  const range = (start: number, end: number) => (end - start <= 1 ? String(end) : `${start + 1},${end}`)
  return edits
    .map(({ start, end, from, to }) => {
      const kind = start === end ? 'a' : from === to ? 'd' : 'c'
      const removed = marked('< ', oldLines.slice(start, end))
      const added = marked('> ', newLines.slice(from, to))
      return `${range(start, end)}${kind}${range(from, to)}\n${removed}${kind === 'c' ? '---\n' : ''}${added}`
    })
    .join('')
}

function unifiedText({ oldLines, newLines, edits }: Lines, context: number): string {
  const hunks: LineEdit[][] = []
  for (const edit of edits) {
    const last = hunks.at(-1)?.at(-1)
    if (last && edit.start - last.end <= 2 * context) hunks.at(-1)?.push(edit)
    else hunks.push([edit])
  }
  const range = (start: number, length: number) =>
    length === 1 ? String(start + 1) : `${length === 0 ? start : start + 1},${length}`
  return hunks
    .map((hunk) => {
      const [first, last] = [hunk[0], hunk.at(-1)]
      if (!first || !last) return ''
      const lead = Math.min(context, first.start)
      const trail = Math.min(context, oldLines.length - last.end)
      const [start, from] = [first.start - lead, first.from - lead]
      const [end, to] = [last.end + trail, last.to + trail]
      let [text, at] = ['', start]
      for (const edit of hunk) {
        text += marked(' ', oldLines.slice(at, edit.start)) + marked('-', oldLines.slice(edit.start, edit.end))
        text += marked('+', newLines.slice(edit.from, edit.to))
        at = edit.end
      }
      return `@@ -${range(start, end - start)} +${range(from, to - from)} @@\n${text}${marked(' ', oldLines.slice(at, end))}`
    })
    .join('')
}

function marked(mark: string, lines: readonly string[]): string {
  return lines.map((line) => `${mark}${line}${line.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'}`).join('')
}

/** As it would be typed. */
function worded(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word)
}

/** A name with stars and question marks. */
function patternOf(glob: string): RegExp {
  const escaped = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${escaped}$`, 's')
}

function below(folder: string, name: string): string {
  return `${folder.replace(/\/+$/, '')}/${name}`
}

function lastOf(path: string): string {
  return path.replace(/\/+$/, '').replace(/^.*\//, '')
}
