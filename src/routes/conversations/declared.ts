import { AppError, installationFault } from '../../http/errors.ts'

/** The result of the work, or the 500 that the interface declares for it when the store fails. */
export async function orDeclared<T>(work: Promise<T>, message: string): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    const fault = installationFault(cause)
    throw new AppError('declared_failure', fault === null ? message : `${message}. ${fault}`, { cause })
  }
}

/** Why stored values cannot be opened, and what helps. */
export const sealedElsewhere = (what: string, names: readonly string[], remedy: string): string =>
  `Stored ${what} cannot be opened: ${names.join(', ')}. They were changed in the database, or SECRETS_KEY is not the one they were sealed under. ${remedy}, or start with that key`

export const STORE_ANEW = 'Unset them and store them anew'
