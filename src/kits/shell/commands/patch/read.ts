// Parses patches of `diff` and git in unified, context or normal form, with any other text around them.

export interface Hunk {
  oldStart: number
  oldLines: number
  newStart: number
  newLines: number
  /** Each with its mark and without its line end; a `\` follows a line without one. */
  lines: string[]
}

export type PatchForm = 'unified' | 'context' | 'normal'

export interface FilePatch {
  form: PatchForm
  /** Null if there is none. */
  oldName: string | null
  newName: string | null
  /** The name in an `Index:` line, and the word that `Prereq:` requires in the file. */
  indexName: string | null
  prerequisite: string | null
  /** The text after the names. */
  oldTime: string
  newTime: string
  hunks: Hunk[]
  /** Git's extended headers. */
  git: {
    isNew: boolean
    isDeleted: boolean
    mode: number | null
    from: string | null
    to: string | null
    isCopy: boolean
  }
  isBinary: boolean
  /** The lines before the first hunk, and the number of its first line. */
  lead: string[]
  line: number
  /** Its lines ended with carriage returns, which were removed. */
  isStripped: boolean
}

/** An invalid patch; the message contains the line. */
export class MalformedPatch extends Error {}

const UNIFIED = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/
const NORMAL = /^(\d+)(?:,(\d+))?([acd])(\d+)(?:,(\d+))?\r?$/
const MOST_CHOPPED = 3
const NOTHING = { isNew: false, isDeleted: false, mode: null, from: null, to: null, isCopy: false }

type Reading = { isBinary: boolean; form: PatchForm | null }

export function readPatches(text: string, reading: Reading): FilePatch[] {
  return new PatchReader(text, reading).all()
}

class PatchReader {
  readonly #lines: string[]
  readonly #keepsReturns: boolean
  readonly #form: PatchForm | null
  #at = 0

  constructor(text: string, { isBinary, form }: Reading) {
    this.#lines = text.split('\n')
    if (this.#lines.at(-1) === '') this.#lines.pop()
    this.#keepsReturns = isBinary
    this.#form = form
  }

  all(): FilePatch[] {
    const patches: FilePatch[] = []
    while (this.#at < this.#lines.length) {
      const next = this.#next()
      if (next !== null) patches.push(next)
    }
    return patches
  }

  #line(at: number): string {
    return this.#lines[at] ?? ''
  }

  /** Null if only text is left. */
  #next(): FilePatch | null {
    const start = this.#at
    let patch = emptyPatch()
    let hasGit = false
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#line(this.#at).replace(/\r$/, '')
      if (line.startsWith('diff --git ')) {
        if (hasGit && isTold(patch)) return this.#ended(patch, start)
        patch = { ...emptyPatch(), ...gitNames(line) }
        hasGit = true
      } else if (hasGit && readGitLine(line, patch)) continue
      else if (readLead(line, patch)) continue
      else {
        const form = this.#formAt(line)
        if (form === null || (this.#form !== null && this.#form !== form)) continue
        if (form === 'context') return this.#context(patch, start)
        if (form === 'normal') return this.#normal(patch, start)
        if (UNIFIED.test(line)) this.#at -= 2
        return this.#unified(patch, start)
      }
    }
    return hasGit && isTold(patch) ? this.#ended(patch, start) : null
  }

  /** The kind of diff that starts in this line, if one does. */
  #formAt(line: string): PatchForm | null {
    const [next, third] = [this.#line(this.#at + 1), this.#line(this.#at + 2)]
    if (isHeader(line, next, '--- ', '+++ ') && UNIFIED.test(third)) return 'unified'
    if (isHeader(line, next, '*** ', '--- ') && /^\*{15}/.test(third)) return 'context'
    if (UNIFIED.test(line)) return 'unified'
    return NORMAL.test(line) && /^[<>] /.test(next) ? 'normal' : null
  }

