// Weekdays on which Seoul and Taipei do not trade. No package records them: lunar dates follow each country's own calendar,
// substitute days its own law, and both exchanges add days of their own. 2024 and 2025 are the days that were kept, those of
// a single occasion included (elections, temporary holidays, typhoons). 2026 and 2027 follow the laws: Korea's decree on
// holidays of public offices, with Labour Day and the last weekday of the year, on which the exchange closes, and with
// Constitution Day, a holiday again from 2026; Taiwan's act on memorial days and festivals of 2025, by which a holiday on a
// Saturday is kept on the Friday before and one on a Sunday on the Monday after. The days before the lunar new year on which
// Taipei only settles are those of the exchange's notices; for 2027 they are the two that follow from its custom.

const days = (year, text) =>
  text
    .trim()
    .split(/\s+/)
    .map((day) => `${year}-${day}`)

export const SEOUL = [
  ...days(
    2024,
    '01-01 02-09 02-12 03-01 04-10 05-01 05-06 05-15 06-06 08-15 09-16 09-17 09-18 10-01 10-03 10-09 12-25 12-31',
  ),
  ...days(
    2025,
    '01-01 01-27 01-28 01-29 01-30 03-03 05-01 05-05 05-06 06-03 06-06 08-15 10-03 10-06 10-07 10-08 10-09',
  ),
  ...days(2025, '12-25 12-31'),
  ...days(
    2026,
    '01-01 02-16 02-17 02-18 03-02 05-01 05-05 05-25 06-03 07-17 08-17 09-24 09-25 10-05 10-09 12-25 12-31',
  ),
  ...days(2027, '01-01 02-08 02-09 03-01 05-05 05-13 07-19 08-16 09-14 09-15 09-16 10-04 10-11 12-27 12-31'),
]

export const TAIPEI = [
  ...days(
    2024,
    '01-01 02-06 02-07 02-08 02-09 02-12 02-13 02-14 02-28 04-04 04-05 05-01 06-10 07-24 07-25 09-17 10-02',
  ),
  ...days(2024, '10-03 10-10 10-31'),
  ...days(
    2025,
    '01-01 01-23 01-24 01-27 01-28 01-29 01-30 01-31 02-28 04-03 04-04 05-01 05-30 09-29 10-06 10-10 10-24',
  ),
  ...days(2025, '12-25'),
  ...days(
    2026,
    '01-01 02-12 02-13 02-16 02-17 02-18 02-19 02-20 02-27 04-03 04-06 05-01 06-19 09-25 09-28 10-09 10-26',
  ),
  ...days(2026, '12-25'),
  ...days(
    2027,
    '01-01 02-02 02-03 02-04 02-05 02-08 02-09 02-10 03-01 04-05 04-06 04-30 06-09 09-15 09-28 10-11 10-25',
  ),
  ...days(2027, '12-24 12-31'),
]

const TEN = 10 * 60
/** Opening and closing minute of the sessions of Seoul that begin an hour late. */
export const SEOUL_LATE = {
  // The day of the college entrance exam, when nobody is to be on the road before it begins: the close is an hour later, too. The
  // ministry of education announces it; it is the second or the third Thursday of November.
  ...Object.fromEntries(
    ['2024-11-14', '2025-11-13', '2026-11-19', '2027-11-18'].map((date) => [date, [TEN, 16 * 60 + 30]]),
  ),
  // The first session of a year, which closes as always.
  ...Object.fromEntries(
    ['2024-01-02', '2025-01-02', '2026-01-02', '2027-01-04'].map((date) => [date, [TEN, 15 * 60 + 30]]),
  ),
}
