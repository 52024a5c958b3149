// FUNCNAME, BASH_SOURCE and BASH_LINENO: the running functions and files, where they are defined, and the line of each
// call. The interpreter only stores the functions. Here a file that is run or sourced is on the stack too.

import type { Watched } from './position.ts'
import type { ShellVariables } from './shape.ts'

const MAIN = 'main'

/** The initial stack of a shell: a file that it runs, or null for a command string and for its input. */
export function beginStack({ ctx }: Watched, { file, isOfWords }: { file: string | null; isOfWords: boolean }): void {
  const { state } = ctx
  state.currentSource = file ?? (isOfWords ? 'environment' : MAIN)
  state.funcNameStack = []
  state.sourceStack = file === null ? [] : [file]
  state.callLineStack = file === null ? [] : [0]
}

/** For the call of a function and of `source`: `main` is below it if a file is run, but not at the top level. */
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

/** While a file is sourced. */
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

/** The three as arrays, by name; empty ones are left out. */
export function stackArrays({ funcNameStack, sourceStack, callLineStack }: ShellVariables): [string, string[]][] {
  return [
    ['FUNCNAME', [...(funcNameStack ?? [])]],
    ['BASH_SOURCE', [...(sourceStack ?? [])]],
    ['BASH_LINENO', (callLineStack ?? []).map(String)],
  ]
}
