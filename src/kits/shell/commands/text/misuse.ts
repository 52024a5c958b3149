// A command line, or an input, that a command cannot work with: thrown by whatever finds it, and told by the command.

export class Misuse extends Error {
  /** Whether the command says where its options can be read about, as GNU's do for a wrong option. */
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

/** What is wrong with a value or an input: said without the advice to read about options. */
export function refusal(message: string, exitCode?: number): Misuse {
  return new Misuse(message, { showsHint: false, ...(exitCode === undefined ? {} : { exitCode }) })
}

/** As GNU's messages quote where the locale is UTF-8. */
export function curly(word: string): string {
  return `‘${word}’`
}
