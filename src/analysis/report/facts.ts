import type { StoredDiagnostics } from '../diagnostics.ts'
import type { Inputs } from '../gather/gather.ts'
import type { Judged } from '../judge/judge.ts'
import type { Action } from '../schemas.ts'
import type { Words } from '../write/write.ts'

/** All that a report tells. */
export type Facts = Judged & Words & { diagnostics: StoredDiagnostics }

/** What both halves of the details repeat from the summary. */
export type Verdict = { action: Action | null; actionLabel: string | null; advice: string; trend: string }

/** Who told the quote that the report stands on. */
export const quoteSource = ({ quote, fetched }: Inputs): string | null =>
  quote !== null && fetched.quote.ok ? fetched.quote.provider : null
