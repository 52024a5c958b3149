// FUNCNAME, BASH_SOURCE and BASH_LINENO: which functions and files run, where they were written, and on which line each was
// called. The interpreter keeps the functions alone. Here a file that is run or sourced is on the stack as well.

import type { Watched } from './position.ts'
import type { ShellVariables } from './shape.ts'

const MAIN = 'main'

/** What a shell begins with: a file that it runs, or null for words and for its input. */
export function beginStack({ ctx }: Watched, { file, isOfWords }: { file: string | null; isOfWords: boolean }): void {
  const { state } = ctx
  state.currentSource = file ?? (isOfWords ? 'environment' : MAIN)
  state.funcNameStack = []
  state.sourceStack = file === null ? [] : [file]
  state.callLineStack = file === null ? [] : [0]
}

/** For the call of a function and of `source`: below it stands `main` where a file is run, and it does not at the top level. */
export async function withMain<T>({ ctx }: Watched, run: () => Promise<T>): Promise<T> {
  const { state } = ctx
  const isFirst = state.funcNameStack?.length === 0 && state.sourceStack?.length === 1
  if (!isFirst) return run()
  state.funcNameStack?.push(MAIN)
  try {
    return await run()
  } finally {
    ctx.state.funcNameStack?.pop()
  }
}

/** For as long as a file is sourced. */
export async function withSourced<T>(shell: Watched, file: string, run: () => Promise<T>): Promise<T> {
  return withMain(shell, async () => {
    const { state } = shell.ctx
    state.funcNameStack?.unshift('source')
    state.sourceStack?.unshift(file)
    state.callLineStack?.unshift(state.currentLine)
    try {
      return await run()
    } finally {
      state.funcNameStack?.shift()
      state.sourceStack?.shift()
      state.callLineStack?.shift()
    }
  })
}

/** The three as arrays, by their names; empty ones are not there. */
export function stackArrays({ funcNameStack, sourceStack, callLineStack }: ShellVariables): [string, string[]][] {
  return [
    ['FUNCNAME', [...(funcNameStack ?? [])]],
    ['BASH_SOURCE', [...(sourceStack ?? [])]],
    ['BASH_LINENO', (callLineStack ?? []).map(String)],
  ]
}
