// `paste`: joins lines of several files side by side, or all lines of one file.

import { bytesOf, linesOf } from './bytes.ts'
import type { TextCall } from './call.ts'
import { refusal } from './misuse.ts'
import { optionTable, readOptions } from './options.ts'

const OPTIONS = optionTable('delimiters=d: serial=s zero-terminated=z')

export async function paste(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const end = given.has('z') ? '\0' : '\n'
  const delimiters = delimitersOf(given.value('d') ?? '\t')
  const names = given.operands.length > 0 ? given.operands : ['-']
  const between = (i: number) => delimiters[i % delimiters.length] ?? ''
  if (given.has('s')) {
    for (const [at, name] of names.entries()) {
      const bytes = await call.input(name)
      if (bytes === null) continue
      // The first of several operands for the standard input gets all of it.
      const lines = name === '-' && names.indexOf(name) !== at ? [] : linesOf(bytes, end)
      call.write(lines.map((line, i) => (i === 0 ? line : between(i - 1) + line)).join('') + end)
    }
    return
  }
  await pasteParallel(call, { names, between, end })
}

type Parallel = { names: string[]; between: (i: number) => string; end: string }

/** If the standard input is given several times, its lines are distributed in turn. */
async function pasteParallel(call: TextCall, { names, between, end }: Parallel): Promise<void> {
  const columns: Lines[] = []
  let shared: Lines | null = null
  for (const name of names) {
    if (name === '-') {
      shared ??= new Lines(linesOf(call.stdin, end))
      columns.push(shared)
      continue
    }
    columns.push(new Lines(linesOf(await call.mustRead(name), end)))
  }
  const rows: string[] = []
  while (columns.some((column) => column.hasMore)) {
    let row = ''
    let isAny = false
    for (const [i, column] of columns.entries()) {
      if (column.hasMore) isAny = true
      row += (i === 0 ? '' : between(i - 1)) + column.next()
    }
    if (isAny) rows.push(row)
  }
  if (rows.length > 0) call.write(rows.join(end) + end)
}

class Lines {
  readonly #lines: string[]
  #at = 0

  constructor(lines: string[]) {
    this.#lines = lines
  }

  get hasMore(): boolean {
    return this.#at < this.#lines.length
  }

  next(): string {
    return this.#lines[this.#at++] ?? ''
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '0': '',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** One for each gap, in turn; `\0` is an empty one. */
function delimitersOf(list: string): string[] {
  if (/(?:^|[^\\])(?:\\\\)*\\$/.test(list)) throw refusal(`delimiter list ends with an unescaped backslash: ${list}`)
  const found: string[] = []
  for (const [, escaped, plain] of bytesOf(list).matchAll(/\\([\s\S])|([\s\S])/g)) {
    found.push(escaped === undefined ? (plain ?? '') : (ESCAPES[escaped] ?? escaped))
  }
  return found.length > 0 ? found : ['']
}
