// Syntax errors, with bash's messages.

/** Bash's message, and its position. */
export class SyntaxProblem extends Error {
  readonly at: number
  readonly words: string
  /** The line is shown for an unexpected token, but not for a missing one. */
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
