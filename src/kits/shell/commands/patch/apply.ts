// Applies one patch to its file, with the messages.

import { linesOf } from '../../../../workspace/diff.ts'
import { replaceContents } from '../../../../workspace/file-system.ts'
import { resolvePath } from '../../../../workspace/paths.ts'
import { kindAt } from '../../../../workspace/stat.ts'
import { losslessBytes, losslessText } from '../../lossless-text.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { placeBelow } from '../file-walk.ts'
import { wordName } from '../files/names.ts'
import { applyHunks, type Patched, rejectsOf } from './hunks.ts'
import { absence, fileToPatch, strippedName } from './names.ts'
import type { PatchOptions } from './options.ts'
import { type FilePatch, MalformedPatch, reversed } from './read.ts'

export interface Outcome {
  ok: boolean
  text: string
}

/** Files that earlier patches of this run have created or changed, for a dry run. */
export type PatchedFiles = Map<string, string | null>

export class FilePatching {
  readonly #options: PatchOptions
  readonly #call: ShellCall
  readonly #folder: string
  readonly #seen: PatchedFiles
  #text = ''
  #given: FilePatch
  /** The rest is skipped. */
  #isSkipped = false
  #hasRejectFile = true

  constructor(
    patch: FilePatch,
    options: PatchOptions,
    { call, folder, seen }: { call: ShellCall; folder: string; seen: PatchedFiles },
  ) {
    this.#given = options.isReversed ? reversed(patch) : patch
    this.#options = options
    this.#call = call
    this.#folder = folder
    this.#seen = seen
  }

