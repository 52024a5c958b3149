import { AppError } from '../../http/errors.ts'

/** What the work gives, or the 500 that the interface declares for it when the store fails. */
export async function orDeclared<T>(work: Promise<T>, message: string): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('declared_failure', message, { cause })
  }
}
