import type { AppError } from '../../http/errors.ts'
import { type FullQuota, quotaReached } from '../../http/too-many.ts'

const ADVICE: Readonly<Record<string, string>> = {
  open_analyses: 'Wait until some of your analyses are done, or cancel some.',
  analyses_per_day: 'The count begins anew at midnight, UTC.',
}

export function tooManyAnalyses(full: FullQuota): AppError {
  return quotaReached(full, ADVICE[full.limit] ?? '')
}