  /** A reversed patch still uses the first of its names to find the file. */
  #named(): FilePatch {
    const { oldName, newName } = this.#given
    return this.#options.isReversed ? { ...this.#given, oldName: newName, newName: oldName } : this.#given
  }

  async run(): Promise<Outcome> {
    const { file, strip } = this.#options
    if (this.#given.isStripped) this.#say('(Stripping trailing CRs from patch; use --binary to disable.)\n')
    const name = file ?? fileToPatch(this.#named(), strip, this.#call.fs, this.#folder)
    if (name === null) return this.#notFound()
    const placed =
      file === null
        ? placeBelow(this.#call.fs, this.#folder, name)
        : { ok: true as const, path: resolvePath(this.#folder, name) }
    if (!placed.ok) {
      this.#text += `Ignoring potentially dangerous file name ${name}: ${placed.reason}\n`
      return { ok: false, text: this.#text }
    }
    if (this.#given.isBinary) {
      this.#text += `File ${wordName(name)}: git binary diffs are not supported.\n`
      return { ok: false, text: this.#text }
    }
    return this.#apply(name, placed.path)
  }

  #say(text: string): void {
    if (!this.#options.isSilent) this.#text += text
  }

  #notFound(): Outcome {
    const { isForced, isBatch, strip } = this.#options
    const { lead, line, hunks } = this.#given
    if (isForced || isBatch) this.#text += 'No file to patch.  Skipping patch.\n'
    else {
      const advice = strip === null ? 'you should have used the' : 'you used the wrong'
      this.#text += `can't find file to patch at input line ${line}\nPerhaps ${advice} -p or --strip option?\n`
      this.#text += `The text leading up to this was:\n${RULE}${lead.map((one) => `|${one}\n`).join('')}${RULE}`
      this.#text += 'File to patch: \nSkip this patch? [y] \nSkipping patch.\n'
    }
    if (hunks.length > 0) this.#text += `${counted(hunks.length, hunks.length)} ignored\n`
    return { ok: false, text: this.#text }
  }

  async #apply(name: string, path: string): Promise<Outcome> {
    const { isDry, output, fuzz } = this.#options
    const before = await this.#contents(path)
    if (before === null && this.#options.file !== null && absence(this.#given, 'old') === 0)
      throw new MalformedPatch(`Can't reopen file ${name} : No such file or directory`)
    const lines = linesOf(before ?? '')
    const { git } = this.#given
    const renamed = git.to !== null && git.from !== null ? this.#renamed(git.to) : null
    const how = git.isCopy ? 'copied' : 'renamed'
    const shown =
      output !== null
        ? `${wordName(output)} (read from ${wordName(name)})`
        : renamed === null
          ? wordName(name)
          : `${wordName(renamed)} (${how} from ${wordName(name)})`
    if (!(git.isDeleted && this.#given.hunks.length === 0 && before !== null)) this.#asksForAbsent(name, before)
    this.#checkPrerequisite(before ?? '')
    if (!this.#isSkipped) {
      if (output === null && this.#isReadOnly(path)) this.#say(`File ${name} is read-only; trying to patch anyway\n`)
      this.#say(`${isDry ? 'checking' : 'patching'} file ${shown}\n`)
      this.#asksForReversed(lines)
    }
    // A patch that says that the file does not exist does not fit an existing one.
    const hasNoPlace = !this.#isSkipped && lines.length > 0 && absence(this.#given, 'old') > 1
    const patched =
      this.#isSkipped || hasNoPlace
        ? allFailed(lines, this.#given, hasNoPlace ? ['Hunk #1 FAILED at 1.'] : [])
        : applyHunks(lines, this.#given.hunks, fuzz)
    if (!this.#isSkipped) this.#say(patched.notes.map((note) => `${note}\n`).join(''))
    const ok = await this.#settle({ name, path, before, patched, renamed })
    return { ok, text: this.#text }
  }

  /** The file is another version than the one the patch was made for. */
  #checkPrerequisite(before: string): void {
    const { prerequisite } = this.#given
    if (prerequisite === null || this.#isSkipped || before.split(/\s+/).includes(prerequisite)) return
    const { isForced, isBatch } = this.#options
    const what = `this file doesn't appear to be the ${prerequisite} version`
    if (isForced) this.#say(`Warning: ${what} -- patching anyway.\n`)
    else if (isBatch) throw new MalformedPatch(`${what} -- aborting.`)
    else throw new MalformedPatch(`${what}: patching it without an answer is not available here`)
  }

  #isReadOnly(path: string): boolean {
    const { fs } = this.#call
    return kindAt(fs, path) === 'file' && (fs.stat(path).mode & 0o200) === 0
  }

  #renamed(to: string): string {
    return this.#options.file === null ? (strippedName(`b/${to}`, this.#options.strip) ?? to) : to
  }

  /** Null if there is no such file. */
  async #contents(path: string): Promise<string | null> {
    const seen = this.#seen.get(path)
    if (seen !== undefined) return seen
    return kindAt(this.#call.fs, path) === null ? null : losslessText(await this.#call.fs.read(path))
  }

  /** A patch that creates an existing file, or deletes a missing one, may be reversed. */
  #asksForAbsent(name: string, before: string | null): void {
    const isEmpty = before === null || before === ''
    const looksReversed = isEmpty ? absence(this.#given, 'new') > 0 : absence(this.#given, 'old') > 1
    if (!looksReversed) return
    const does = before === null ? 'delete' : isEmpty ? 'empty out' : 'create'
    const because = before === null ? 'does not exist' : isEmpty ? 'is already empty' : 'already exists'
    const isBack = this.#options.isReversed ? ', when reversed,' : ''
    this.#ask(`The next patch${isBack} would ${does} the file ${name},\nwhich ${because}!`)
    if (this.#isSkipped) this.#hasRejectFile = false
  }

  #asksForReversed(lines: readonly string[]): void {
    const [first] = this.#given.hunks
    if (first === undefined || this.#options.isForced) return
    const [back] = reversed(this.#given).hunks
    for (let fuzz = 0; fuzz <= this.#options.fuzz; fuzz++) {
      if (applyHunks(lines, [first], fuzz).failed.length === 0) return
      if (back !== undefined && applyHunks(lines, [back], fuzz).failed.length === 0) {
        const what = this.#options.isReversed ? 'Unreversed' : 'Reversed (or previously applied)'
        this.#ask(`${what} patch detected!`)
        return
      }
    }
  }

  /** There is no user to answer. */
  #ask(question: string): void {
    const { isForward, isForced, isBatch, isReversed } = this.#options
    this.#text += question
    if (isForward) this.#text += '  Skipping patch.\n'
    else if (isForced) this.#text += '  Applying it anyway.\n'
    else if (isBatch) {
      this.#text += isReversed ? '  Ignoring -R.\n' : '  Assuming -R.\n'
      this.#given = reversed(this.#given)
    } else {
      this.#text += `  ${isReversed ? 'Ignore' : 'Assume'} -R? [n] \nApply anyway? [n] \n`
      this.#say('Skipping patch.\n')
    }
    this.#isSkipped = isForward || !(isForced || isBatch)
  }

  /** Writes the result, and reports rejected hunks. */
  async #settle({ name, path, before, patched, renamed }: Settling): Promise<boolean> {
    const { fs } = this.#call
    const { isDry, output, removesEmpty } = this.#options
    const goal =
      output === null
        ? renamed === null
          ? path
          : resolvePath(this.#folder, renamed)
        : resolvePath(this.#folder, output)
    const after = patched.lines.join('')
    let ok = await this.#reject(name, patched)
    if (this.#isSkipped) return false
    const isGone = ok && output === null && (removesEmpty || absence(this.#given, 'new') > 1)
    if (isGone && after !== '' && absence(this.#given, 'new') > 1) {
      this.#say(`Not deleting file ${name} as content differs from patch\n`)
      ok = false
    }
    this.#seen.set(path, isGone && after === '' ? null : after)
    if (isDry) return ok
    if (before !== null && this.#isKept(patched) && output === null) {
      await fs.write(path + this.#options.suffix, losslessBytes(before))
      fs.chmod(path + this.#options.suffix, fs.stat(path).mode)
    }
    if (isGone && after === '') this.#remove(path)
    else if (after !== before || output !== null || renamed !== null) await this.#write(goal, after, { path, renamed })
    if (this.#given.git.mode !== null && !isGone) fs.chmod(goal, this.#given.git.mode)
    return ok
  }

  #isKept({ notes }: Patched): boolean {
    const { backup } = this.#options
    return backup === 'always' || (backup === 'mismatch' && notes.length > 0)
  }

  async #write(
    goal: string,
    after: string,
    { path, renamed }: { path: string; renamed: string | null },
  ): Promise<void> {
    const { fs } = this.#call
    fs.makeDirectory(goal.slice(0, goal.lastIndexOf('/')) || '/', { recursive: true })
    const mode = kindAt(fs, path) === 'file' ? fs.stat(path).mode : undefined
    await replaceContents(fs, goal, { bytes: losslessBytes(after), mode })
    if (renamed !== null && !this.#given.git.isCopy && goal !== path) this.#remove(path)
  }

  /** Including folders that become empty, up to the current one. */
  #remove(path: string): void {
    const { fs } = this.#call
    if (kindAt(fs, path) !== null) fs.remove(path)
    let parent = path.slice(0, path.lastIndexOf('/'))
    while (parent.startsWith(`${this.#folder}/`) && fs.list(parent).length === 0) {
      fs.remove(parent)
      parent = parent.slice(0, parent.lastIndexOf('/'))
    }
  }

  /** Whether every hunk was applied. */
  async #reject(name: string, { failed }: Patched): Promise<boolean> {
    if (failed.length === 0) return true
    const { isDry, output, rejects, strip } = this.#options
    const file = rejects ?? `${output ?? name}.rej`
    const isWritten = !isDry && this.#hasRejectFile && file !== '-'
    const saving = isWritten ? ` -- saving rejects to file ${wordName(file)}` : ''
    this.#text += `${counted(failed.length, this.#given.hunks.length)} ${this.#isSkipped ? 'ignored' : 'FAILED'}${saving}\n`
    if (isWritten) {
      const text = rejectsOf(headerOf(this.#given, strip), failed, this.#given.form)
      await this.#call.fs.write(resolvePath(this.#folder, file), losslessBytes(text))
    }
    return false
  }
}

type Settling = { name: string; path: string; before: string | null; patched: Patched; renamed: string | null }

const RULE = '--------------------------\n'

const counted = (count: number, all: number): string => `${count} out of ${all} hunk${all === 1 ? '' : 's'}`

function allFailed(lines: readonly string[], { hunks }: FilePatch, notes: string[]): Patched {
  return { lines: [...lines], notes, failed: [...hunks] }
}

function headerOf({ form, oldName, newName, oldTime, newTime }: FilePatch, strip: number | null): string {
  const line = (mark: string, name: string | null, when: string) =>
    `${mark} ${name === '/dev/null' ? name : (strippedName(name, strip) ?? name ?? '/dev/null')}${when === '' ? '' : `\t${when}`}\n`
  const [before, after] = form === 'unified' ? ['---', '+++'] : ['***', '---']
  return line(before, oldName, oldTime) + line(after, newName, newTime)
}
