// `factor`: numbers as products of primes.

import { linesOf } from '../bytes.ts'
import type { Pause, TextCall } from '../call.ts'
import { curly } from '../misuse.ts'
import { optionTable, readOptions } from '../options.ts'

const OPTIONS = optionTable('')
const SMALL_PRIMES = [2n, 3n, 5n, 7n, 11n, 13n, 17n, 19n, 23n, 29n, 31n, 37n, 41n]
/** For numbers beyond the range in which the small ones are proven. */
const MORE_BASES = [43n, 47n, 53n, 59n, 61n, 67n, 71n, 73n, 79n, 83n, 89n, 97n]
const STEPS_AT_ONCE = 256

export async function factor(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const words =
    given.operands.length > 0
      ? given.operands
      : linesOf(call.stdin)
          .join(' ')
          .split(/[ \t\0]+/)
  for (const word of words.filter((one) => one !== '')) {
    if (!/^\s*\+?\d+$/.test(word)) {
      call.complain(`${curly(word)} is not a valid positive integer`)
      continue
    }
    const number = BigInt(word.replace('+', '').trim())
    const primes = (await primesOf(number, call.pause)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    call.write(`${number}:${primes.map((prime) => ` ${prime}`).join('')}\n`)
  }
}

async function primesOf(number: bigint, pause: Pause): Promise<bigint[]> {
  if (number < 2n) return []
  const found: bigint[] = []
  let rest = number
  for (let divisor = 2n; divisor < 1000n && divisor * divisor <= rest; divisor += divisor === 2n ? 1n : 2n) {
    for (; rest % divisor === 0n; rest /= divisor) found.push(divisor)
  }
  const left = rest > 1n ? [rest] : []
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (isPrime(one)) {
      found.push(one)
      continue
    }
    const divisor = await divisorOf(one, pause)
    left.push(divisor, one / divisor)
  }
  return found
}

/** The Miller–Rabin test; with the small primes it is proven for every number of up to 81 bits. */
function isPrime(number: bigint): boolean {
  for (const prime of SMALL_PRIMES) if (number % prime === 0n) return number === prime
  let [odd, twos] = [number - 1n, 0]
  for (; odd % 2n === 0n; odd /= 2n) twos++
  const bases = number >> 81n > 0n ? [...SMALL_PRIMES, ...MORE_BASES] : SMALL_PRIMES
  return bases.every((base) => {
    let power = powerOf(base, odd, number)
    if (power === 1n || power === number - 1n) return true
    for (let i = 1; i < twos; i++) {
      power = (power * power) % number
      if (power === number - 1n) return true
    }
    return false
  })
}

function powerOf(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, square] = [1n, base % modulus]
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}

/** Pollard's rho: differences in a sequence that soon repeats share a divisor with the number. */
async function divisorOf(number: bigint, pause: Pause): Promise<bigint> {
  const root = squareRoot(number)
  if (root * root === number) return root
  for (let shift = 1n; ; shift++) {
    const step = (x: bigint) => (x * x + shift) % number
    let [slow, fast, divisor] = [2n, 2n, 1n]
    while (divisor === 1n) {
      let product = 1n
      const [slowBefore, fastBefore] = [slow, fast]
      for (let i = 0; i < STEPS_AT_ONCE; i++) {
        slow = step(slow)
        fast = step(step(fast))
        product = (product * (slow > fast ? slow - fast : fast - slow)) % number
      }
      divisor = common(product, number)
      if (divisor === number) divisor = stepwise({ slow: slowBefore, fast: fastBefore, step, number })
      await pause()
    }
    if (divisor !== number) return divisor
  }
}

type Walk = { slow: bigint; fast: bigint; step: (x: bigint) => bigint; number: bigint }

function stepwise({ slow, fast, step, number }: Walk): bigint {
  let [x, y] = [slow, fast]
  for (;;) {
    x = step(x)
    y = step(step(y))
    const divisor = common(x > y ? x - y : y - x, number)
    if (divisor > 1n) return divisor
  }
}

function common(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b]
  while (y > 0n) [x, y] = [y, x % y]
  return x
}

export function squareRoot(number: bigint): bigint {
  if (number < 2n) return number
  let root = 1n << BigInt((number.toString(2).length + 1) >> 1)
  for (;;) {
    const next = (root + number / root) >> 1n
    if (next >= root) return root
    root = next
  }
}
