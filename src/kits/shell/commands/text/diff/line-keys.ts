// The part of a line that `diff` compares.

export interface Ignored {
  case: boolean
  allSpace: boolean
  spaceChange: boolean
  trailingSpace: boolean
  tabExpansion: boolean
}

const TAB = 8

/** The compared form of a line; its line end counts only if no whitespace is ignored. */
export function keyFor(ignored: Ignored): (line: string) => string {
  const { allSpace, spaceChange, trailingSpace, tabExpansion } = ignored
  if (!Object.values(ignored).some(Boolean)) return (line) => line
  return (line) => {
    const folded = ignored.case ? line.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : line
    if (allSpace) return folded.replace(/[ \t\n\v\f\r]+/g, '')
    if (spaceChange) return folded.replace(/[ \t\n\v\f\r]+$/, '').replace(/[ \t\v\f\r]+/g, ' ')
    const expanded = tabExpansion ? withoutTabs(folded) : folded
    return trailingSpace ? expanded.replace(/[ \t\n\v\f\r]+$/, '') : expanded
  }
}

function withoutTabs(line: string): string {
  if (!line.includes('\t')) return line
  let shown = ''
  for (const part of line.split(/(\t)/)) shown += part === '\t' ? ' '.repeat(TAB - (shown.length % TAB)) : part
  return shown
}

/** Whether `-B` ignores the line. */
export function blankTest({ allSpace, spaceChange, trailingSpace }: Ignored): (line: string) => boolean {
  return allSpace || spaceChange || trailingSpace
    ? (line) => /^[ \t\v\f\r]*\n?$/.test(line)
    : (line) => line === '\n' || line === ''
}
