// `file`, like libmagic 5.44, for the files that are common in projects. Source code is recognized by an interpreter
// line or as XML, HTML, JSON, PHP, C or a diff; anything else is plain text.

import { zoneOf } from '../../../../lib/clock.ts'
import { type FileStat, isFileError } from '../../../../workspace/file-system.ts'
import { shellMessage } from '../../interpreter-command.ts'
import type { ShellCall, ShellResult } from '../../shell-extensions.ts'
import { type GnuOptions, type GnuSpec, misuse, readGnuOptions } from '../gnu-options.ts'
import { pathOf } from '../inputs.ts'
import { binaryKind } from './signatures.ts'
import { encodingOf, MAX_LOOKED_AT, textKind } from './text-kind.ts'

const SPEC: GnuSpec = {
  name: 'file',
  letters: 'bE0F:f:hiLNnprsv',
  long: {
    ...{ brief: 'b', print0: '0', 'separator=': 'F', 'files-from=': 'f', 'no-dereference': 'h', mime: 'i' },
    ...{ 'mime-type': 'type', 'mime-encoding': 'charset', dereference: 'L', 'no-pad': 'N', 'no-buffer': 'n' },
    ...{ 'preserve-date': 'p', raw: 'r', 'special-files': 's', version: 'v' },
  },
}
const USAGE =
  'Usage: file [-b0EhiLNnprsv] [--mime-encoding] [--mime-type] [-F <separator>] [-f <namefile>] <file> ...\n'

export async function runFile(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  if (read.has('v')) return { stdout: 'file-5.44\n', stderr: '', exitCode: 0 }
  const names = await namesOf(read, call)
  if (typeof names === 'string') return misuse(SPEC, names)
  if (names.length === 0) return { stdout: '', stderr: USAGE, exitCode: 1 }
  const separator = read.value('F') ?? ':'
  const zeros = read.given.filter((one) => one.name === '0').length
  // Given twice, a zero byte also follows the description, and there is no other separator.
  const isBare = zeros > 1
  const width = Math.max(...names.map((name) => shownName(name).length))
  let stdout = ''
  let exitCode = 0
  for (const name of names) {
    const pause = call.pause()
    if (pause) await pause
    const told = await describe(name, read, call)
    if (told.isMissing && read.has('E')) exitCode = 1
    const padding = read.has('N') ? ' ' : ' '.repeat(1 + width - shownName(name).length)
    const rest = isBare ? '' : `${separator}${padding}`
    stdout += read.has('b') ? '' : `${shownName(name)}${zeros > 0 ? '\0' : ''}${rest}`
    stdout += `${told.words}${isBare ? '\0' : '\n'}`
  }
  return { stdout, stderr: '', exitCode }
}

const shownName = (name: string): string => (name === '-' ? '/dev/stdin' : name)

async function namesOf(read: GnuOptions, call: ShellCall): Promise<string[] | string> {
  const list = read.value('f')
  if (list === undefined) return read.operands
  try {
    const bytes = list === '-' ? call.stdinBytes : await call.fs.read(pathOf(call, list))
    const lines = new TextDecoder().decode(bytes).split('\n')
    return [...lines.filter((line) => line !== ''), ...read.operands]
  } catch (error) {
    return `cannot open \`${list}' (${shellMessage(error)})`
  }
}

type Description = { words: string; isMissing: boolean }

async function describe(name: string, read: GnuOptions, call: ShellCall): Promise<Description> {
  const told = (words: string): Description => ({ words, isMissing: false })
  if (name === '-') return told(contentsTold(call.stdinBytes, read, call))
  const fs = call.wholeTree
  const path = pathOf(call, name)
  try {
    const own = fs.lstat(path)
    if (own.kind === 'symlink' && !read.has('L')) {
      const words = `${fs.exists(path) ? '' : 'broken '}symbolic link to ${fs.readLink(path)}`
      return told(inForm(read, { words, mime: 'inode/symlink', charset: 'binary' }))
    }
    const stat = own.kind === 'symlink' ? fs.stat(path) : own
    const special = specialKind(stat)
    if (special) return told(inForm(read, { ...special, charset: 'binary' }))
    if (stat.kind === 'file' && (stat.mode & 0o400) === 0) return told(unreadable(stat))
    return told(contentsTold(await fs.read(path), read, call))
  } catch (error) {
    if (!isFileError(error)) throw error
    return { words: `cannot open \`${name}' (${shellMessage(error)})`, isMissing: true }
  }
}

function specialKind({ kind, device }: FileStat): { words: string; mime: string } | null {
  if (kind === 'directory') return { words: 'directory', mime: 'inode/directory' }
  return device ? { words: `character special (${device.join('/')})`, mime: 'inode/chardevice' } : null
}

function unreadable({ mode }: FileStat): string {
  const may = [...((mode & 0o222) === 0 ? [] : ['writable']), ...((mode & 0o111) === 0 ? [] : ['executable'])]
  return `${[...may, 'regular file'].join(', ')}, no read permission`
}

function contentsTold(all: Uint8Array, read: GnuOptions, call: ShellCall): string {
  if (all.length === 0) return inForm(read, { words: 'empty', mime: 'inode/x-empty', charset: 'binary' })
  const binary = binaryKind(all, zoneOf(call.env.TZ ?? ''))
  if (binary) return inForm(read, { ...binary, charset: 'binary' })
  const encoding = encodingOf(all.subarray(0, MAX_LOOKED_AT))
  if (!encoding) return inForm(read, { words: 'data', mime: 'application/octet-stream', charset: 'binary' })
  return inForm(read, { ...textKind(encoding), charset: encoding.charset })
}

function inForm(read: GnuOptions, { words, mime, charset }: { words: string; mime: string; charset: string }): string {
  if (read.has('i')) return `${mime}; charset=${charset}`
  if (read.has('type')) return mime
  return read.has('charset') ? charset : words
}
