// What `set -x` shows of a function's call and of each round of a loop. The interpreter shows the first when the function
// has ended, and the second not at all.

import type { Watched } from './position.ts'

/** In front of each line; null for one that must be worked out, which the interpreter alone can do. */
function prefix({ ctx }: Watched): string | null {
  const set = ctx.state.env.get('PS4') ?? '+ '
  return /[$`\\]/.test(set) ? null : set
}

/** The line for a call, exactly as the interpreter writes it, so that it can be found and left out afterwards. */
export function callTrace(shell: Watched, words: readonly string[]): string | null {
  const start = shell.ctx.state.options.xtrace ? prefix(shell) : null
  return start === null || !words.every((word) => /^[^\s'"\\$`!*?[\]{}|&;<>()~#]+$/.test(word))
    ? null
    : `${start}${words.join(' ')}\n`
}

export function roundTrace(shell: Watched, head: string): string {
  const start = shell.ctx.state.options.xtrace ? prefix(shell) : null
  return start === null ? '' : `${start}${head}\n`
}
