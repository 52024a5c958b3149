// Money and quantities without binary floats. An amount is a whole number of hundred-millionths; the quotient of
// amounts stays an exact fraction until it is shown.

/** Eight decimal places: 1.5 is 150000000n. */
export type Amount = bigint

const PLACES = 8
export const ONE: Amount = 10n ** BigInt(PLACES)
/** The largest accepted quantity, price or sum: 10¹². */
export const LARGEST: Amount = 10n ** 12n * ONE

const PLAIN = /^([+-]?)(\d{1,20})(?:\.(\d{1,24}))?$/
const SCIENTIFIC = /^([+-]?\d(?:\.\d+)?)e([+-]\d{1,3})$/

/**
 * Parses a decimal exactly; a JSON number by its shortest decimal form. Null when it has more than eight decimal
 * places, or is not a decimal.
 */
export function parseAmount(input: string | number): Amount | null {
  const text = typeof input === 'number' ? written(input) : input.trim()
  const [, sign, whole, rest = ''] = PLAIN.exec(text) ?? []
  if (whole === undefined) return null
  const places = rest.replace(/0+$/, '')
  if (places.length > PLACES) return null
  const size = BigInt(whole) * ONE + BigInt(places.padEnd(PLACES, '0'))
  return sign === '-' ? -size : size
}

/** `String(1e-7)` is "1e-7" and `String(1e21)` is "1e+21": returns both in plain digits. */
function written(value: number): string {
  const text = String(value)
  const [, digits, power] = SCIENTIFIC.exec(text) ?? []
  if (digits === undefined || power === undefined) return text
  const [whole = '', rest = ''] = digits.replace('-', '').split('.')
  const point = whole.length + Number(power)
  const all = `${whole}${rest}`
  const plain =
    point <= 0 ? `0.${'0'.repeat(-point)}${all}` : `${all.padEnd(point, '0').slice(0, point)}.${all.slice(point)}`
  return `${digits.startsWith('-') ? '-' : ''}${plain.replace(/\.$/, '')}`
}

/** Without trailing zeros: "1.5", "-0.00000001", "12". */
export function formatAmount(amount: Amount): string {
  const size = amount < 0n ? -amount : amount
  const rest = (size % ONE).toString().padStart(PLACES, '0').replace(/0+$/, '')
  return `${amount < 0n ? '-' : ''}${size / ONE}${rest === '' ? '' : `.${rest}`}`
}

/** The nearest binary number, for JSON: exact to eight places up to about 90 million, to fifteen digits beyond. */
export const numberOf = (amount: Amount): number => Number(formatAmount(amount))

/** `n / d` hundred-millionths, not necessarily in lowest terms; `d` is positive. */
export type Exact = { readonly n: bigint; readonly d: bigint }

export const ZERO: Exact = { n: 0n, d: 1n }

export const exact = (amount: Amount): Exact => ({ n: amount, d: 1n })

export const product = (a: Amount, b: Amount): Exact => ({ n: a * b, d: ONE })

export function plus(a: Exact, b: Exact): Exact {
  if (a.n === 0n) return b
  if (b.n === 0n) return a
  if (a.d === b.d) return { n: a.n + b.n, d: a.d }
  // Most denominators consist of the same few factors: without this they would grow with each sum.
  if (a.d % b.d === 0n) return { n: a.n + b.n * (a.d / b.d), d: a.d }
  if (b.d % a.d === 0n) return { n: a.n * (b.d / a.d) + b.n, d: b.d }
  return lowest({ n: a.n * b.d + b.n * a.d, d: a.d * b.d })
}

export const times = (a: Exact, amount: Amount): Exact => ({ n: a.n * amount, d: a.d * ONE })

/** `a × share`, where the share is a fraction of whole numbers. */
export const part = (a: Exact, n: bigint, d: bigint): Exact => lowest({ n: a.n * n, d: a.d * d })

/** The only place where money is rounded: half to even, to eight places. */
export function rounded({ n, d }: Exact): Amount {
  const isNegative = n < 0n
  const size = isNegative ? -n : n
  const [whole, rest] = [size / d, size % d]
  const isUp = rest * 2n > d || (rest * 2n === d && whole % 2n === 1n)
  const result = isUp ? whole + 1n : whole
  return isNegative ? -result : result
}

/** `a / b` of two exact values as an amount; null where `b` is zero. */
export function ratio(a: Exact, b: Exact): Amount | null {
  if (b.n === 0n) return null
  const [n, d] = [a.n * b.d * ONE, a.d * b.n]
  return rounded(d < 0n ? { n: -n, d: -d } : { n, d })
}

/** Divided by the common divisor, as long as both are small enough for that to be cheap. */
function lowest({ n, d }: Exact): Exact {
  if (n === 0n) return ZERO
  if (d > CHEAP) return { n, d }
  const shared = commonDivisor(n < 0n ? -n : n, d)
  return shared === 1n ? { n, d } : { n: n / shared, d: d / shared }
}

const CHEAP = 1n << 512n

export function commonDivisor(a: bigint, b: bigint): bigint {
  let [large, small] = [a, b]
  while (small !== 0n) [large, small] = [small, large % small]
  return large
}
