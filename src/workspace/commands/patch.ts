// `patch` of the shell: applies unified diffs.

import { applyPatch, parsePatch, type StructuredPatch } from 'diff'
import { textIfAny } from '../diff.ts'
import { isFileError } from '../file-system.ts'
import { resolvePath } from '../paths.ts'
import type { ShellCall, ShellResult } from '../shell-extensions.ts'
import { kindAt, placeBelow } from './file-walk.ts'
import { readOptions } from './options.ts'

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
      '--no-backup-if-mismatch': 'force',
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
    ...{ '-F': 'fuzz', '--fuzz': 'fuzz' },
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
      const outcome = await applyOne(one, { folder, strip, flags, named: operands[0], call })
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
  named: string | undefined
  call: ShellCall
}

async function applyOne(
  one: StructuredPatch,
  { folder, strip, flags, named, call }: How,
): Promise<{ ok: boolean; line: string }> {
  const { fs } = call
  const given = flags.has('reverse') ? reversed(one) : one
  const name = named ?? fileName(given, strip, (candidate) => kindAt(fs, resolvePath(folder, candidate)) !== null)
  if (name === null) return { ok: false, line: "can't find file to patch" }
  const placed =
    named === undefined ? placeBelow(fs, folder, name) : { ok: true as const, path: resolvePath(call.cwd, named) }
  if (!placed.ok) return { ok: false, line: `Ignoring potentially dangerous file name ${name}: ${placed.reason}` }
  const { path } = placed
  const creates = given.oldFileName === '/dev/null'
  const exists = kindAt(fs, path) !== null
  if (!creates && !exists) return { ok: false, line: `can't find file to patch: ${name}` }
  const before = exists ? textIfAny(await fs.read(path)) : ''
  if (before === null) return { ok: false, line: `${name}: not a text file` }
  const after = applyPatch(before, given, { fuzzFactor: 2, autoConvertLineEndings: true })
  if (after === false) return { ok: false, line: `patching file ${name}\nHunk FAILED; the file is left as it was.` }
  if (flags.has('dry-run')) return { ok: true, line: `checking file ${name}` }
  if (given.newFileName === '/dev/null' && after === '') fs.remove(path)
  else {
    fs.makeDirectory(path.slice(0, path.lastIndexOf('/')) || '/', { recursive: true })
    await fs.write(path, new TextEncoder().encode(after))
  }
  return { ok: true, line: `patching file ${name}` }
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
