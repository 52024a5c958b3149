/** Prints one line or several. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

export function heading(text: string): void {
  say(`\n${text}\n${'='.repeat(text.length)}`)
}

/** Prints external text, indented; a long text is shortened with a note. Repeated blank lines become one. */
export function quote(text: string, maxLines = 14): void {
  const whole = text.trimEnd().replace(/\n(?:[ \t]*\n)+/g, '\n\n')
  const lines = whole.split('\n')
  const shown = lines.slice(0, maxLines)
  if (lines.length > maxLines) shown.push(`… ${lines.length - maxLines} more lines`)
  say(shown.map((line) => `    ${line}`.trimEnd()).join('\n'))
}

/** Ends the demo when something that it shows is not so. */
export function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(`expected that ${what}`)
  say(`  ✓ ${what}`)
}
