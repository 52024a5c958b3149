// `patch` of the shell: applies unified, context and normal diffs, and those of git.

import { isFileError } from '../../../../workspace/file-system.ts'
import { kindAt } from '../../../../workspace/stat.ts'
import { shellMessage } from '../../interpreter-command.ts'
import { losslessBytes, losslessText } from '../../lossless-text.ts'
import { resolvePath } from '../../named-path.ts'
import type { ShellCall, ShellResult } from '../../shell-extensions.ts'
import { FilePatching, type PatchedFiles } from './apply.ts'
import { type PatchOptions, patchOptions } from './options.ts'
import { type FilePatch, MalformedPatch, readPatches } from './read.ts'

const MAX_PATCH_CHARS = 8 * 1024 * 1024

export async function runPatch(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const read = patchOptions(args)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const { options } = read
  const folder = resolvePath(call.cwd, options.folder)
  try {
    if (kindAt(call.fs, folder) === null) {
      return failure(`Can't change to directory ${options.folder} : No such file or directory`)
    }
    const text = await inputText(options, folder, call)
    if (typeof text !== 'string') return failure(text.problem)
    const patches = readPatches(text, options)
    if (patches.length === 0) return text === '' ? NOTHING : failure('Only garbage was found in the patch input.')
    return options.output === '-'
      ? await toOutput(patches, options, { folder, call })
      : await toFiles(patches, options, { folder, call })
  } catch (error) {
    if (error instanceof MalformedPatch) return failure(error.message)
    if (isFileError(error)) return failure(`Can't work on ${error.path} : ${shellMessage(error)}`)
    throw error
  }
}

const NOTHING: ShellResult = { stdout: '', stderr: '', exitCode: 0 }

function failure(message: string): ShellResult {
  return { stdout: '', stderr: `patch: **** ${message}\n`, exitCode: 2 }
}

/** A name is relative to the current folder, as everywhere. */
async function inputText(
  { input }: PatchOptions,
  folder: string,
  call: ShellCall,
): Promise<string | { problem: string }> {
  const isGiven = input === null || input === '-'
  let bytes = isGiven ? call.stdinBytes : new Uint8Array()
  if (!isGiven) {
    try {
      bytes = await call.fs.read(resolvePath(folder, input))
    } catch (error) {
      return { problem: `Can't open patch file ${input} : ${shellMessage(error)}` }
    }
  }
  return bytes.byteLength > MAX_PATCH_CHARS ? { problem: 'the patch is too large' } : losslessText(bytes)
}

type PatchContext = { folder: string; call: ShellCall }

async function toFiles(
  patches: readonly FilePatch[],
  options: PatchOptions,
  { folder, call }: PatchContext,
): Promise<ShellResult> {
  const result = { stdout: '', stderr: '', exitCode: 0 }
  const seen: PatchedFiles = new Map()
  for (const patch of patches) {
    await call.pause()
    const { ok, text } = await new FilePatching(patch, options, { call, folder, seen }).run()
    result.stdout += text
    if (!ok) result.exitCode = 1
  }
  return result
}

/** `-o -`: the text goes to the standard output, and messages to the standard error. */
async function toOutput(
  patches: readonly FilePatch[],
  options: PatchOptions,
  where: PatchContext,
): Promise<ShellResult> {
  const path = `/tmp/patch-${crypto.randomUUID()}`
  const { fs } = where.call
  const { stdout, exitCode } = await toFiles(patches, { ...options, output: path }, where)
  const bytes = kindAt(fs, path) === null ? losslessBytes('') : await fs.read(path)
  if (kindAt(fs, path) !== null) fs.remove(path)
  return { stdout: '', bytes, stderr: stdout.replaceAll(path, '-'), exitCode }
}
