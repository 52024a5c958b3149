// Parses patches of git and diff.

import { failed } from '../failure.ts'

export interface Hunk {
  oldStart: number
  newStart: number
  /** Each with its sign and its line end; a last line may have none. */
  lines: { sign: ' ' | '-' | '+'; text: string; at: number }[]
  /** The line of the header in the patch, counted from 1. */
  at: number
  /** The original text. */
  source: string
}

export interface FilePatch {
  /** Null for a new file. */
  oldPath: string | null
  /** Null for a deleted file. */
  newPath: string | null
  oldMode: number | null
  newMode: number | null
  /** The ids of the contents, if they are complete. */
  oldId: string | null
  newId: string | null
  isRename: boolean
  isCopy: boolean
  isBinary: boolean
  similarity: number | null
  hunks: Hunk[]
  /** The name of the patch's source. */
  source?: string
}

export interface ParseOptions {
  /** The number of leading folders removed from names. */
  strip: number
  /** Counts in the headers of hunks are ignored. */
  recounts: boolean
  /** A header that changes nothing is refused; where the patch is only shown it may stand. */
  applies: boolean
}

export function parsePatch(text: string, options: ParseOptions): FilePatch[] {
  return new PatchReader(text, options).read()
}

function isWithoutChange({
  hunks,
  isBinary,
  isRename,
  isCopy,
  oldPath,
  newPath,
  oldMode,
  newMode,
}: FilePatch): boolean {
  if (hunks.length > 0 || isBinary || isRename || isCopy || oldPath === null || newPath === null) return false
  return oldMode === null || newMode === null || oldMode === newMode
}

class PatchReader {
  readonly #lines: string[]
  readonly #options: ParseOptions
  #at = 0

  constructor(text: string, options: ParseOptions) {
    this.#lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
    this.#options = options
  }

