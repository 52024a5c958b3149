// `nl`: numbers lines, page by page.

import { bytesOf, linesOf } from './bytes.ts'
import type { TextCall } from './call.ts'
import { curly, Misuse, refusal } from './misuse.ts'
import { type GivenOptions, optionTable, readOptions } from './options.ts'

const OPTIONS = optionTable(`body-numbering=b: section-delimiter=d: footer-numbering=f: header-numbering=h:
  line-increment=i: join-blank-lines=l: number-format=n: no-renumber=p number-separator=s: starting-line-number=v:
  number-width=w:`)

type Section = 'header' | 'body' | 'footer'
type Style = 'a' | 't' | 'n'

export async function nl(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const numbering = new Numbering(given)
  for (const name of given.operands.length > 0 ? given.operands : ['-']) {
    const bytes = await call.input(name)
    if (bytes === null) continue
    const lines = linesOf(bytes).map((line) => numbering.numbered(line))
    if (lines.length > 0) call.write(`${lines.join('\n')}\n`)
    await call.pause()
  }
}

class Numbering {
  readonly #styles: Record<Section, Style>
  readonly #marks: ReadonlyMap<string, Section>
  readonly #start: number
  readonly #step: number
  readonly #blanksJoined: number
  readonly #width: number
  readonly #separator: string
  readonly #format: string
  readonly #keepsCounting: boolean
  #section: Section = 'body'
  #next: number
  #blanks = 0

  constructor(given: GivenOptions) {
    this.#styles = {
      header: styleOf(given, 'h', 'n'),
      body: styleOf(given, 'b', 't'),
      footer: styleOf(given, 'f', 'n'),
    }
    const mark = markOf(given.value('d'))
    this.#marks = new Map([
      [mark.repeat(3), 'header'],
      [mark.repeat(2), 'body'],
      [mark, 'footer'],
    ])
    this.#start = numberOf(given, 'v', 'starting line number') ?? 1
    this.#step = numberOf(given, 'i', 'line number increment') ?? 1
    this.#blanksJoined = numberOf(given, 'l', 'line number of blank lines') ?? 1
    if (this.#blanksJoined <= 0) {
      const text = curly(given.value('l') ?? '')
      throw refusal(`invalid line number of blank lines: ${text}: Numerical result out of range`)
    }
    this.#width = numberOf(given, 'w', 'line number field width') ?? 6
    if (this.#width <= 0)
      throw refusal(`invalid line number field width: ${curly(given.value('w') ?? '')}: Numerical result out of range`)
    this.#separator = bytesOf(given.value('s') ?? '\t')
    this.#format = given.value('n') ?? 'rn'
    if (!['ln', 'rn', 'rz'].includes(this.#format))
      throw new Misuse(`invalid line numbering format: ${curly(this.#format)}`)
    this.#keepsCounting = given.has('p')
    this.#next = this.#start
  }

  numbered(line: string): string {
    const section = this.#marks.get(line)
    if (section !== undefined) {
      if (!this.#keepsCounting) this.#next = this.#start
      this.#section = section
      return ''
    }
    if (!this.#isCounted(line)) return ' '.repeat(this.#width + this.#separator.length) + line
    const number = this.#next
    this.#next += this.#step
    return this.#shown(number) + this.#separator + line
  }

  #isCounted(line: string): boolean {
    const style = this.#styles[this.#section]
    if (style === 'n') return false
    if (line !== '') {
      this.#blanks = 0
      return true
    }
    if (style === 't') return false
    this.#blanks++
    if (this.#blanks < this.#blanksJoined) return false
    this.#blanks = 0
    return true
  }

  #shown(number: number): string {
    if (this.#format === 'ln') return String(number).padEnd(this.#width)
    if (this.#format === 'rn') return String(number).padStart(this.#width)
    const digits = String(Math.abs(number))
    return number < 0 ? `-${digits.padStart(this.#width - 1, '0')}` : digits.padStart(this.#width, '0')
  }
}

function styleOf(given: GivenOptions, section: string, usual: Style): Style {
  const style = given.value(section) ?? usual
  if (style === 'a' || style === 't' || style === 'n') return style
  const name = { h: 'header', b: 'body', f: 'footer' }[section] ?? section
  if (style.startsWith('p')) throw refusal(`${name} numbering by a pattern (${curly(style)}) is not available here`)
  throw new Misuse(`invalid ${name} numbering style: ${curly(style)}`)
}

function markOf(given: string | undefined): string {
  if (given === undefined) return '\\:'
  return bytesOf(given.length === 1 ? `${given}:` : given)
}

function numberOf(given: GivenOptions, letter: string, what: string): number | undefined {
  const text = given.value(letter)
  if (text === undefined) return undefined
  if (!/^[-+]?\d{1,15}$/.test(text)) throw refusal(`invalid ${what}: ${curly(text)}`)
  return Number(text)
}
