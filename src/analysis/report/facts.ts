import type { StoredDiagnostics } from '../diagnostics.ts'
import type { Inputs } from '../gather/gather.ts'
import type { Judged } from '../judge/judge.ts'
import type { Action } from '../schemas.ts'
import type { Words } from '../write/write.ts'

/** Everything that a report contains. */
export type Facts = Judged & Words & { diagnostics: StoredDiagnostics }

/** What both halves of the details repeat from the summary. */
export type Verdict = { action: Action | null; actionLabel: string | null; advice: string; trend: string }

/** The source of the quote that the report uses. */
export const quoteSource = ({ quote, fetched }: Inputs): string | null =>
  quote !== null && fetched.quote.ok ? fetched.quote.provider : null
