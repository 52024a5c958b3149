// Whether prices of the past were adjusted for splits and dividends, and by whom. A source that is not listed has not told.

import type { Provenance } from '../provider-run.ts'

export type AdjustmentKind = 'forward' | 'none' | 'synthetic' | 'not_needed' | 'unknown'
export type Adjustment = { kind: AdjustmentKind; source: string | null }

const BY_SOURCE: Readonly<Record<string, AdjustmentKind>> = {
  tencent: 'forward',
  yahoo: 'forward',
  eastmoney: 'forward',
  tushare: 'forward',
  sina: 'none',
  alphavantage: 'none',
}

type Told = { source: string | null; provenance: Provenance | null; isIndex: boolean }

export function adjustmentOf({ source, provenance, isIndex }: Told): Adjustment {
  if (provenance !== null) return { kind: provenance.kind === 'synthetic' ? 'synthetic' : 'none', source }
  if (source === null) return { kind: 'unknown', source }
  if (isIndex) return { kind: 'not_needed', source }
  return { kind: Object.hasOwn(BY_SOURCE, source) ? (BY_SOURCE[source] ?? 'unknown') : 'unknown', source }
}