  read(): FilePatch[] {
    const files: FilePatch[] = []
    while (this.#at < this.#lines.length) {
      const line = this.#line()
      if (line.startsWith('diff --git ')) files.push(...this.#gitPatch())
      else if (line.startsWith('--- ') && this.#line(1).startsWith('+++ ') && this.#line(2).startsWith('@@ -'))
        files.push(this.#plainPatch())
      else if (/^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/.test(line))
        throw failed(`patch fragment without header at line ${this.#at + 1}: ${line.trimEnd()}`, 128)
      else this.#at++
    }
    return files
  }

  #line(ahead = 0): string {
    return this.#lines[this.#at + ahead] ?? ''
  }

  /** None where nothing belongs to the first line: then it is as good as any other text. */
  #gitPatch(): FilePatch[] {
    const named = this.#namesOfHeader(this.#line().slice('diff --git '.length).trimEnd())
    const file: FilePatch = { ...EMPTY, oldPath: named, newPath: named, hunks: [] }
    const next = this.#at + 1
    for (this.#at++; this.#at < this.#lines.length; this.#at++) {
      const line = this.#line().trimEnd()
      if (line.startsWith('@@ -') || line.startsWith('diff --git ')) break
      if (line.startsWith('GIT binary patch') || line.startsWith('Binary files ')) {
        file.isBinary = true
        this.#skipBinary()
        break
      }
      if (!this.#extended(file, line)) break
    }
    if (this.#at === next) return []
    if (!(file.oldPath || file.newPath)) {
      const { strip } = this.#options
      const components = `${strip} leading pathname component${strip === 1 ? '' : 's'}`
      const where = `git diff header lacks filename information when removing ${components} (line ${this.#at + 1})`
      throw failed(where, 128)
    }
    this.#hunks(file)
    if (this.#options.applies && isWithoutChange(file))
      throw failed(`patch with only garbage at line ${this.#at + 1}`, 128)
    return [file]
  }

  /** False for a line that is not part of a header. */
  #extended(file: FilePatch, line: string): boolean {
    const [, key = '', value = ''] =
      /^(old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to|rename old|rename new|similarity index|dissimilarity index|index|---|\+\+\+) (.*)$/.exec(
        line,
      ) ?? []
    if (key === '') return false
    if (key === 'old mode') file.oldMode = Number.parseInt(value, 8)
    else if (key === 'new mode') file.newMode = Number.parseInt(value, 8)
    else if (key === 'new file mode') Object.assign(file, { newMode: Number.parseInt(value, 8), oldPath: null })
    else if (key === 'deleted file mode') Object.assign(file, { oldMode: Number.parseInt(value, 8), newPath: null })
    else if (key === 'similarity index') file.similarity = Number.parseInt(value, 10)
    else if (/^(copy|rename)/.test(key)) {
      file[key.startsWith('copy') ? 'isCopy' : 'isRename'] = true
      const path = stripped(unquoted(value), Math.max(0, this.#options.strip - 1))
      if (/from|old/.test(key)) file.oldPath = path
      else file.newPath = path
    } else if (key === 'index') {
      const match = /^([0-9a-f]+)\.\.([0-9a-f]+)(?: (\d+))?$/.exec(value)
      Object.assign(file, { oldId: match?.[1] ?? null, newId: match?.[2] ?? null })
      if (match?.[3]) file.oldMode ??= Number.parseInt(match[3], 8)
    } else if (key === '---' || key === '+++') {
      const path = this.#path(value)
      if (key === '---') file.oldPath = path
      else file.newPath = path
    }
    return true
  }

  #skipBinary(): void {
    for (this.#at++; this.#at < this.#lines.length; this.#at++) {
      if (/^(diff --git |--- |@@ -)/.test(this.#line())) return
    }
  }

  #plainPatch(): FilePatch {
    const [oldPath, newPath] = [this.#path(this.#line().slice(4)), this.#path(this.#line(1).slice(4))]
    this.#at += 2
    const file: FilePatch = { ...EMPTY, oldPath, newPath, hunks: [] }
    this.#hunks(file)
    // Without `/dev/null`, an empty side means that there is no file.
    const first = file.hunks[0]
    const isOnly = (sign: string) => file.hunks.length === 1 && first?.lines.every((line) => line.sign === sign)
    if (oldPath !== null && newPath !== null && first?.oldStart === 0 && isOnly('+')) file.oldPath = null
    if (oldPath !== null && newPath !== null && first?.newStart === 0 && isOnly('-')) file.newPath = null
    const path = file.newPath ?? file.oldPath
    if (file.oldPath !== null && file.newPath !== null) Object.assign(file, { oldPath: path, newPath: path })
    return file
  }

  #hunks(file: FilePatch): void {
    for (;;) {
      const match = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(this.#line())
      if (!match) return
      const [oldStart, newStart] = [Number(match[1]), Number(match[3])]
      const hunk: Hunk = { oldStart, newStart, lines: [], at: this.#at + 1, source: '' }
      const begin = this.#at++
      this.#body(hunk, { old: Number(match[2] ?? 1), now: Number(match[4] ?? 1) })
      hunk.source = this.#lines.slice(begin, this.#at).join('')
      file.hunks.push(hunk)
    }
  }

  #body(hunk: Hunk, { old, now }: { old: number; now: number }): void {
    const { recounts } = this.#options
    const left = recounts ? { old: Number.POSITIVE_INFINITY, now: Number.POSITIVE_INFINITY } : { old, now }
    while (left.old > 0 || left.now > 0) {
      const line = this.#line()
      const sign = line === '\n' ? ' ' : line[0]
      if (sign !== ' ' && sign !== '-' && sign !== '+') {
        if (recounts) break
        throw failed(`corrupt patch at line ${this.#at + 1}`, 128)
      }
      if (recounts && /^(--- |diff --git )/.test(line)) break
      if (sign !== '+') left.old--
      if (sign !== '-') left.now--
      if (left.old < 0 || left.now < 0) throw failed(`corrupt patch at line ${this.#at + 1}`, 128)
      const text = line === '\n' ? '\n' : line.slice(1)
      hunk.lines.push({ sign, text: text.endsWith('\n') ? text : `${text}\n`, at: this.#at + 1 })
      this.#at++
      if (this.#line().startsWith('\\ ')) {
        const last = hunk.lines.at(-1)
        if (last) last.text = last.text.slice(0, -1)
        this.#at++
      }
    }
  }

  #path(value: string): string | null {
    // Other programs write the file's time after a tab.
    const name = unquoted(value.startsWith('"') ? value.trimEnd() : value.replace(/\t.*$/s, '').trimEnd())
    return name === '/dev/null' ? null : stripped(name, this.#options.strip)
  }

  /** The two names of a header differ only in their first folder, or other lines contain them. */
  #namesOfHeader(text: string): string | null {
    if (text.startsWith('"')) {
      const first = /^"(?:\\.|[^"\\])*"/.exec(text)?.[0] ?? ''
      return stripped(unquoted(first), this.#options.strip)
    }
    for (let at = text.indexOf(' '); at > 0; at = text.indexOf(' ', at + 1)) {
      const [a, b] = [text.slice(0, at), text.slice(at + 1)]
      const [left, right] = [stripped(a, this.#options.strip), stripped(b, this.#options.strip)]
      if (left === right && left !== '') return left
    }
    return null
  }
}

const EMPTY: Omit<FilePatch, 'hunks'> = {
  oldPath: null,
  newPath: null,
  oldMode: null,
  newMode: null,
  oldId: null,
  newId: null,
  isRename: false,
  isCopy: false,
  isBinary: false,
  similarity: null,
}

function stripped(path: string, count: number): string {
  return path.split('/').slice(count).join('/')
}

const ESCAPES: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 }

/** A quoted name has escapes for bytes. */
function unquoted(text: string): string {
  if (!text.startsWith('"')) return text
  const bytes: number[] = []
  const inner = text.slice(1, text.lastIndexOf('"'))
  for (const [part] of inner.matchAll(/\\[0-7]{3}|\\.|[^\\]/gsu)) {
    if (/^\\[0-7]{3}$/.test(part)) bytes.push(Number.parseInt(part.slice(1), 8))
    else if (part.startsWith('\\')) bytes.push(ESCAPES[part[1] ?? ''] ?? 0)
    else bytes.push(...new TextEncoder().encode(part))
  }
  return new TextDecoder().decode(Uint8Array.from(bytes))
}

/** The reverse patch. */
export function reversed(file: FilePatch): FilePatch {
  const signs = { ' ': ' ', '-': '+', '+': '-' } as const
  const turn = (hunk: Hunk): Hunk => ({
    ...hunk,
    oldStart: hunk.newStart,
    newStart: hunk.oldStart,
    lines: hunk.lines.map((line) => ({ ...line, sign: signs[line.sign] })),
  })
  return {
    ...file,
    oldPath: file.newPath,
    newPath: file.oldPath,
    oldMode: file.newMode ?? (file.newPath === null ? null : file.oldMode),
    newMode: file.oldMode,
    oldId: file.newId,
    newId: file.oldId,
    hunks: file.hunks.map(turn),
  }
}
