import { locale, say } from './texts.ts'

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

/** Two decimals, more for prices below one. */
export function price(value: number): string {
  const digits = Math.abs(value) < 1 && value !== 0 ? 4 : 2
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

export const signed = (value: number): string =>
  `${value > 0 ? '+' : value < 0 ? '−' : ''}${Math.abs(value).toFixed(2)}`

export const compact = (value: number): string =>
  value.toLocaleString(locale, { notation: 'compact', maximumFractionDigits: 1 })
