// Why a text is no script, in the words of bash.

/** What bash says, and where. */
export class SyntaxProblem extends Error {
  readonly at: number
  readonly words: string
  /** The line is shown where a token is wrong, and not where one is missing. */
  readonly showsLine: boolean

  constructor(words: string, at: number, showsLine: boolean) {
    super(words)
    this.words = words
    this.at = at
    this.showsLine = showsLine
  }
}

export function unmatched(sign: string, at: number): SyntaxProblem {
  return new SyntaxProblem(`unexpected EOF while looking for matching \`${sign}'`, at, false)
}

export function unexpected(text: string, at: number): SyntaxProblem {
  return new SyntaxProblem(`syntax error near unexpected token \`${text}'`, at, true)
}
