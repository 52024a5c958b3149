// `patch` of the shell: applies unified diffs.

import { parsePatch, type StructuredPatch } from 'diff'
import { textIfAny } from '../diff.ts'
import { isFileError } from '../file-system.ts'
import { resolvePath } from '../paths.ts'
import type { ShellCall, ShellResult } from '../shell-extensions.ts'
import { kindAt, placeBelow } from './file-walk.ts'
import { readOptions } from './options.ts'
import { applyHunks, linesOf, type Patched, rejectsOf } from './patch-hunks.ts'

const SPEC = {
  flags: {
    ...{
      '-R': 'reverse',
      '--reverse': 'reverse',
      '--dry-run': 'dry-run',
      '-s': 'silent',
      '--silent': 'silent',
      '--quiet': 'silent',
    },
    ...{
      '-N': 'forward',
      '--forward': 'forward',
      '-f': 'force',
      '--force': 'force',
      '-u': 'unified',
      '-t': 'force',
      '--batch': 'force',
      '--no-backup-if-mismatch': 'no-backup',
      '-b': 'backup',
      '--backup': 'backup',
      '-E': 'remove-empty',
      '--remove-empty-files': 'remove-empty',
    },
  },
  values: {
    ...{
      '-p': 'strip',
      '--strip': 'strip',
      '-i': 'input',
      '--input': 'input',
      '-d': 'directory',
      '--directory': 'directory',
    },
    ...{
      '-F': 'fuzz',
      '--fuzz': 'fuzz',
      '-o': 'output',
      '--output': 'output',
      '-r': 'rejects',
      '--reject-file': 'rejects',
    },
    ...{ '-z': 'suffix', '--suffix': 'suffix' },
  },
}

const MAX_PATCH_CHARS = 8 * 1024 * 1024

export async function runPatch(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const read = readOptions(args, SPEC)
  if (!read.ok) return failure(read.problem)
  const { values, flags, operands } = read
  try {
    const folder = resolvePath(call.cwd, values.get('directory')?.at(-1) ?? '.')
    const input = values.get('input')?.at(-1) ?? operands[1]
    const text =
      input === undefined || input === '-'
        ? call.stdin
        : new TextDecoder().decode(await call.fs.read(resolvePath(call.cwd, input)))
    if (text.length > MAX_PATCH_CHARS) return failure('the patch is too large')
    const patches = parsed(text)
    if (patches === null) return failure('the patch is malformed')
    if (patches.length === 0) return failure('Only garbage was found in the patch input.')
    const strip = values.has('strip') ? Number(values.get('strip')?.at(-1)) : null
    const result = { stdout: '', stderr: '', exitCode: 0 }
    for (const one of patches) {
      await call.pause()
      const outcome = await applyOne(one, { folder, strip, flags, values, named: operands[0], call })
      if (!flags.has('silent') || !outcome.ok) result.stdout += `${outcome.line}\n`
      if (!outcome.ok) result.exitCode = 1
    }
    return result
  } catch (error) {
    if (isFileError(error)) return failure(error.message)
    throw error
  }
}

function parsed(text: string): StructuredPatch[] | null {
  try {
    return parsePatch(text).filter(({ hunks }) => hunks.length > 0)
  } catch {
    // The library throws for whatever it cannot read; that is the answer.
    return null
  }
}

type How = {
  folder: string
  strip: number | null
  flags: ReadonlySet<string>
  values: ReadonlyMap<string, string[]>
  named: string | undefined
  call: ShellCall
}

type Outcome = { ok: boolean; line: string }

async function applyOne(one: StructuredPatch, how: How): Promise<Outcome> {
  const { folder, strip, flags, named, call } = how
  const { fs } = call
  const given = flags.has('reverse') ? reversed(one) : one
  const name = named ?? fileName(given, strip, (candidate) => kindAt(fs, resolvePath(folder, candidate)) !== null)
  if (name === null) return { ok: false, line: "can't find file to patch" }
  const placed =
    named === undefined ? placeBelow(fs, folder, name) : { ok: true as const, path: resolvePath(folder, named) }
  if (!placed.ok) return { ok: false, line: `Ignoring potentially dangerous file name ${name}: ${placed.reason}` }
  const { path } = placed
  const exists = kindAt(fs, path) !== null
  if (given.oldFileName !== '/dev/null' && !exists) return { ok: false, line: `can't find file to patch: ${name}` }
  const before = exists ? textIfAny(await fs.read(path)) : ''
  if (before === null) return { ok: false, line: `${name}: not a text file` }
  const fuzz = Number(how.values.get('fuzz')?.at(-1) ?? 2)
  const patched = applyHunks(linesOf(before), given.hunks, fuzz)
  const isReversed = patched.failed.length === given.hunks.length && appliesBackwards(before, given)
  return settle({ name, path, before, given, patched, isReversed }, how)
}

