// An invalid command line or input: thrown where it is found, and reported by the command.

export class Misuse extends Error {
  /** Whether the command hints at its help, like GNU's do for an invalid option. */
  readonly showsHint: boolean
  readonly exitCode: number | null

  constructor(
    message: string,
    { showsHint = true, exitCode = null }: { showsHint?: boolean; exitCode?: number | null } = {},
  ) {
    super(message)
    this.showsHint = showsHint
    this.exitCode = exitCode
  }
}

/** An error in a value or an input: without the hint at the help. */
export function refusal(message: string, exitCode?: number): Misuse {
  return new Misuse(message, { showsHint: false, ...(exitCode === undefined ? {} : { exitCode }) })
}

/** Quoted like in GNU's messages in a UTF-8 locale. */
export function curly(word: string): string {
  return `‘${word}’`
}
