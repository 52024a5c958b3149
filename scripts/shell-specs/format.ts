// The format of the spec files: `#### name` begins a case, lines that begin with `## ` give the expected result. Expectations that only
// apply to other shells are ignored; if bash has its own expectation, both that and the general one are accepted.

export interface SpecCase {
  name: string
  script: string
  /** Each is right; none when nothing is said. */
  outputs: string[]
  statuses: number[]
  /** By those who run the files with the interpreter. */
  isSkipped: boolean
}

type Open = SpecCase & { lines: string[] }

const VARIANT = /^(?:OK|N-I|BUG)(?:-\d+)?\s+(\S+)\s+(.+)$/

export function casesOf(text: string): SpecCase[] {
  const cases: Open[] = []
  let block: string[] | null = null
  for (const line of text.split('\n')) {
    const current = cases.at(-1)
    const expected = /^## (.*)$/.exec(line)?.[1]
    if (line.startsWith('#### ')) {
      block = null
      cases.push({ name: line.slice(5).trim(), script: '', outputs: [], statuses: [], isSkipped: false, lines: [] })
    } else if (expected !== undefined && current) {
      if (block) closeBlock(current, block)
      block = expect(current, expected)
    } else if (block) block.push(line)
    else current?.lines.push(line)
  }
  return cases
    .map(({ lines, ...rest }) => ({ ...rest, script: rest.script || lines.join('\n').trim() }))
    .filter(({ script }) => script !== '')
}

/** Of which output a block is stands in its first line. */
function closeBlock(current: SpecCase, [kind = '', ...lines]: string[]): void {
  if (kind === 'STDOUT') current.outputs.push(lines.join('\n'))
}

/** The block that the line opens, or null. */
function expect(current: SpecCase, line: string): string[] | null {
  const [, shells, rest] = VARIANT.exec(line) ?? []
  if (shells !== undefined && !shells.split('/').some((shell) => /^(just-)?bash/.test(shell))) {
    return /^STD(OUT|ERR):/.test(rest ?? '') ? ['other'] : null
  }
  const text = rest ?? line
  const opened = /^(STDOUT|STDERR):\s*$/.exec(text)?.[1]
  if (opened !== undefined) return [opened]
  const [, key = '', value = ''] = /^([\w-]+)(?: *\([^)]*\))?(?::\s*(.*))?$/.exec(text) ?? []
  if (key === 'stdout') current.outputs.push(value)
  else if (key === 'stdout-json') current.outputs.push(String(JSON.parse(value)))
  else if (key === 'status') current.statuses.push(Number(value))
  else if (key === 'code') current.script = value
  else if (key === 'SKIP') current.isSkipped = true
  return null
}