function appliesBackwards(before: string, given: StructuredPatch): boolean {
  return applyHunks(linesOf(before), reversed(given).hunks, 0).failed.length === 0
}

type Settling = {
  name: string
  path: string
  before: string
  given: StructuredPatch
  patched: Patched
  isReversed: boolean
}

/** Writes what came of it, and tells it. A file of which no hunk was at its place is kept beside the new one. */
async function settle(
  { name, path, before, given, patched, isReversed }: Settling,
  { folder, strip, flags, values, call: { fs } }: How,
): Promise<Outcome> {
  const output = values.get('output')?.at(-1)
  const isDry = flags.has('dry-run')
  const shown = output === undefined ? name : `${output} (read from ${name})`
  const lines = [`${isDry ? 'checking' : 'patching'} file ${shown}`]
  const ok = patched.failed.length === 0
  if (isReversed) lines.push(reversedNote(flags))
  else if (!flags.has('silent')) lines.push(...patched.notes)
  const rejects = values.get('rejects')?.at(-1) ?? `${output ?? name}.rej`
  if (!ok) {
    const count = `${patched.failed.length} out of ${given.hunks.length} hunk${given.hunks.length === 1 ? '' : 's'}`
    lines.push(`${count} ${isReversed ? 'ignored' : 'FAILED'}${isDry ? '' : ` -- saving rejects to file ${rejects}`}`)
  }
  const told = { ok, line: (flags.has('silent') ? lines.slice(1) : lines).join('\n') }
  if (isDry) return told
  const encoder = new TextEncoder()
  const goal = output === undefined ? path : resolvePath(folder, output)
  const after = patched.lines.join('')
  if (kindAt(fs, path) !== null && !isReversed && keepsOld(patched, flags) && output === undefined) {
    await fs.write(`${path}${values.get('suffix')?.at(-1) ?? '.orig'}`, encoder.encode(before))
  }
  const isGone = after === '' && (given.newFileName === '/dev/null' || flags.has('remove-empty'))
  if (isGone && ok) fs.remove(path)
  else if (after !== before || output !== undefined) {
    fs.makeDirectory(goal.slice(0, goal.lastIndexOf('/')) || '/', { recursive: true })
    await fs.write(goal, encoder.encode(after))
  }
  if (!ok)
    await fs.write(resolvePath(folder, rejects), encoder.encode(rejectsOf(headerOf(given, strip), patched.failed)))
  return told
}

function headerOf({ oldFileName, newFileName, oldHeader, newHeader }: StructuredPatch, strip: number | null): string {
  const line = (mark: string, name = '', when = '') => {
    const shown = name
      .split('/')
      .slice(strip ?? -1)
      .join('/')
    return `${mark} ${name === '/dev/null' ? name : shown}${when === '' ? '' : `\t${when}`}\n`
  }
  return line('---', oldFileName, oldHeader) + line('+++', newFileName, newHeader)
}

function keepsOld({ notes }: Patched, flags: ReadonlySet<string>): boolean {
  return flags.has('backup') || (notes.length > 0 && !flags.has('no-backup'))
}

/** Nobody is there to answer the question. */
function reversedNote(flags: ReadonlySet<string>): string {
  const found = 'Reversed (or previously applied) patch detected!'
  if (flags.has('forward') || flags.has('force')) return `${found}  Skipping patch.`
  return `${found}  Assume -R? [n] \nApply anyway? [n] \nSkipping patch.`
}

function reversed(one: StructuredPatch): StructuredPatch {
  return {
    ...one,
    oldFileName: one.newFileName,
    newFileName: one.oldFileName,
    hunks: one.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
      oldStart: newStart,
      oldLines: newLines,
      newStart: oldStart,
      newLines: oldLines,
      lines: lines.map((line) =>
        line.startsWith('+') ? `-${line.slice(1)}` : line.startsWith('-') ? `+${line.slice(1)}` : line,
      ),
    })),
  }
}

/** Of the two names the one that is there; without a number of folders to drop, as many as it takes. */
function fileName(
  { oldFileName, newFileName }: StructuredPatch,
  strip: number | null,
  isThere: (name: string) => boolean,
): string | null {
  const names = [newFileName, oldFileName].filter((name) => name !== undefined && name !== '/dev/null') as string[]
  const stripped = (name: string, count: number) => name.split('/').slice(count).join('/')
  const candidates = names.flatMap((name) =>
    strip === null ? [0, 1, name.split('/').length - 1].map((count) => stripped(name, count)) : [stripped(name, strip)],
  )
  return candidates.find((name) => name !== '' && isThere(name)) ?? candidates.find((name) => name !== '') ?? null
}

function failure(message: string): ShellResult {
  return { stdout: '', stderr: `patch: **** ${message}\n`, exitCode: 2 }
}
