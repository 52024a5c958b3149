import type { Opener } from '../bench.ts'
import { FILE_OPENERS } from './files.ts'
import { git } from './git.ts'
import { PROGRAM_OPENERS } from './programs.ts'
import { BUILTIN_OPENERS, SHELL_OPENERS } from './shells.ts'
import { SEARCH_OPENERS, WRAPPER_OPENERS } from './wrappers.ts'

/** What is known of each command beyond its rules. A command may be in several of the lists. */
export const OPENERS: ReadonlyMap<string, Opener> = gather()

function gather(): Map<string, Opener> {
  const openers = new Map<string, Opener>([['git', git]])
  const lists = [
    ...[SHELL_OPENERS, WRAPPER_OPENERS, SEARCH_OPENERS],
    ...[FILE_OPENERS, BUILTIN_OPENERS, PROGRAM_OPENERS],
  ].flat()
  for (const [name, opener] of lists) {
    const before = openers.get(name)
    openers.set(name, before === undefined ? opener : both(before, opener))
  }
  return openers
}

function both(first: Opener, second: Opener): Opener {
  return (call, bench) => {
    first(call, bench)
    second(call, bench)
  }
}
