// A git command that ends early, with git's message and exit code.

/** For callers that do more than show the message. */
export type FailureReason = 'authentication' | 'not-found' | 'refused' | 'unreachable' | 'too-large' | 'other'

export class GitFailure extends Error {
  override readonly name = 'GitFailure'
  readonly exitCode: number
  readonly reason: FailureReason

  /** The message is shown unchanged, on its own lines. */
  constructor(message: string, exitCode: number, options: ErrorOptions & { reason?: FailureReason } = {}) {
    super(message, options)
    this.exitCode = exitCode
    this.reason = options.reason ?? 'other'
  }
}

export function fatal(message: string, options: ErrorOptions & { reason?: FailureReason } = {}): GitFailure {
  return new GitFailure(`fatal: ${message}`, 128, options)
}

export function failed(message: string, exitCode = 1): GitFailure {
  return new GitFailure(`error: ${message}`, exitCode)
}
