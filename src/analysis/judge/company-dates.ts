// When the company last told its results and when its dividends go off, as far as a source tells.

import type { PartState } from '../codes.ts'
import type { Inputs } from '../gather/gather.ts'

export type CompanyDates = {
  /** `sample`: nobody was asked, because a sample is of another day. */
  status: PartState | 'sample'
  /** The last day of the period of the newest results, and the day on which they were told. */
  resultsFor: string | null
  resultsToldOn: string | null
  /** Of those that are known, the last one up to the session of the report, and the first one after it. */
  lastExDividend: string | null
  nextExDividend: string | null
}

type Subject = Pick<Inputs, 'company' | 'provenance' | 'instrument' | 'asOf'>

export function companyDates({ company, provenance, instrument, asOf }: Subject): CompanyDates {
  const { state, value } = company.fundamentals
  const isSample = provenance !== null && instrument.kind === 'stock'
  const exDates = (value?.dividends ?? []).flatMap(({ exDate }) => exDate ?? []).sort()
  return {
    status: isSample ? 'sample' : state,
    resultsFor: value?.report?.reportDate ?? null,
    resultsToldOn: value?.report?.announcedOn ?? null,
    lastExDividend: exDates.findLast((date) => date <= asOf) ?? null,
    nextExDividend: exDates.find((date) => date > asOf) ?? null,
  }
}
