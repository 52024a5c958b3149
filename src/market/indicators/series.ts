// The definition of an indicator: its series, computed from the columns of a table of bars, and its properties for
// other code. A series is one number for each bar. Inside this folder NaN marks the warm-up, because a Float64Array can
// hold nothing else; `valueAt` and `nullable` convert it to null, so no caller takes a missing value for a number.
// Loops keep their indices inside the arrays, so reads are asserted with `as number`, which costs nothing at run time.

export type Series = Float64Array
export type Numbers = ArrayLike<number>

/** A series that consists only of warm-up. */
export function blank(length: number): Series {
  return new Float64Array(length).fill(Number.NaN)
}

/** A series whose first values are warm-up; the caller writes the others. */
export function warmingUp(length: number, warmUp: number): Series {
  return new Float64Array(length).fill(Number.NaN, 0, Math.min(warmUp, length))
}

/** The value at an index (negative counts from the end), null in the warm-up and outside the series. */
export function valueAt(series: Numbers, index: number): number | null {
  const value = series[index < 0 ? series.length + index : index]
  return value === undefined || Number.isNaN(value) ? null : value
}

/** The series with null for the warm-up: its form outside this folder, for charts and JSON. */
export function nullable(series: Numbers): (number | null)[] {
  return Array.from(series, (value) => (Number.isNaN(value) ? null : value))
}

/** Highest value of the last `period` bars. */
export function rollingMax(values: Numbers, period: number): Series {
  return rollingExtreme(values, period, 1)
}

/** Lowest value of the last `period` bars. */
export function rollingMin(values: Numbers, period: number): Series {
  return rollingExtreme(values, period, -1)
}

/**
 * Van Herk's algorithm, with constant work for every bar: the values are cut into blocks as long as the window, so a
 * window is the end of one block and the beginning of the next, and the extreme of each part is known from one pass
 * through each block in each direction.
 */
function rollingExtreme(values: Numbers, period: number, sign: 1 | -1): Series {
  const size = values.length
  const out = new Float64Array(size)
  // The extreme from each position of the previous block to its end.
  const ends = new Float64Array(period).fill(Number.NEGATIVE_INFINITY)
  for (let start = 0; start < size; start += period) {
    const count = Math.min(period, size - start)
    let best = Number.NEGATIVE_INFINITY
    for (let k = 0; k < count; k++) {
      const value = sign * (values[start + k] as number)
      if (value > best) best = value
      const before = k + 1 < period ? (ends[k + 1] as number) : best
      out[start + k] = sign * (before > best ? before : best)
    }
    let end = Number.NEGATIVE_INFINITY
    for (let k = count - 1; k >= 0; k--) {
      const value = sign * (values[start + k] as number)
      if (value > end) end = value
      ends[k] = end
    }
  }
  return out.fill(Number.NaN, 0, Math.min(period - 1, size))
}

export type Columns = { open: Series; high: Series; low: Series; close: Series; volume: Series }

/** The position of the values in the technical part of a report: parts have this order. */
export type ReportPart = 'averages' | 'convergence' | 'oscillators' | 'ranges' | 'performance'

export type IndicatorLine = {
  /** Bars before the first value; values for them are not shown. */
  readonly warmUp: number
  /** The field in the report; null for a series that the report shows in another way. */
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

/** The fields of an indicator in one part of the report. */
export type FieldsOf<Some, Part extends ReportPart> =
  Some extends Indicator<infer Names, Part> ? Exclude<Names[keyof Names]['field'], null> : never
