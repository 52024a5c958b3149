// `truncate`, like GNU's.

import { type Context, type Result, shellMessage } from '../../interpreter-command.ts'
import { type GnuSpec, misuse, readGnuOptions } from '../gnu-options.ts'
import { quotedWord, Report, shownName, statIfAny } from './names.ts'
import { sizeOf } from './size.ts'

const SPEC: GnuSpec = {
  name: 'truncate',
  letters: 'cor:s:',
  long: { 'no-create': 'c', 'io-blocks': 'o', 'reference=': 'r', 'size=': 's' },
}

type Resize = (size: number) => number

const HOW: Readonly<Record<string, (by: number) => Resize>> = {
  '': (by) => () => by,
  '+': (by) => (size) => size + by,
  '-': (by) => (size) => Math.max(0, size - by),
  '<': (by) => (size) => Math.min(size, by),
  '>': (by) => (size) => Math.max(size, by),
  '/': (by) => (size) => Math.floor(size / by) * by,
  '%': (by) => (size) => Math.ceil(size / by) * by,
}

export async function truncate(args: string[], context: Context): Promise<Result> {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  if (read.has('o')) return misuse(SPEC, 'option -o is not available here')
  const [size, reference] = [read.value('s'), read.value('r')]
  if (size === undefined && reference === undefined)
    return misuse(SPEC, 'you must specify either \u2018--size\u2019 or \u2018--reference\u2019')
  if (size !== undefined && reference !== undefined && !/^\s*[-+<>/%]/.test(size)) {
    return misuse(SPEC, 'you must specify a relative \u2018--size\u2019 with \u2018--reference\u2019')
  }
  if (read.operands.length === 0) return misuse(SPEC, 'missing file operand')
  const report = new Report('truncate')
  const model = reference === undefined ? null : await statIfAny(reference, context)
  if (reference !== undefined && model === null) {
    report.fail(`cannot stat ${shownName(reference)}: No such file or directory`)
    return report.result
  }
  const resize = size === undefined ? () => model?.size ?? 0 : resizeBy(size, model?.size ?? null)
  if (resize === null) {
    report.fail(`Invalid number: ${quotedWord(size ?? '')}`)
    return report.result
  }
  for (const name of read.operands) await resizeOne(name, { resize, context, report, creates: !read.has('c') })
  return report.result
}

function resizeBy(text: string, model: number | null): Resize | null {
  const [, how = '', rest = ''] = /^\s*([-+<>/%]?)(.*)$/s.exec(text) ?? []
  const by = sizeOf(rest)
  if (by === null || (by === 0 && (how === '/' || how === '%'))) return null
  const found = HOW[how]?.(by) ?? null
  return found === null || model === null ? found : () => found(model)
}

type Resizing = { resize: Resize; context: Context; report: Report; creates: boolean }

async function resizeOne(name: string, { resize, context, report, creates }: Resizing): Promise<void> {
  const { fs, cwd } = context
  const path = fs.resolvePath(cwd, name)
  try {
    const isThere = await fs.exists(path)
    if (!isThere && !creates) return
    const old = isThere ? await fs.readFileBuffer(path) : new Uint8Array()
    const size = resize(old.byteLength)
    const { maxStringLength } = context.limits
    if (size > maxStringLength)
      return report.fail(`failed to truncate ${shownName(name)} at ${size} bytes: File too large`)
    const next = new Uint8Array(size)
    next.set(old.subarray(0, size))
    await fs.writeFile(path, next)
  } catch (error) {
    report.fail(`cannot open ${shownName(name)} for writing: ${shellMessage(error)}`)
  }
}
