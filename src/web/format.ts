import { language, locale, say } from './texts.ts'

const RELATIVE = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
const CLOCK = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** `3 minutes ago`, `yesterday`, `now`. */
export function ago(time: string): string {
  const seconds = (Date.parse(time) - Date.now()) / 1000
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return RELATIVE.format(Math.trunc(seconds / length), unit)
  }
  return say('just now')
}

export const clockTime = (time: string): string => CLOCK.format(new Date(time))

/** The progress message of a task: in every language the service separates the name with a full-width colon. */
export function progressText(message: string): string {
  const [name = '', ...rest] = message.split('：')
  const told = rest.join('：')
  return rest.length === 0 || /\p{Script=Han}/u.test(told) ? message : `${name}: ${told}`
}

/** Two decimals, four for prices below one, and four significant digits below a cent. */
export function price(value: number): string {
  const size = Math.abs(value)
  const digits = size >= 1 || size === 0 ? 2 : size >= 0.01 ? 4 : Math.min(12, 3 - Math.floor(Math.log10(size)))
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

export const signed = (value: number): string =>
  `${value > 0 ? '+' : value < 0 ? '−' : ''}${Math.abs(value).toFixed(2)}`

/** As in reports: thousands are K, millions M, where British English would use m. */
export const compact = (value: number): string =>
  value.toLocaleString(language === 'en' ? 'en' : locale, { notation: 'compact', maximumFractionDigits: 1 })

/** The page number in a URL, for any text. */
export const pageIn = (text: string): number => (/^[1-9]\d{0,5}$/.test(text) ? Number(text) : 1)
