// The targets of `cp`, `mv`, `ln` and `install`: in a folder, or with a given name.

import type { Context } from '../../interpreter-command.ts'
import type { GnuOptions } from '../gnu-options.ts'
import { baseName, isFolder, joinedPath } from './names.ts'

export type Pair = { from: string; to: string }
export type Pairs = { ok: true; pairs: Pair[] } | { ok: false; problem: string; isUsage: boolean }

/** The sources and targets, in the spelling for messages. */
export async function targetsOf(read: GnuOptions, context: Context, keepsParents = false): Promise<Pairs> {
  const { operands } = read
  const usage = (problem: string): Pairs => ({ ok: false, problem, isUsage: true })
  if (operands.length === 0) return usage('missing file operand')
  const folder = read.value('t')
  if (read.given.filter(({ name }) => name === 't').length > 1) {
    return { ok: false, problem: 'multiple target directories specified', isUsage: false }
  }
  if (folder !== undefined && read.has('T')) {
    const problem = 'cannot combine --target-directory (-t) and --no-target-directory (-T)'
    return { ok: false, problem, isUsage: false }
  }
  if (folder !== undefined) {
    if (!(await isFolder(folder, context))) {
      return { ok: false, problem: `target directory '${folder}': ${await whyNot(folder, context)}`, isUsage: false }
    }
    return into(operands, folder, keepsParents)
  }
  const last = operands.at(-1) ?? ''
  const sources = operands.slice(0, -1)
  if (sources.length === 0) return usage(`missing destination file operand after '${last}'`)
  const asName = read.has('T')
  if (asName && sources.length > 1) return usage(`extra operand '${sources[1] === undefined ? '' : operands[2]}'`)
  if (!asName && (await isFolder(last, context))) return into(sources, last, keepsParents)
  if (sources.length > 1) {
    return { ok: false, problem: `target '${last}': ${await whyNot(last, context)}`, isUsage: false }
  }
  if (keepsParents) return { ok: false, problem: 'with --parents, the destination must be a directory', isUsage: true }
  return { ok: true, pairs: [{ from: sources[0] ?? '', to: last }] }
}

function into(sources: readonly string[], folder: string, keepsParents: boolean): Pairs {
  const name = (from: string) => (keepsParents ? from.replace(/^\/+|\/+$/g, '') : baseName(from))
  return { ok: true, pairs: sources.map((from) => ({ from, to: joinedPath(folder, name(from)) })) }
}

async function whyNot(name: string, { fs, cwd }: Context): Promise<string> {
  return (await fs.exists(fs.resolvePath(cwd, name))) ? 'Not a directory' : 'No such file or directory'
}
