// `cat`, and pagers, which do the same without a terminal.

import { shellMessage } from '../../interpreter-command.ts'
import type { TextCall } from './call.ts'
import { optionTable, readOptions } from './options.ts'

const OPTIONS = optionTable(`show-all=A number-nonblank=b e show-ends=E number=n squeeze-blank=s t show-tabs=T u
  show-nonprinting=v`)

const NUMBER_WIDTH = 6

interface Showing {
  numbers: 'all' | 'filled' | null
  squeezes: boolean
  ends: boolean
  tabs: boolean
  controls: boolean
}

export async function cat(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const any = (...names: string[]) => names.some((name) => given.has(name))
  const showing: Showing = {
    numbers: any('b') ? 'filled' : any('n') ? 'all' : null,
    squeezes: any('s'),
    ends: any('A', 'e', 'E'),
    tabs: any('A', 't', 'T'),
    controls: any('A', 'e', 't', 'v'),
  }
  const isPlain = !showing.numbers && !showing.squeezes && !showing.ends && !showing.tabs && !showing.controls
  const printer = new Printer(showing)
  for (const name of given.operands.length > 0 ? given.operands : ['-']) {
    try {
      const bytes = await call.read(name)
      call.write(isPlain ? bytes : printer.print(bytes))
    } catch (error) {
      call.complain(`${name}: ${shellMessage(error)}`)
    }
    await call.pause()
  }
}

/** Options of a pager concern the terminal. */
export async function pager(call: TextCall): Promise<void> {
  const names = call.args.filter((arg) => !/^[-+]./.test(arg))
  for (const name of names.length > 0 ? names : ['-']) {
    const bytes = await call.input(name)
    if (bytes !== null) call.write(bytes)
  }
}

/** Lines are counted across files: an incomplete last line is continued by the next file. */
class Printer {
  readonly #showing: Showing
  #number = 0
  #blanks = 0
  #isInLine = false

  constructor(showing: Showing) {
    this.#showing = showing
  }

  print(bytes: string): string {
    const { numbers, squeezes, ends } = this.#showing
    let shown = ''
    for (let at = 0; at < bytes.length; ) {
      const next = bytes.indexOf('\n', at)
      const line = next < 0 ? bytes.slice(at) : bytes.slice(at, next)
      at = next < 0 ? bytes.length : next + 1
      const isBlank = line === '' && !this.#isInLine
      this.#blanks = isBlank ? this.#blanks + 1 : 0
      if (squeezes && this.#blanks > 1) continue
      if (numbers && !this.#isInLine && !(numbers === 'filled' && isBlank)) {
        shown += `${String(++this.#number).padStart(NUMBER_WIDTH)}\t`
      }
      shown += this.#visible(line, next >= 0)
      this.#isInLine = next < 0
      if (next >= 0) shown += ends ? '$\n' : '\n'
    }
    return shown
  }

  #visible(line: string, isWhole: boolean): string {
    const { tabs, controls, ends } = this.#showing
    let shown = line
    if (controls) shown = shown.replace(UNSEEN, caret)
    else if (ends && isWhole && shown.endsWith('\r')) shown = `${shown.slice(0, -1)}^M`
    return tabs ? shown.replaceAll('\t', '^I') : shown
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are made visible
const UNSEEN = /[\0-\x08\x0b-\x1f\x7f-\xff]/g

/** `^M` for a control character, `M-` before a byte above ASCII. */
function caret(byte: string): string {
  const code = byte.charCodeAt(0)
  if (code >= 128)
    return `M-${code - 128 < 32 || code === 255 ? caret(String.fromCharCode(code - 128)) : String.fromCharCode(code - 128)}`
  return code === 127 ? '^?' : `^${String.fromCharCode(code + 64)}`
}
