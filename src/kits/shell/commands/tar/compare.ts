// `tar -d`: the differences between the files and an archive.

import { type FileStat, isFileError } from '../../../../workspace/file-system.ts'
import { resolvePath } from '../../../../workspace/paths.ts'
import type { ShellCall, ShellResult } from '../../shell-extensions.ts'
import { membersOf, type TarEntry } from './format.ts'
import { EntryLines } from './lines.ts'
import { EntryOperands, exclusion } from './names.ts'
import type { TarOptions } from './options.ts'
import { FAILED } from './unpack.ts'

const EXIT_DIFFERS = 1
const EXIT_TROUBLE = 2

export async function compareArchive(archive: Uint8Array, options: TarOptions, call: ShellCall): Promise<ShellResult> {
  const wanted = new EntryOperands(options)
  const isExcluded = exclusion(options, [])
  const lines = new EntryLines(options, call.env)
  const result = { stdout: '', stderr: '', exitCode: 0 }
  for (const { found } of membersOf(archive)) {
    await call.pause()
    const operand = wanted.areAll ? { name: '', folder: options.folder } : wanted.by(found.name)
    if (operand === null || found.kind === 'other' || isExcluded(found.name)) continue
    if (options.verbose > 0) result.stdout += lines.line(found, found.name)
    const { differences, warning } = await difference(found, resolvePath(call.cwd, operand.folder), call)
    result.stdout += differences.map((text) => `${found.name}: ${text}\n`).join('')
    result.stderr += warning
    if (differences.length > 0 || warning !== '') result.exitCode = EXIT_DIFFERS
  }
  const missing = wanted.problems()
  return missing === '' ? result : { ...result, stderr: result.stderr + missing + FAILED, exitCode: EXIT_TROUBLE }
}

type Difference = { differences: string[]; warning: string }

async function difference(entry: TarEntry, folder: string, { fs }: ShellCall): Promise<Difference> {
  const path = resolvePath(folder, entry.name)
  let stat: FileStat
  try {
    stat = fs.lstat(path)
  } catch (error) {
    if (!isFileError(error)) throw error
    const verb = entry.kind === 'symlink' ? 'readlink' : 'stat'
    const warning = `tar: ${entry.name.replace(/\/$/, '')}: Warning: Cannot ${verb}: No such file or directory\n`
    return { differences: [], warning }
  }
  const kind = entry.kind === 'link' ? 'file' : entry.kind
  if (stat.kind !== kind) return { differences: ['File type differs'], warning: '' }
  if (entry.kind === 'symlink') {
    return { differences: fs.readLink(path) === entry.target ? [] : ['Symlink differs'], warning: '' }
  }
  const differences: string[] = []
  if ((stat.mode & 0o7777) !== entry.mode) differences.push('Mode differs')
  if (entry.kind !== 'file') return { differences, warning: '' }
  if (Math.floor(stat.mtimeMs / 1000) !== Math.floor(entry.mtimeMs / 1000)) differences.push('Mod time differs')
  if (stat.sizeBytes !== entry.bytes.byteLength) differences.push('Size differs')
  else if (!isSame(await fs.read(path), entry.bytes)) differences.push('Contents differ')
  return { differences, warning: '' }
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.byteLength === other.byteLength && one.every((byte, i) => byte === other[i])
}
