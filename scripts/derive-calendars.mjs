// The days on which the six markets do not trade, and those on which they close early or open late.
// Mainland holidays are decreed a year ahead, so they come from a package that records the decrees;
// New York's and Tokyo's follow rules that packages know; Hong Kong's follow the General Holidays Ordinance
// and the lunar calendar, which are worked out here; Seoul's and Taipei's are listed.

import { SEOUL, SEOUL_LATE, TAIPEI } from './asian-closures.mjs'

const YEARS = [2024, 2025, 2026, 2027]

// What no rule gives: decided by an exchange for one day.
const ONE_OFF_CLOSURES = {
  cn: ['2024-02-09'], // the eve of the lunar new year, which the decree of 2024 left to employers
  hk: ['2024-09-06'], // typhoon, the last one that stopped trading
  us: ['2025-01-09'], // day of mourning
  jp: [],
  kr: [],
  tw: [],
}

const DAY_MS = 86_400_000

export function addDays(date, days) {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
}

function weekdayOf(date) {
  return new Date(`${date}T00:00:00Z`).getUTCDay()
}

const isWeekend = (date) => weekdayOf(date) % 6 === 0
const sorted = (dates) => [...new Set(dates)].sort()

/** For each market `{ years, closed, early, late }`: weekday holidays, minutes of the day of early closes, and late sessions. */
export function deriveCalendars({ chineseDays, nyseHolidays, japaneseHolidays }) {
  const closed = {
    cn: YEARS.flatMap((year) => chineseDays.getHolidaysInRange(`${year}-01-01`, `${year}-12-31`, false)),
    hk: YEARS.flatMap((year) => hongKongHolidays(year, chineseDays)),
    us: YEARS.flatMap((year) => nyseHolidays.getHolidays(year).map((holiday) => holiday.dateString)),
    jp: YEARS.flatMap((year) => tokyoClosures(year, japaneseHolidays)),
    kr: SEOUL,
    tw: TAIPEI,
  }
  const calendars = {}
  for (const market of Object.keys(closed)) {
    const days = sorted([...closed[market], ...ONE_OFF_CLOSURES[market]]).filter((date) => !isWeekend(date))
    // A year without a single holiday is one that has not been decreed yet.
    const years = YEARS.filter((year) => days.some((date) => date.startsWith(String(year))))
    calendars[market] = { years, closed: days, early: {}, late: market === 'kr' ? SEOUL_LATE : {} }
  }
  addEarlyCloses(calendars, chineseDays)
  return calendars
}

/** National holidays, and the exchange's own days around the turn of the year. */
function tokyoClosures(year, japaneseHolidays) {
  const holidays = japaneseHolidays.between(new Date(`${year}-01-01`), new Date(`${year}-12-31`))
  const national = holidays.map(({ date }) => date.toISOString().slice(0, 10))
  return [...national, `${year}-01-02`, `${year}-01-03`, `${year}-12-31`]
}

function hongKongHolidays(year, chineseDays) {
  const lunar = (monthDay) => chineseDays.getSolarDateFromLunar(`${year}-${monthDay}`).date
  const easter = easterSunday(year)
  const nominal = [
    ...['01-01', '05-01', '07-01', '10-01', '12-25', '12-26'].map((day) => `${year}-${day}`),
    ...['01-01', '01-02', '01-03', '04-08', '05-05', '08-16', '09-09'].map(lunar),
    chineseDays.getSolarTermDate(year, 4, 'pure_brightness'),
    ...[-2, -1, 1].map((days) => addDays(easter, days)),
  ]
  return withSubstitutes(nominal.sort())
}

/** A holiday on a Sunday, or on another holiday, moves to the next day that is neither. */
function withSubstitutes(nominal) {
  const taken = new Set(nominal.filter((date) => weekdayOf(date) !== 0))
  const displaced = nominal.filter((date, i) => weekdayOf(date) === 0 || nominal.indexOf(date) !== i)
  for (let date of displaced) {
    while (weekdayOf(date) === 0 || taken.has(date)) date = addDays(date, 1)
    taken.add(date)
  }
  return [...taken]
}

/** The Gregorian computus in its anonymous form. */
function easterSunday(year) {
  const a = year % 19
  const b = Math.floor(year / 100)
  const c = year % 100
  const d = Math.floor((b + 8) / 25)
  const e = Math.floor((b - d + 1) / 3)
  const h = (19 * a + b - Math.floor(b / 4) - e + 15) % 30
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7
  const m = Math.floor((a + 11 * h + 22 * l) / 451)
  const month = Math.floor((h + l - 7 * m + 114) / 31)
  const day = ((h + l - 7 * m + 114) % 31) + 1
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}

function addEarlyCloses(calendars, chineseDays) {
  const noon = 12 * 60
  const onePm = 13 * 60
  const mark = (market, date, minute) => {
    if (!isWeekend(date) && !calendars[market].closed.includes(date)) calendars[market].early[date] = minute
  }
  for (const year of YEARS) {
    mark('hk', addDays(chineseDays.getSolarDateFromLunar(`${year}-01-01`).date, -1), noon)
    mark('hk', `${year}-12-24`, noon)
    mark('hk', `${year}-12-31`, noon)
    mark('us', `${year}-07-03`, onePm)
    mark('us', addDays(fourthThursdayOfNovember(year), 1), onePm)
    mark('us', `${year}-12-24`, onePm)
  }
}

function fourthThursdayOfNovember(year) {
  const first = `${year}-11-01`
  return addDays(first, ((4 - weekdayOf(first) + 7) % 7) + 21)
}

/** The last `count` trading days up to and including `end`. */
export function tradingDays({ years, closed }, end, count) {
  const days = []
  for (let date = end; days.length < count; date = addDays(date, -1)) {
    if (!years.includes(Number(date.slice(0, 4)))) throw new Error(`no calendar for ${date}`)
    if (!isWeekend(date) && !closed.includes(date)) days.unshift(date)
  }
  return days
}

/** The module that `src/market/calendar.ts` imports. */
export function renderCalendars(calendars) {
  const field = (name) => Object.fromEntries(Object.entries(calendars).map(([market, value]) => [market, value[name]]))
  const json = (value) => JSON.stringify(value, null, 2)
  return `// Generated by scripts/derive-samples.mjs. Do not edit.

import type { Market } from './instruments.ts'

/** Years whose holidays are known. */
export const KNOWN_YEARS: Partial<Record<Market, number[]>> = ${JSON.stringify(field('years'))}

/** Weekdays without a session. */
export const CLOSED_DAYS: Partial<Record<Market, string[]>> = ${json(field('closed'))}

/** The minute of the local day at which a half day ends. */
export const EARLY_CLOSES: Partial<Record<Market, Record<string, number>>> = ${json(field('early'))}

/** Opening and closing minute of the local day where the session begins late. */
export const LATE_SESSIONS: Partial<Record<Market, Record<string, [open: number, close: number]>>> = ${json(field('late'))}
`
}
