// Error messages for all failures that damaged files, faulty remotes and lack of space can cause.

import { isFileError } from '../../workspace/file-system.ts'
import { fatal, GitFailure } from './failure.ts'
import { MissingObjectError } from './object-store.ts'
import { CorruptObjectError } from './objects.ts'

/** Null for an unexpected error. */
export function explainedFailure(error: unknown): GitFailure | null {
  if (error instanceof GitFailure) return error
  if (isFileError(error)) {
    const message = error.code === 'EACCES' ? `'${error.path}': Permission denied` : error.message
    return fatal(message, { cause: error, reason: error.code === 'ENOSPC' ? 'too-large' : 'other' })
  }
  if (error instanceof CorruptObjectError) return fatal(`the repository is damaged: ${error.message}`, { cause: error })
  if (!(error instanceof MissingObjectError)) return null
  const advice = 'it is not in the repository; a shallow clone has no older commits (git fetch --unshallow)'
  return fatal(`${error.message}: ${advice}`, { cause: error })
}
