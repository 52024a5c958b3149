import type { AppError } from '../../http/errors.ts'
import { type FullQuota, quotaReached } from '../../http/too-many.ts'

const ADVICE: Readonly<Record<string, string>> = {
  open_analyses: 'Wait until some of your analyses are done, or cancel some.',
  analyses_per_day: 'The count begins anew at midnight, UTC.',
}

export function tooManyAnalyses(full: FullQuota, asked = 1): AppError {
  const tooManyAtOnce = `This request asks for ${asked} analyses at once, more than the limit allows: send fewer in one request.`
  return quotaReached(full, asked > full.allowed ? tooManyAtOnce : (ADVICE[full.limit] ?? ''))
}