  #ended(patch: FilePatch, start: number): FilePatch {
    const line = Math.min(this.#at + 1, this.#lines.length)
    return { ...patch, lead: this.#lines.slice(start, this.#at), line }
  }

  #named(patch: FilePatch, start: number, [oldMark, newMark]: readonly [string, string]): FilePatch {
    const [old, now] = [this.#line(this.#at), this.#line(this.#at + 1)]
    const isStripped = !this.#keepsReturns && old.endsWith('\r')
    if (isStripped)
      for (let i = this.#at; i < this.#lines.length; i++) this.#lines[i] = this.#line(i).replace(/\r$/, '')
    this.#at += 2
    const lead = this.#lines.slice(start, this.#at)
    const whole = { ...patch, isStripped, lead, line: this.#at + 1 }
    const isGit = patch.oldName !== null || patch.newName !== null
    if (old.startsWith(oldMark)) [whole.oldName, whole.oldTime] = nameAndTime(old.slice(4), isGit)
    if (now.startsWith(newMark)) [whole.newName, whole.newTime] = nameAndTime(now.slice(4), isGit)
    return whole
  }

  #unified(patch: FilePatch, start: number): FilePatch {
    const whole = this.#named(patch, start, ['--- ', '+++ '])
    for (let found = UNIFIED.exec(this.#line(this.#at)); found; found = UNIFIED.exec(this.#line(this.#at))) {
      const [, oldStart = '0', oldLines = '1', newStart = '0', newLines = '1'] = found
      this.#at++
      const hunk = {
        oldStart: Number(oldStart) + (oldLines === '0' ? 1 : 0),
        oldLines: Number(oldLines),
        newStart: Number(newStart) + (newLines === '0' ? 1 : 0),
        newLines: Number(newLines),
      }
      whole.hunks.push({ ...hunk, lines: this.#hunkLines(hunk) })
    }
    return whole
  }

  #hunkLines({ oldLines, newLines }: Omit<Hunk, 'lines'>): string[] {
    const lines: string[] = []
    let [old, now] = [oldLines, newLines]
    while (old > 0 || now > 0) {
      // Blank lines may have been removed at the end of the patch.
      const line = this.#lines[this.#at] ?? (now <= MOST_CHOPPED ? ' ' : undefined)
      if (line === undefined) throw new MalformedPatch(`unexpected end of file in patch`)
      // An empty line has lost its leading blank.
      const mark = line === '' ? ' ' : line.charAt(0)
      if (mark !== '\\') {
        if (!' +-'.includes(mark)) throw new MalformedPatch(`malformed patch at line ${this.#at + 1}: ${line}\n`)
        if (mark !== '+') old--
        if (mark !== '-') now--
        if (old < 0 || now < 0) throw new MalformedPatch(`malformed patch at line ${this.#at + 1}: ${line}\n`)
      }
      lines.push(line === '' ? ' ' : line)
      this.#at++
    }
    if (this.#line(this.#at).startsWith('\\')) lines.push(this.#line(this.#at++))
    return lines
  }

  #context(patch: FilePatch, start: number): FilePatch {
    const whole: FilePatch = { ...this.#named(patch, start, ['*** ', '--- ']), form: 'context' }
    while (/^\*{15}/.test(this.#line(this.#at))) {
      const at = ++this.#at
      const old = this.#half(/^\*\*\* (\d+)(?:,(\d+))? \*\*\*\*/, at)
      const now = this.#half(/^--- (\d+)(?:,(\d+))? ----/, at)
      whole.hunks.push(joinedHalves(old, now))
    }
    return whole
  }

  #half(header: RegExp, start: number): Half {
    const found = header.exec(this.#line(this.#at))
    if (this.#at >= this.#lines.length) throw new MalformedPatch('unexpected end of file in patch')
    if (!found) throw new MalformedPatch(`context mangled in hunk at line ${start + 1}`)
    this.#at++
    const lines: string[] = []
    while (/^([ +!-] |[ +!-]$|\\)/.test(this.#line(this.#at)) && !/^--- \d/.test(this.#line(this.#at))) {
      lines.push(this.#line(this.#at++))
    }
    return { start: Number(found[1]), lines }
  }

  #normalLines(sign: '<' | '>', count: number): string[] {
    const lines: string[] = []
    for (let i = 0; i < count; i++) {
      const line = this.#lines[this.#at++]
      if (line === undefined) throw new MalformedPatch(`unexpected end of file in patch at line ${this.#at - 1}`)
      if (line[0] !== sign || !/^[ \t]?$/.test(line.slice(1, 2)))
        throw new MalformedPatch(`'${sign}' followed by space or tab expected at line ${this.#at} of patch`)
      lines.push((sign === '<' ? '-' : '+') + line.slice(2))
    }
    if (this.#line(this.#at).startsWith('\\')) lines.push(this.#line(this.#at++))
    return lines
  }

  #normal(patch: FilePatch, start: number): FilePatch {
    const lead = this.#lines.slice(start, this.#at)
    const whole: FilePatch = { ...patch, form: 'normal', lead, line: this.#at + 1 }
    for (let found = NORMAL.exec(this.#line(this.#at)); found; found = NORMAL.exec(this.#line(this.#at))) {
      const [, from = '0', to = from, kind = '', newFrom = '0', newTo = newFrom] = found
      this.#at++
      const [oldLines, newLines] = [
        kind === 'a' ? 0 : Number(to) - Number(from) + 1,
        kind === 'd' ? 0 : Number(newTo) - Number(newFrom) + 1,
      ]
      const lines = this.#normalLines('<', oldLines)
      if (kind === 'c' && this.#line(this.#at++) !== '---')
        throw new MalformedPatch(`'---' expected at line ${this.#at} of patch`)
      lines.push(...this.#normalLines('>', newLines))
      whole.hunks.push({
        oldStart: Number(from) + (kind === 'a' ? 1 : 0),
        oldLines,
        newStart: Number(newFrom) + (kind === 'd' ? 1 : 0),
        newLines,
        lines,
      })
    }
    return whole
  }
}

const emptyPatch = (): FilePatch => ({
  ...{ oldName: null, newName: null, oldTime: '', newTime: '', hunks: [], git: { ...NOTHING }, isBinary: false },
  ...{ form: 'unified', indexName: null, prerequisite: null },
  ...{ lead: [], line: 1, isStripped: false },
})

const isHeader = (line: string, next: string, first: string, second: string): boolean =>
  line.startsWith(first) && next.startsWith(second)

/** Whether git's headers describe a change without hunks. */
const isTold = ({ git, isBinary }: FilePatch): boolean =>
  git.isNew || git.isDeleted || git.from !== null || git.mode !== null || isBinary

function gitNames(line: string): Partial<FilePatch> {
  const [, oldName = null, newName = null] = /^diff --git (a\/.+) (b\/.+)$/.exec(line) ?? []
  return { oldName, newName }
}

function readLead(line: string, patch: FilePatch): boolean {
  const [, word, rest = ''] = /^(Index|Prereq): *(\S+)/.exec(line) ?? []
  if (word === 'Index') patch.indexName = rest
  if (word === 'Prereq') patch.prerequisite = rest
  return word !== undefined
}

function readGitLine(line: string, patch: FilePatch): boolean {
  const { git } = patch
  const [, word = '', rest = ''] =
    /^(new file mode|deleted file mode|new mode|old mode|rename from|rename to|copy from|copy to|GIT binary patch|Binary files) ?(.*)$/.exec(
      line,
    ) ?? []
  if (word === '') return /^(index |similarity |dissimilarity )/.test(line)
  if (word === 'new file mode') git.isNew = true
  if (word === 'deleted file mode') git.isDeleted = true
  if (word === 'new file mode' || word === 'new mode') git.mode = Number.parseInt(rest, 8) & 0o777
  if (word.endsWith(' from')) git.from = rest
  if (word.endsWith(' to')) git.to = rest
  if (word.startsWith('copy')) git.isCopy = true
  if (/^(GIT|Binary)/.test(word)) patch.isBinary = true
  return true
}

/** A time follows a tab; git quotes special names. */
function nameAndTime(text: string, isGit: boolean): [string | null, string] {
  const tab = text.indexOf('\t')
  const [name, time] = tab < 0 ? [text.replace(/\r$/, ''), ''] : [text.slice(0, tab), text.slice(tab + 1)]
  const plain = name.startsWith('"') ? unquoted(name) : isGit || tab >= 0 ? name : name.trimEnd()
  return [plain === '' ? null : plain, time]
}

function unquoted(name: string): string {
  const bytes: number[] = []
  const encoder = new TextEncoder()
  for (const [whole, octal, letter] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/g)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8))
    else
      bytes.push(
        ...encoder.encode(letter === undefined ? whole : letter === 't' ? '\t' : letter === 'n' ? '\n' : letter),
      )
  }
  return new TextDecoder().decode(Uint8Array.from(bytes))
}

type Half = { start: number; lines: string[] }

/** A half without lines is derived from the other one. */
function joinedHalves(old: Half, now: Half): Hunk {
  const marked = (half: Half, mark: string) =>
    half.lines.map((line) => (line.startsWith('\\') ? line : (line[0] === ' ' ? ' ' : mark) + line.slice(2)))
  const [before, after] = [marked(old, '-'), marked(now, '+')]
  if (before.length === 0) before.push(...after.filter((line) => line.startsWith(' ')))
  if (after.length === 0) after.push(...before.filter((line) => line.startsWith(' ')))
  const lines: string[] = []
  let [i, k] = [0, 0]
  while (i < before.length || k < after.length) {
    const isChange = (line: string | undefined) => line !== undefined && !line.startsWith(' ')
    if (isChange(before[i])) lines.push(before[i++] ?? '')
    else if (isChange(after[k])) lines.push(after[k++] ?? '')
    else {
      lines.push(before[i] ?? after[k] ?? '')
      i++
      k++
    }
  }
  const count = (mark: string) => lines.filter((line) => line[0] === ' ' || line[0] === mark).length
  const [oldLines, newLines] = [count('-'), count('+')]
  return {
    oldStart: old.start + (oldLines === 0 ? 1 : 0),
    oldLines,
    newStart: now.start + (newLines === 0 ? 1 : 0),
    newLines,
    lines,
  }
}

export function reversed(patch: FilePatch): FilePatch {
  const { git } = patch
  return {
    ...patch,
    ...{ oldName: patch.newName, newName: patch.oldName, oldTime: patch.newTime, newTime: patch.oldTime },
    git: { ...git, isNew: git.isDeleted, isDeleted: git.isNew, from: git.to, to: git.from, mode: null },
    hunks: patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
      ...{ oldStart: newStart, oldLines: newLines, newStart: oldStart, newLines: oldLines },
      lines: turned(lines),
    })),
  }
}

/** Removed lines are before added ones, also after reversing. */
function turned(lines: readonly string[]): string[] {
  const [result, goes, comes]: [string[], string[], string[]] = [[], [], []]
  let last = result
  const flush = () => result.push(...goes.splice(0), ...comes.splice(0))
  for (const line of lines) {
    if (line.startsWith('\\')) {
      last.push(line)
      continue
    }
    last = line.startsWith('+') ? goes : line.startsWith('-') ? comes : result
    if (last === result) flush()
    last.push(line.startsWith('+') ? `-${line.slice(1)}` : line.startsWith('-') ? `+${line.slice(1)}` : line)
  }
  flush()
  return result
}
