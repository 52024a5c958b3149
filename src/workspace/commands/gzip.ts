// `gzip`, `gunzip` and `zcat` of the shell.

import { gzipSync } from 'node:zlib'
import { isFileError } from '../file-system.ts'
import { joinBytes } from '../parts.ts'
import { resolvePath } from '../paths.ts'
import type { ShellCall, ShellCommand, ShellResult } from '../shell-extensions.ts'
import { gunzipped, kindAt, MAX_ARCHIVE_BYTES, UnpackError } from './file-walk.ts'
import { readOptions } from './options.ts'

const LEVELS = Object.fromEntries('123456789'.split('').map((digit) => [`-${digit}`, digit]))
const SPEC = {
  flags: {
    ...{ '-d': 'unpack', '--decompress': 'unpack', '--uncompress': 'unpack', '-c': 'stdout', '--stdout': 'stdout' },
    ...{
      '-k': 'keep',
      '--keep': 'keep',
      '-f': 'force',
      '--force': 'force',
      '-q': 'quiet',
      '-n': 'no-name',
      '-t': 'test',
      '--test': 'test',
    },
    ...{ '--best': '9', '--fast': '1' },
    ...LEVELS,
  },
  values: {},
}

type Run = ShellCommand['run']

export const runGzip: Run = (args, call) => gzip('gzip', args, call)
export const runGunzip: Run = (args, call) => gzip('gunzip', ['-d', ...args], call)
export const runZcat: Run = (args, call) => gzip('zcat', ['-dc', ...args], call)

async function gzip(name: string, args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const read = readOptions(args, SPEC)
  if (!read.ok) return { stdout: '', stderr: `${name}: ${read.problem}\n`, exitCode: 1 }
  const { flags, operands } = read
  const shown: Uint8Array[] = []
  const result = { stdout: '', stderr: '', exitCode: 0 }
  for (const operand of operands.length === 0 ? ['-'] : operands) {
    await call.pause()
    try {
      const bytes = await one(operand, flags, call)
      if (bytes !== null) shown.push(bytes)
    } catch (error) {
      result.stderr += `${name}: ${operand}: ${reasonOf(error)}\n`
      result.exitCode = 1
    }
  }
  return { ...result, bytes: joinBytes(shown) }
}

/** What is to be shown; null when it went into a file. */
async function one(
  operand: string,
  flags: ReadonlySet<string>,
  { fs, cwd, stdinBytes }: ShellCall,
): Promise<Uint8Array | null> {
  const unpacks = flags.has('unpack') || flags.has('test')
  const path = operand === '-' ? null : resolvePath(cwd, operand)
  const result = converted(path === null ? stdinBytes : await fs.read(path), flags)
  if (flags.has('test')) return null
  if (path === null || flags.has('stdout')) return result
  const target = unpacks ? unpackedName(path) : `${path}.gz`
  if (target === null) throw new RangeError('unknown suffix -- ignored')
  if (kindAt(fs, target) !== null && !flags.has('force'))
    throw new RangeError(`${target} already exists; not overwritten`)
  const { mode } = fs.stat(path)
  await fs.write(target, result, { mode })
  if (!flags.has('keep')) fs.remove(path)
  return null
}

function converted(bytes: Uint8Array, flags: ReadonlySet<string>): Uint8Array {
  if (flags.has('unpack') || flags.has('test')) return gunzipped(bytes, MAX_ARCHIVE_BYTES)
  const level = Number([...flags].find((flag) => /^\d$/.test(flag)) ?? 6)
  return new Uint8Array(gzipSync(bytes, { level }))
}

function unpackedName(path: string): string | null {
  if (path.endsWith('.tgz')) return path.replace(/\.tgz$/, '.tar')
  return path.endsWith('.gz') ? path.slice(0, -3) : null
}

function reasonOf(error: unknown): string {
  if (isFileError(error) || error instanceof RangeError || error instanceof UnpackError) return error.message
  throw error
}
