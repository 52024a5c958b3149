// Times of files as commands are asked for them and show them. The clock of the shell is UTC.

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const LONG_MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
export const DAY_MS = 86_400_000
const HALF_YEAR_MS = (31_556_952 / 2) * 1000

const two = (value: number, pad = '0'): string => String(value).padStart(2, pad)

/** `2024-01-10 12:47:00.123000000 +0000` */
export function fullTime(ms: number): string {
  const iso = new Date(ms).toISOString()
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}000000 +0000`
}

/** As in long listings: with the clock for the last half year, else with the year. */
export function listTime(ms: number, nowMs: number): string {
  const time = new Date(ms)
  const day = `${MONTHS[time.getUTCMonth()]} ${two(time.getUTCDate(), ' ')}`
  const isRecent = ms <= nowMs && nowMs - ms < HALF_YEAR_MS
  return isRecent ? `${day} ${time.toISOString().slice(11, 16)}` : `${day}  ${time.getUTCFullYear()}`
}

type Field = (time: Date) => string

const yearDay = (time: Date): number => Math.floor((time.getTime() - Date.UTC(time.getUTCFullYear(), 0, 1)) / DAY_MS)
const weekOf = (time: Date, firstDay: number): number =>
  Math.floor((yearDay(time) + 7 - ((time.getUTCDay() + 7 - firstDay) % 7)) / 7)

/** By the letters of `date`. */
const FIELDS: Readonly<Record<string, Field>> = {
  Y: (time) => String(time.getUTCFullYear()),
  C: (time) => two(Math.floor(time.getUTCFullYear() / 100)),
  y: (time) => two(time.getUTCFullYear() % 100),
  m: (time) => two(time.getUTCMonth() + 1),
  d: (time) => two(time.getUTCDate()),
  e: (time) => two(time.getUTCDate(), ' '),
  H: (time) => two(time.getUTCHours()),
  k: (time) => two(time.getUTCHours(), ' '),
  I: (time) => two(time.getUTCHours() % 12 || 12),
  l: (time) => two(time.getUTCHours() % 12 || 12, ' '),
  M: (time) => two(time.getUTCMinutes()),
  S: (time) => two(time.getUTCSeconds()),
  N: (time) => `${String(time.getUTCMilliseconds()).padStart(3, '0')}000000`,
  p: (time) => (time.getUTCHours() < 12 ? 'AM' : 'PM'),
  P: (time) => (time.getUTCHours() < 12 ? 'am' : 'pm'),
  a: (time) => (DAYS[time.getUTCDay()] ?? '').slice(0, 3),
  A: (time) => DAYS[time.getUTCDay()] ?? '',
  b: (time) => MONTHS[time.getUTCMonth()] ?? '',
  h: (time) => MONTHS[time.getUTCMonth()] ?? '',
  B: (time) => LONG_MONTHS[time.getUTCMonth()] ?? '',
  j: (time) => String(yearDay(time) + 1).padStart(3, '0'),
  u: (time) => String(time.getUTCDay() || 7),
  w: (time) => String(time.getUTCDay()),
  U: (time) => two(weekOf(time, 0)),
  W: (time) => two(weekOf(time, 1)),
  s: (time) => String(Math.floor(time.getTime() / 1000)),
  F: (time) => time.toISOString().slice(0, 10),
  T: (time) => time.toISOString().slice(11, 19),
  R: (time) => time.toISOString().slice(11, 16),
  D: (time) => `${two(time.getUTCMonth() + 1)}/${two(time.getUTCDate())}/${two(time.getUTCFullYear() % 100)}`,
  x: (time) => `${two(time.getUTCMonth() + 1)}/${two(time.getUTCDate())}/${two(time.getUTCFullYear() % 100)}`,
  X: (time) => time.toISOString().slice(11, 19),
  r: (time) =>
    `${two(time.getUTCHours() % 12 || 12)}:${time.toISOString().slice(14, 19)} ${time.getUTCHours() < 12 ? 'AM' : 'PM'}`,
  c: (time) =>
    `${(DAYS[time.getUTCDay()] ?? '').slice(0, 3)} ${MONTHS[time.getUTCMonth()]} ${two(time.getUTCDate(), ' ')} ${time.toISOString().slice(11, 19)} ${time.getUTCFullYear()}`,
  Z: () => 'UTC',
  z: () => '+0000',
  n: () => '\n',
  t: () => '\t',
  '%': () => '%',
}

export function timeField(letter: string, ms: number): string | null {
  const field = Object.hasOwn(FIELDS, letter) ? FIELDS[letter] : undefined
  return field ? field(new Date(ms)) : null
}

/** A text with `%` fields; what is no field stays. */
export function formatTime(format: string, ms: number): string {
  return format.replace(/%-?([A-Za-z%])/g, (field, letter: string) => {
    const text = timeField(letter, ms)
    if (text === null) return field
    return field.startsWith('%-') ? text.replace(/^[0 ]+(?=.)/, '') : text
  })
}

const UNITS: Readonly<Record<string, number>> = {
  sec: 1000,
  second: 1000,
  min: 60_000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
  fortnight: 14 * DAY_MS,
}

/** The time that a text of everyday forms means; null for one that is none of them. */
export function parseTime(text: string, nowMs: number): number | null {
  const given = text.trim()
  const epoch = /^@(-?\d+(?:\.\d+)?)$/.exec(given)
  if (epoch) return Number(epoch[1]) * 1000
  const calendar =
    /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?$/.exec(
      given,
    )
  if (calendar) return calendarTime(calendar)
  const today = nowMs - (nowMs % DAY_MS)
  const words: Readonly<Record<string, number>> = {
    now: nowMs,
    today: nowMs,
    yesterday: nowMs - DAY_MS,
    tomorrow: nowMs + DAY_MS,
    midnight: today,
  }
  if (Object.hasOwn(words, given)) return words[given] ?? null
  const relative = /^(?:now\s+)?([+-]?)\s*(\d+|last|an?)\s*([a-z]+?)s?(\s+ago)?$/.exec(given)
  if (!relative) return null
  const [, sign, count = '', unit = '', ago] = relative
  const size = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined
  const direction = (sign === '-' ? -1 : 1) * (ago === undefined && count !== 'last' ? 1 : -1)
  const many = /^\d+$/.test(count) ? Number(count) : 1
  return size === undefined ? monthsFrom(nowMs, unit, direction * many) : nowMs + direction * many * size
}

function monthsFrom(nowMs: number, unit: string, count: number): number | null {
  const months = unit === 'month' ? count : unit === 'year' ? 12 * count : null
  if (months === null) return null
  const time = new Date(nowMs)
  return time.setUTCMonth(time.getUTCMonth() + months)
}

function calendarTime(parts: RegExpExecArray): number | null {
  const [, year, month, day, hours = '0', minutes = '0', seconds = '0', zone = 'Z'] = parts
  const [whole = '0', fraction = ''] = seconds.split('.')
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hours), Number(minutes), Number(whole))
  const time = new Date(ms)
  if (
    time.getUTCDate() !== Number(day) ||
    time.getUTCMonth() !== Number(month) - 1 ||
    Number(hours) > 23 ||
    Number(minutes) > 59
  )
    return null
  const offset = /^([+-])(\d{2}):?(\d{2})$/.exec(zone)
  const shift = offset ? (offset[1] === '+' ? -1 : 1) * (Number(offset[2]) * 60 + Number(offset[3])) * 60_000 : 0
  return ms + shift + (fraction === '' ? 0 : Number(`0.${fraction}`) * 1000)
}
