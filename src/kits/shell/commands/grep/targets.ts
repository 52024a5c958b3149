// The files that `grep` searches: given ones, and those in folders that pass the rules.

import { type FileStat, isFileError, type ScannedEntry } from '../../../../workspace/file-system.ts'
import { shellMessage } from '../../interpreter-command.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { isDevice, pathOf, readInput } from '../inputs.ts'
import type { GrepSettings, NameRule } from './settings.ts'

export interface Target {
  /** The name in the output. */
  name: string
  read: () => Promise<Uint8Array>
  isStdin: boolean
}

/** The result for an operand: a target, or a message, or nothing if it is skipped. */
export type TargetResult = { target: Target } | { problem: string } | { warning: string }

const MAX_DEPTH = 1000

export async function* targets(settings: GrepSettings, call: ShellCall): AsyncGenerator<TargetResult> {
  const isDeep = settings.directories === 'recurse'
  const operands = settings.files.length > 0 ? settings.files : [isDeep ? '.' : '-']
  // An implicit current folder is not part of the names.
  const isUnnamed = settings.files.length === 0
  for (const name of operands) {
    if (name === '-' || isDevice(pathOf(call, name))) {
      const isStdin = name === '-'
      yield { target: { name: isStdin ? settings.label : name, read: () => readInput(call, name), isStdin } }
      continue
    }
    const walk = new Walk(settings, call)
    yield* walk.operand(name, isDeep && isUnnamed ? '' : name)
  }
}

class Walk {
  readonly #settings: GrepSettings
  readonly #call: ShellCall

  constructor(settings: GrepSettings, call: ShellCall) {
    this.#settings = settings
    this.#call = call
  }

  async *operand(name: string, shown: string): AsyncGenerator<TargetResult> {
    const { fs } = this.#call
    const path = pathOf(this.#call, name)
    let stat: FileStat
    try {
      stat = fs.stat(path)
      if (stat.kind === 'file' && name.endsWith('/')) throw new NotAFolder()
    } catch (error) {
      if (!(error instanceof NotAFolder) && !isFileError(error)) throw error
      yield { problem: `${name}: ${error instanceof NotAFolder ? 'Not a directory' : shellMessage(error)}` }
      return
    }
    const { rules, folderRules, directories } = this.#settings
    if (stat.kind === 'directory') {
      if (directories === 'skip') return
      if (directories === 'read') yield { problem: `${name}: Is a directory` }
      else if (!isExcluded(name.replace(/(?<=.)\/+$/, ''), folderRules))
        yield* this.#folder(path, shown.replace(/\/+$/, '/'), [])
    } else if (!isExcluded(name, rules)) yield { target: { name, read: () => fs.read(path), isStdin: false } }
  }

  /** The entries of a folder, or why it cannot be read. */
  *#entries(path: string): Generator<ScannedEntry[] | { problem: string }> {
    try {
      yield* this.#call.fs.scan(path)
    } catch (error) {
      yield { problem: shellMessage(error) }
    }
  }

  async *#folder(path: string, shown: string, above: readonly string[]): AsyncGenerator<TargetResult> {
    const { fs } = this.#call
    const isFollowing = this.#settings.flags.has('R')
    const real = isFollowing ? fs.realPath(path) : path
    if (above.includes(real)) {
      yield { warning: `${shown}: warning: recursive directory loop` }
      return
    }
    if (above.length > MAX_DEPTH) throw new Error('folders nested too deep')
    const prefix = shown === '' || shown.endsWith('/') ? shown : `${shown}/`
    for (const few of this.#entries(path)) {
      if ('problem' in few) {
        yield { problem: `${shown.replace(/(?<=.)\/$/, '')}: ${few.problem}` }
        return
      }
      for (const entry of few) {
        const name = prefix + entry.name
        const inside = `${path === '/' ? '' : path}/${entry.name}`
        let kind = entry.stat.kind
        if (kind === 'symlink') {
          if (!isFollowing) continue
          try {
            kind = fs.stat(inside).kind
          } catch (error) {
            yield { problem: `${name}: ${shellMessage(error)}` }
            continue
          }
        }
        if (kind === 'directory') {
          if (!isExcluded(name, this.#settings.folderRules)) yield* this.#folder(inside, name, [...above, real])
        } else if (!entry.stat.device && !isExcluded(name, this.#settings.rules)) {
          const bytes = entry.stat.kind === 'file' ? entry.bytes : null
          yield { target: { name, read: async () => bytes ?? fs.read(inside), isStdin: false } }
        }
      }
    }
  }
}

class NotAFolder extends Error {}

/** The last matching rule decides; if none matches, files are excluded only if the first rule is an inclusion. */
function isExcluded(name: string, rules: readonly NameRule[]): boolean {
  const [first] = rules
  if (!first) return false
  for (const { includes, expression } of rules.toReversed()) {
    if (endsOf(name).some((end) => expression.test(end))) return !includes
  }
  return first.includes
}

/** The name, and its parts after each slash. */
function endsOf(name: string): string[] {
  const ends = [name]
  for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) {
    if (at + 1 < name.length && name[at + 1] !== '/') ends.push(name.slice(at + 1))
  }
  return ends
}
