// Formats numbers like C's `printf`.

const MAX_DIGITS = 100
/** This many further digits show whether a number lies exactly between two. */
const TIE_DIGITS = 30

/** `%f`. A number exactly between two is rounded to the even one, like in C. */
export function fixed(value: number, precision: number): string {
  const digits = Math.min(precision, MAX_DIGITS)
  const size = Math.abs(value)
  if (size >= 1e21) return padZeros(BigInt(size).toString(), precision)
  const text = evenly(digits, (count) => size.toFixed(count))
  return precision > digits ? text + '0'.repeat(precision - digits) : text
}

/** `%e`. */
export function exponential(value: number, precision: number): string {
  const digits = Math.min(precision, MAX_DIGITS)
  const size = Math.abs(value)
  const [mantissa = '', exponent = '0'] = evenly(digits, (count) => size.toExponential(count)).split('e')
  const power = Math.abs(Number(exponent))
  const zeros = '0'.repeat(precision - digits)
  return `${mantissa}${zeros}e${exponent.startsWith('-') ? '-' : '+'}${power < 10 ? '0' : ''}${power}`
}

/** `%g`; `keepZeros` for the flag `#`. */
export function general(value: number, precision: number, keepZeros: boolean): string {
  const digits = Math.max(1, Math.min(precision, MAX_DIGITS))
  const scientific = exponential(value, digits - 1)
  const power = Number(scientific.slice(scientific.indexOf('e') + 1))
  if (power < -4 || power >= digits) {
    const [mantissa = '', exponent = ''] = scientific.split('e')
    return `${keepZeros ? mantissa : trimmed(mantissa)}e${exponent}`
  }
  const text = fixed(value, digits - 1 - power)
  return keepZeros ? text : trimmed(text)
}

function trimmed(digits: string): string {
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
}

function padZeros(whole: string, precision: number): string {
  return precision === 0 ? whole : `${whole}.${'0'.repeat(precision)}`
}

/** JavaScript rounds up a number that lies exactly between two; C takes the even one. */
function evenly(digits: number, show: (count: number) => string): string {
  const text = show(digits)
  if (digits + TIE_DIGITS > MAX_DIGITS) return text
  const [longMantissa = '', exponent] = show(digits + TIE_DIGITS).split('e')
  if (!/50{29}$/.test(longMantissa)) return text
  const down = longMantissa.slice(0, -TIE_DIGITS).replace(/\.$/, '')
  const isEven = Number(down.at(-1)) % 2 === 0
  return isEven ? (exponent === undefined ? down : `${down}e${exponent}`) : text
}
