import type { Provenance } from '../market/provider-run.ts'
import type { DataProvenance } from './report.ts'

/** Where figures come from in the report's own form; null for a real market's. */
export function wireProvenance(provenance: Provenance | null): DataProvenance | null {
  return provenance && { kind: provenance.kind, label: provenance.label, ends_on: provenance.endsOn }
}
