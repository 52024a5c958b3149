// The definition of an indicator: its series, computed from the columns of a table of bars, and everything that other code
// needs to know of them.

import type { Series } from './series.ts'

export type Columns = { open: Series; high: Series; low: Series; close: Series; volume: Series }

/** Where in the technical part of a report the values stand: parts follow each other in this order. */
export type ReportPart = 'averages' | 'convergence' | 'oscillators' | 'ranges' | 'performance'

export type IndicatorLine = {
  /** Bars before the first value; values for them are not shown. */
  readonly warmUp: number
  /** The field of the report; null for a series that the report shows in another way. */
  readonly field: string | null
  readonly isPercent: boolean
}

type Lines = Readonly<Record<string, IndicatorLine>>

export type Indicator<Names extends Lines = Lines, Part extends ReportPart = ReportPart> = {
  readonly part: Part
  /** By the name of the series. */
  readonly lines: Names
  readonly compute: (columns: Columns) => { readonly [Name in keyof Names]: Series }
}

export const defineIndicator = <const Names extends Lines, Part extends ReportPart>(
  indicator: Indicator<Names, Part>,
): Indicator<Names, Part> => indicator

/** The names of the series of each of the indicators. */
export type NamesOf<Some> = Some extends Indicator<infer Names> ? keyof Names & string : never

/** What they are called in one part of the report. */
export type FieldsOf<Some, Part extends ReportPart> =
  Some extends Indicator<infer Names, Part> ? Exclude<Names[keyof Names]['field'], null> : never
