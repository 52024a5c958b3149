import type { NewAnalysis } from '../../db/analyses.ts'
import { errorFields, log } from '../../lib/log.ts'

export type Save = (analysis: NewAnalysis) => Promise<unknown>

const SAVE_DELAYS_MS = [200, 1_000]

/** Tries again if need be; false when the database does not take the report. */
export async function savePatiently(
  save: Save,
  analysis: NewAnalysis,
  event = 'analysis.save_failed',
): Promise<boolean> {
  for (const delayMs of [...SAVE_DELAYS_MS, null]) {
    try {
      await save(analysis)
      return true
    } catch (error) {
      log.warn(event, { queryId: analysis.queryId, ...errorFields(error) })
      if (delayMs !== null) await new Promise((resolve) => setTimeout(resolve, delayMs))
    }
  }
  return false
}
