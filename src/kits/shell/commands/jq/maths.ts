// Built-in functions of numbers.

import { JqError, valueLabel } from './operators.ts'
import type { JqValue } from './value.ts'
import type { ValueFunction } from './value-function.ts'

const ONE: Readonly<Record<string, (x: number) => number>> = {
  ...{ floor: Math.floor, ceil: Math.ceil, trunc: Math.trunc, sqrt: Math.sqrt, fabs: Math.abs, cbrt: Math.cbrt },
  ...{ exp: Math.exp, expm1: Math.expm1, exp2: (x) => 2 ** x, exp10: (x) => 10 ** x },
  ...{ log: Math.log, log2: Math.log2, log10: Math.log10, log1p: Math.log1p },
  ...{ sin: Math.sin, cos: Math.cos, tan: Math.tan, asin: Math.asin, acos: Math.acos, atan: Math.atan },
  ...{ sinh: Math.sinh, cosh: Math.cosh, tanh: Math.tanh, asinh: Math.asinh, acosh: Math.acosh, atanh: Math.atanh },
  // C rounds halves away from zero, JavaScript upwards.
  round: (x) => Math.sign(x) * Math.floor(Math.abs(x) + 0.5),
  rint: toEven,
  nearbyint: toEven,
  logb: (x) => (x === 0 ? Number.NEGATIVE_INFINITY : exponentOf(x) - 1),
  significand: (x) => (x === 0 || !Number.isFinite(x) ? x : x / 2 ** (exponentOf(x) - 1)),
}

const TWO: Readonly<Record<string, (x: number, y: number) => number>> = {
  ...{ pow: (x, y) => x ** y, atan2: Math.atan2, fmod: (x, y) => x % y, hypot: Math.hypot },
  fmin: (x, y) => (Number.isNaN(x) ? y : Number.isNaN(y) ? x : Math.min(x, y)),
  fmax: (x, y) => (Number.isNaN(x) ? y : Number.isNaN(y) ? x : Math.max(x, y)),
  fdim: (x, y) => Math.max(0, x - y),
  copysign: (x, y) => (y < 0 || Object.is(y, -0) ? -Math.abs(x) : Math.abs(x)),
  ldexp: (x, y) => x * 2 ** y,
  scalb: (x, y) => x * 2 ** y,
  scalbln: (x, y) => x * 2 ** y,
  drem: (x, y) => x - y * toEven(x / y),
  remainder: (x, y) => x - y * toEven(x / y),
}

export const MATHS: Readonly<Record<string, ValueFunction>> = {
  ...Object.fromEntries(Object.entries(ONE).map(([name, of]) => [`${name}/0`, (input: JqValue) => of(number(input))])),
  ...Object.fromEntries(
    Object.entries(TWO).map(([name, of]) => [
      `${name}/2`,
      (_: JqValue, [x = null, y = null]: readonly JqValue[]) => of(number(x), number(y)),
    ]),
  ),
  'fma/3': (_, [x = null, y = null, z = null]) => number(x) * number(y) + number(z),
  'nan/0': () => Number.NaN,
  'infinite/0': () => Number.POSITIVE_INFINITY,
  'isnan/0': (input) => Number.isNaN(number(input)),
  'isinfinite/0': (input) => Math.abs(number(input)) === Number.POSITIVE_INFINITY,
  'isnormal/0': (input) => Number.isFinite(number(input)) && Math.abs(number(input)) >= 2 ** -1022,
  'frexp/0': (input) => {
    const x = number(input)
    if (x === 0 || !Number.isFinite(x)) return [x, 0]
    const exponent = exponentOf(x)
    return [x / 2 ** exponent, exponent]
  },
  'modf/0': (input) => {
    const x = number(input)
    return [Number.isFinite(x) ? x - Math.trunc(x) : 0, Math.trunc(x)]
  },
}

function number(value: JqValue): number {
  if (typeof value !== 'number') throw new JqError(`${valueLabel(value)} number required`)
  return value
}

function toEven(x: number): number {
  const floor = Math.floor(x)
  const rest = x - floor
  if (rest !== 0.5) return Math.round(x)
  return floor % 2 === 0 ? floor : floor + 1
}

/** The exponent of the power of two above the number. */
function exponentOf(x: number): number {
  let exponent = Math.floor(Math.log2(Math.abs(x))) + 1
  // A logarithm can be slightly wrong.
  while (Math.abs(x) >= 2 ** exponent) exponent++
  while (Math.abs(x) < 2 ** (exponent - 1)) exponent--
  return exponent
}
