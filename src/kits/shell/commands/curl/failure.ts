export const EXIT = {
  usage: 2,
  malformed: 3,
  unresolved: 6,
  refused: 7,
  httpError: 22,
  write: 23,
  read: 26,
  timeout: 28,
  redirects: 47,
  tooLarge: 63,
} as const

export class CurlError extends Error {
  readonly exitCode: number

  constructor(exitCode: number, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}
