// `chown` and `chgrp`: all files belong to the only user. A change to that user has no effect; a change to another one
// is not permitted.

import { type FileStat, type FileSystem, isFileError } from '../../../../workspace/file-system.ts'
import { shellMessage } from '../../interpreter-command.ts'
import { resolvePath } from '../../named-path.ts'
import type { ShellCall, ShellCommand, ShellResult } from '../../shell-extensions.ts'
import { Report, shownName } from '../files/names.ts'
import { type GnuOptions, type GnuSpec, misuse, readGnuOptions } from '../gnu-options.ts'

type Run = ShellCommand['run']

const OWN = { name: 'user', id: 1000 }
const KNOWN: ReadonlySet<string> = new Set(['root', OWN.name])

const specOf = (name: string): GnuSpec => ({
  name,
  letters: 'cfvhRHLP',
  long: {
    ...{ changes: 'c', silent: 'f', quiet: 'f', verbose: 'v', 'no-dereference': 'h', dereference: 'same' },
    ...{
      recursive: 'R',
      'preserve-root': 'same',
      'no-preserve-root': 'same',
      'reference=': 'reference',
      'from=': 'from',
    },
  },
})

export const runChown: Run = (args, call) => change('chown', args, call)
export const runChgrp: Run = (args, call) => change('chgrp', args, call)

async function change(name: string, args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const spec = specOf(name)
  const read = readGnuOptions(args, spec)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const isReferred = read.has('reference')
  const [asked = '', ...rest] = isReferred ? [OWN.name, ...read.operands] : read.operands
  if (read.operands.length === 0) return misuse(spec, 'missing operand')
  if (rest.length === 0) return misuse(spec, `missing operand after \u2018${asked}\u2019`)
  const wanted = wantedBy(name, asked)
  if (typeof wanted === 'string') return { stdout: '', stderr: `${name}: ${wanted}\n`, exitCode: 1 }
  const report = new Report(name)
  for (const operand of rest) await changeOne(operand, { name, wanted, read, call, report })
  return report.result
}

interface OwnerSpec {
  isOwn: boolean
  /** The form in messages; empty if there is no request. */
  shown: string
  hasUser: boolean
}

/** A text is an error. */
function wantedBy(command: string, asked: string): OwnerSpec | string {
  const [, user = '', group] = command === 'chgrp' ? [asked, '', asked] : (/^([^:]*)(?::(.*))?$/s.exec(asked) ?? [])
  const isKnown = (name: string | undefined) =>
    name === undefined || name === '' || KNOWN.has(name) || /^\+?\d+$/.test(name)
  if (!isKnown(user)) return `invalid user: \u2018${asked}\u2019`
  if (!isKnown(group)) return `invalid group: \u2018${asked}\u2019`
  const isOwn = [user, group].every(
    (name) => name === undefined || name === '' || name === OWN.name || Number(name) === OWN.id,
  )
  return {
    isOwn,
    shown: command === 'chgrp' ? OWN.name : group === undefined ? OWN.name : `${OWN.name}:${OWN.name}`,
    hasUser: user !== '',
  }
}

type Changing = { name: string; wanted: OwnerSpec; read: GnuOptions; call: ShellCall; report: Report }

async function changeOne(operand: string, { name, wanted, read, call, report }: Changing): Promise<void> {
  const { fs, cwd } = call
  const what = name === 'chgrp' || !wanted.hasUser ? 'group' : 'ownership'
  const waiting = [{ shown: operand, path: resolvePath(cwd, operand) }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    await call.pause()
    const stat = statOf(fs, next.path)
    if (typeof stat === 'string') {
      if (read.has('f')) report.exitCode = 1
      else report.fail(`cannot access ${shownName(next.shown)}: ${stat}`)
      continue
    }
    if (!wanted.isOwn) {
      if (read.has('f')) report.exitCode = 1
      else report.fail(`changing ${what} of ${shownName(next.shown)}: Operation not permitted`)
    } else if (read.has('v')) {
      const owner = what === 'group' ? OWN.name : wanted.shown
      report.say(`${what} of ${shownName(next.shown)} retained as ${owner}`)
    }
    if (!read.has('R') || stat.kind !== 'directory') continue
    const { shown, path } = next
    const inside = fs
      .list(path)
      .map((entry) => ({ shown: `${shown.replace(/\/$/, '')}/${entry.name}`, path: `${path}/${entry.name}` }))
    waiting.push(...inside.reverse())
  }
}

function statOf(fs: FileSystem, path: string): FileStat | string {
  try {
    return fs.lstat(path)
  } catch (error) {
    if (isFileError(error)) return shellMessage(error)
    throw error
  }
}
