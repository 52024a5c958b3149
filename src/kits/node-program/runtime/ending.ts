// Whether the program is over, and by which code.

/** Thrown to end a program from within; it is also passed to the code that waits for the end. */
export class Exit {
  readonly code: number
  constructor(code: number) {
    this.code = code
  }
}

const { promise, resolve } = Promise.withResolvers<number>()
let exit: Exit | null = null
let isLeaving = false

/** Resolves with the code. */
export const over = promise
export const isOver = () => exit !== null

export function end(code: number): Exit {
  exit ??= new Exit(code)
  resolve(exit.code)
  return exit
}

/** Runs what may still write although it is the end. */
export function leaving(run: () => void): void {
  isLeaving = true
  run()
  isLeaving = false
}

/** Whether the last listeners are being told. */
export const isEnding = () => isLeaving
export const isSilent = () => exit !== null && !isLeaving

/** Once over, at every look: a loop that catches what is thrown in it must not go on. */
export function throwIfOver(): void {
  if (exit !== null) throw exit
}
