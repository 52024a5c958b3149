// The options of `xxd`, which are words after one dash: `-p`, `-ps` and `-plain` are the same.

import { curly, Misuse } from '../misuse.ts'

export interface XxdSettings {
  kind: 'hex' | 'bits' | 'little' | 'plain' | 'include'
  isReverse: boolean
  skipsZeros: boolean
  isUpper: boolean
  isDecimal: boolean
  isCapital: boolean
  columns: number | null
  group: number | null
  length: number | null
  seek: { from: 'start' | 'end'; count: number } | null
  offset: number
  name: string | null
  input: string
  output: string | null
}

const FLAGS: readonly (readonly [RegExp, (settings: XxdSettings) => void])[] = [
  [
    /^a/,
    (settings) => {
      settings.skipsZeros = true
    },
  ],
  [
    /^b/,
    (settings) => {
      settings.kind = 'bits'
    },
  ],
  [
    /^e/,
    (settings) => {
      settings.kind = 'little'
    },
  ],
  [
    /^u/,
    (settings) => {
      settings.isUpper = true
    },
  ],
  [
    /^p/,
    (settings) => {
      settings.kind = 'plain'
    },
  ],
  [
    /^i/,
    (settings) => {
      settings.kind = 'include'
    },
  ],
  [
    /^C/,
    (settings) => {
      settings.isCapital = true
    },
  ],
  [
    /^d/,
    (settings) => {
      settings.isDecimal = true
    },
  ],
  [
    /^r/,
    (settings) => {
      settings.isReverse = true
    },
  ],
]

const VALUED: readonly (readonly [RegExp, string])[] = [
  [/^(?:cols?|c)/, 'columns'],
  [/^(?:groupsize|group|g)/, 'group'],
  [/^(?:name|n)/, 'name'],
  [/^(?:offset|o)/, 'offset'],
  [/^(?:skip|seek|s)/, 'seek'],
  [/^(?:len|l)/, 'length'],
]

const DEFAULTS: Readonly<XxdSettings> = {
  kind: 'hex',
  isReverse: false,
  skipsZeros: false,
  isUpper: false,
  isDecimal: false,
  isCapital: false,
  columns: null,
  group: null,
  length: null,
  seek: null,
  offset: 0,
  name: null,
  input: '-',
  output: null,
}

export function xxdSettings(args: readonly string[]): XxdSettings {
  const settings: XxdSettings = { ...DEFAULTS }
  let at = 0
  for (; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') {
      at++
      break
    }
    if (!/^-./.test(arg)) break
    const word = arg.replace(/^--?/, '')
    const valued = VALUED.find(([pattern]) => pattern.test(word))
    if (valued && word !== 'ps') {
      const inline = word.replace(valued[0], '')
      const value = inline === '' ? args[++at] : inline
      if (value === undefined) throw new Misuse(`option ${curly(arg)} needs a value`, { showsHint: false })
      setValue(settings, valued[1], value)
      continue
    }
    const flag = FLAGS.find(([pattern]) => pattern.test(word))
    if (!flag) throw new Misuse(`option ${arg} is not available here`, { showsHint: false })
    flag[1](settings)
  }
  const [input = '-', output = null, extra] = args.slice(at)
  if (extra !== undefined) throw new Misuse(`too many files: ${curly(extra)}`, { showsHint: false })
  return { ...settings, input, output }
}

function setValue(settings: XxdSettings, name: string, value: string): void {
  if (name === 'name') {
    settings.name = value
    return
  }
  const [, sign = '', digits = ''] = /^([-+]*)(.*)$/.exec(value) ?? []
  const count = leadingNumber(digits)
  if (name === 'seek') settings.seek = { from: sign.includes('-') ? 'end' : 'start', count }
  else if (name === 'columns') settings.columns = count || null
  else if (name === 'group') settings.group = count
  else if (name === 'length') settings.length = count
  else settings.offset = sign.includes('-') ? -count : count
}

/** Like C's `strtol` with base 0: text after the digits is ignored, and without digits it is 0. */
function leadingNumber(text: string): number {
  const [, hex, octal, decimal] = /^(?:0x([\da-f]+)|0([0-7]*)|(\d+))/i.exec(text) ?? []
  if (hex !== undefined) return Number.parseInt(hex, 16)
  return octal === undefined ? Number(decimal ?? 0) : Number.parseInt(octal || '0', 8)
}
