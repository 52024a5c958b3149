// `csplit`: splits a file at matching lines.

import type { PosixRegex } from '../../../posix-regex/posix-regex.ts'
import { RegexError } from '../../../posix-regex/syntax.ts'
import { basicRegex } from '../basic-regex.ts'
import { bytesOf, textOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { curly, Misuse, refusal } from '../misuse.ts'
import { type GivenOptions, optionTable, readOptions } from '../options.ts'

const OPTIONS = optionTable(`suffix-format=b: prefix=f: keep-files=k suppress-matched digits=n: quiet=s silent=s
  elide-empty-files=z`)

type Pattern =
  | { kind: 'line'; text: string; line: number; times: number }
  | { kind: 'match'; text: string; regex: PosixRegex; offset: number; isKept: boolean; times: number }

export async function csplit(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const [input, ...words] = given.operands
  if (input === undefined) throw new Misuse('missing operand')
  if (words.length === 0) throw new Misuse(`missing operand after ${curly(input)}`)
  const bytes = await call.mustRead(input, (reason) => `cannot open '${input}' for reading: ${reason}`)
  const patterns = patternsOf(words)
  const splitter = new Splitter(call, given, bytes.match(/[^\n]*\n|[^\n]+$/g) ?? [])
  try {
    patterns.every((pattern) => splitter.apply(pattern))
    splitter.finish()
  } catch (error) {
    await splitter.save()
    if (!given.has('k')) await splitter.remove()
    throw error
  }
  await splitter.save()
}

function patternsOf(words: readonly string[]): Pattern[] {
  const patterns: Pattern[] = []
  for (const word of words) {
    const [, times] = /^\{(\d+|\*)\}$/.exec(word) ?? []
    const last = patterns.at(-1)
    if (times !== undefined && last) {
      last.times = times === '*' ? Infinity : Number(times)
      continue
    }
    const [, mark, source = '', offset = ''] = /^([/%])(.*)\1([-+]?\d+)?$/s.exec(word) ?? []
    if (mark !== undefined) {
      const regex = regexOf(source, word)
      patterns.push({ kind: 'match', text: word, regex, offset: Number(offset || 0), isKept: mark === '/', times: 0 })
    } else if (/^\d+$/.test(word)) {
      if (Number(word) === 0) throw refusal(`${word}: line number must be greater than zero`)
      const before = patterns.findLast((one) => one.kind === 'line')?.text ?? '0'
      if (Number(word) < Number(before)) {
        throw refusal(`line number ${curly(word)} is smaller than preceding line number, ${before}`)
      }
      patterns.push({ kind: 'line', text: word, line: Number(word), times: 0 })
    } else if (/^[/%]/.test(word)) throw refusal(`${word}: closing delimiter '${word.charAt(0)}' missing`)
    else throw refusal(`${curly(word)}: invalid pattern`)
  }
  return patterns
}

function regexOf(source: string, word: string): PosixRegex {
  try {
    return basicRegex(source)
  } catch (error) {
    if (error instanceof RegexError) throw refusal(`${curly(word)}: invalid regular expression: ${error.message}`)
    throw error
  }
}

class Splitter {
  readonly parts: string[] = []
  readonly #call: TextCall
  readonly #given: GivenOptions
  readonly #lines: readonly string[]
  #at = 0
  #hasMatched = false

  constructor(call: TextCall, given: GivenOptions, lines: readonly string[]) {
    this.#call = call
    this.#given = given
    this.#lines = lines
  }

  /** False if the pattern has used all the input, so that no further one is tried. */
  apply(pattern: Pattern): boolean {
    for (let time = 0; time <= pattern.times; time++) {
      if (pattern.kind === 'line') this.#toLine(pattern, time)
      else if (!this.#toMatch(pattern, time)) return false
    }
    return true
  }

  #toLine({ text, line }: Pattern & { kind: 'line' }, time: number): void {
    const end = line * (time + 1) - 1
    if (end >= this.#lines.length) {
      this.parts.push(this.#text(this.#at, this.#lines.length))
      this.#at = this.#lines.length
      throw refusal(`${curly(text)}: line number out of range${time > 0 ? ` on repetition ${time}` : ''}`)
    }
    if (end < this.#at) throw refusal(`${curly(text)}: line number out of range`)
    this.#cut(end, true)
  }

  /** False if the pattern is repeated as often as possible, and does not match any more. */
  #toMatch({ text, regex, offset, isKept, times }: Pattern & { kind: 'match' }, time: number): boolean {
    // A part that starts with a match continues until the next one.
    const from = this.#at + (time > 0 || this.parts.length > 0 || this.#hasMatched ? 1 : 0)
    let found = -1
    for (let i = from; i < this.#lines.length && found < 0; i++) {
      if (regex.test(textOf((this.#lines[i] ?? '').replace(/\n$/, '')))) found = i
    }
    if (found < 0) {
      if (times === Infinity) return false
      if (isKept) this.parts.push(this.#text(this.#at, this.#lines.length))
      this.#at = this.#lines.length
      throw refusal(`${curly(text)}: match not found${time > 0 ? ` on repetition ${time}` : ''}`)
    }
    const end = found + offset
    if (end < this.#at || end > this.#lines.length) throw refusal(`${curly(text)}: line number out of range`)
    this.#hasMatched = true
    this.#cut(end, isKept)
    return true
  }

  #cut(end: number, isKept: boolean): void {
    if (isKept) this.parts.push(this.#text(this.#at, end))
    this.#at = end + (this.#given.has('suppress-matched') ? 1 : 0)
  }

  finish(): void {
    this.parts.push(this.#text(this.#at, this.#lines.length))
    this.#at = this.#lines.length
  }

  #text(from: number, to: number): string {
    return this.#lines.slice(from, to).join('')
  }

  /** After a failure all parts are removed. */
  async remove(): Promise<void> {
    const prefix = this.#given.value('f') ?? 'xx'
    const name = naming(this.#given)
    for (const i of this.parts.keys())
      await this.#call.context.fs.rm(this.#call.path(prefix + name(i)), { force: true })
  }

  async save(): Promise<void> {
    const prefix = this.#given.value('f') ?? 'xx'
    const name = naming(this.#given)
    const kept = this.#given.has('z') ? this.parts.filter((part) => part !== '') : this.parts
    for (const [i, part] of kept.entries()) {
      await this.#call.save(prefix + name(i), part)
      if (!this.#given.has('s')) this.#call.write(bytesOf(`${part.length}\n`))
    }
  }
}

function naming(given: GivenOptions): (part: number) => string {
  const format = given.value('b')
  const text = given.value('n') ?? '2'
  if (!/^\d{1,9}$/.test(text)) throw refusal(`invalid number: ${curly(text)}`)
  const digits = Number(text)
  if (format === undefined) return (part) => String(part).padStart(digits, '0')
  const [, before = '', flags = '', width = '', letter, after = ''] =
    /^((?:[^%]|%%)*)%([-0]*)(\d*)([diuxXo])((?:[^%]|%%)*)$/.exec(format) ?? []
  if (letter === undefined) throw refusal(`missing % conversion specification in suffix`)
  const radix = letter === 'o' ? 8 : letter.toLowerCase() === 'x' ? 16 : 10
  return (part) => {
    const text = part.toString(radix)
    const shown = flags.includes('-')
      ? text.padEnd(Number(width || 0))
      : text.padStart(Number(width || 0), flags.includes('0') ? '0' : ' ')
    return before.replaceAll('%%', '%') + (letter === 'X' ? shown.toUpperCase() : shown) + after.replaceAll('%%', '%')
  }
}
