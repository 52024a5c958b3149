// `find` like GNU's. The entries of a folder are visited in the order of their names.

import { type FileKind, isFileError } from '../../../../workspace/file-system.ts'
import { shellMessage } from '../../interpreter-command.ts'
import type { ShellCall, ShellResult } from '../../shell-extensions.ts'
import { outputOf } from '../file-text.ts'
import { pathOf } from '../inputs.ts'
import type { Step } from './actions.ts'
import { Actions } from './actions.ts'
import { Entry } from './entry.ts'
import { Expression, type FindOptions } from './expression.ts'
import { FindMisuse } from './misuse.ts'
import { DEFAULT_REGEX_TYPE } from './regex-types.ts'

const HELP = 'Usage: find [-H] [-L] [-P] [path...] [expression]\n'

export async function runFind(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  if (args.includes('--help') || args.includes('-help')) return { stdout: HELP, stderr: '', exitCode: 0 }
  try {
    return await find([...args], call)
  } catch (error) {
    if (!(error instanceof FindMisuse)) throw error
    return { stdout: '', stderr: `find: ${error.message}\n`, exitCode: 1 }
  }
}

async function find(words: string[], call: ShellCall): Promise<ShellResult> {
  const options: FindOptions = {
    minDepth: 0,
    maxDepth: Number.POSITIVE_INFINITY,
    isDepthFirst: false,
    follows: 'never',
    warnings: '',
  }
  const follows = { '-P': 'never', '-H': 'operands', '-L': 'always' } as const
  for (let word = words[0]; word === '-P' || word === '-H' || word === '-L'; word = words[0]) {
    options.follows = follows[word]
    words.shift()
  }
  const first = words.findIndex((word) => /^(-.|[(),!]$)/.test(word))
  const roots = words.splice(0, first < 0 ? words.length : first)
  const nowMs = Date.now()
  const actions = new Actions(call, nowMs)
  const expression = new Expression(words, {
    options,
    setting: { call, nowMs, regexType: DEFAULT_REGEX_TYPE },
    actions,
  })
  const step = expression.read()
  const walk = new Walk(expression.hasActions ? step : printing(step, actions), { options, call, actions })
  for (const root of roots.length > 0 ? roots : ['.']) await walk.operand(root)
  await actions.finish()
  const { text, problems, hasFailed } = actions
  return { ...outputOf(text), stderr: options.warnings + problems, exitCode: hasFailed ? 1 : 0 }
}

/** Without any action, found paths are printed. */
function printing(step: Step, actions: Actions): Step {
  return async (entry) => {
    const isFound = await step(entry)
    if (isFound) actions.text += `${entry.shown}\n`
    return isFound
  }
}

interface WalkDeps {
  options: FindOptions
  call: ShellCall
  actions: Actions
}

class Walk {
  readonly #step: Step
  readonly #options: FindOptions
  readonly #call: ShellCall
  readonly #actions: Actions

  constructor(step: Step, { options, call, actions }: WalkDeps) {
    this.#step = step
    this.#options = options
    this.#call = call
    this.#actions = actions
  }

  async operand(root: string): Promise<void> {
    if (this.#actions.isQuitting) return
    const path = pathOf(this.#call, root)
    try {
      const { kind } = root.endsWith('/') ? this.#call.fs.stat(path) : this.#call.fs.lstat(path)
      const entry = new Entry(
        { root, shown: root, path, depth: 0, kind },
        this.#call,
        this.#options.follows !== 'never',
      )
      await this.#visit(entry, [])
    } catch (error) {
      if (!isFileError(error) || error instanceof FindMisuse) throw error
      this.#actions.fail(`‘${root}’: ${shellMessage(error)}`)
    }
  }

  async #visit(entry: Entry, above: readonly Entry[]): Promise<void> {
    const pause = this.#call.pause()
    if (pause) await pause
    if (entry.isLoop) return this.#actions.fail(`‘${entry.shown}’: Too many levels of symbolic links`)
    const { minDepth, maxDepth, isDepthFirst } = this.#options
    const isShown = entry.depth >= minDepth
    if (isShown && !isDepthFirst) await this.#step(entry)
    if (this.#actions.isQuitting) return
    if (entry.kind === 'directory' && entry.depth < maxDepth && (isDepthFirst || !entry.isPruned)) {
      await this.#folder(entry, above)
    }
    if (isShown && isDepthFirst && !this.#actions.isQuitting) await this.#step(entry)
  }

  async #folder(entry: Entry, above: readonly Entry[]): Promise<void> {
    const { fs } = this.#call
    const follows = this.#options.follows === 'always'
    const same = follows ? above.find(({ stat }) => stat.inode === entry.stat.inode) : undefined
    if (same) {
      return this.#actions.fail(
        `File system loop detected; ‘${entry.shown}’ is part of the same file system loop as ‘${same.shown}’.`,
      )
    }
    let inside: { name: string; kind: FileKind }[]
    try {
      inside = fs.list(entry.path)
    } catch (error) {
      return this.#actions.fail(`‘${entry.shown}’: ${shellMessage(error)}`)
    }
    const prefix = entry.shown.endsWith('/') ? entry.shown : `${entry.shown}/`
    const folder = entry.path === '/' ? '' : entry.path
    for (const { name, kind } of inside) {
      const place = { root: entry.root, shown: prefix + name, path: `${folder}/${name}`, depth: entry.depth + 1, kind }
      await this.#visit(new Entry(place, this.#call, follows), [...above, entry])
      if (this.#actions.isQuitting) return
    }
  }
}
