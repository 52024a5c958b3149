// Whether a text is one command, as a terminal would read it: whatever stands on one line, with everything that belongs
// to it on further lines (a loop's body, a here-document, a quoted text).

/** Line ends that are looked at; a longer text that is still undecided then is taken for one command. */
const MAX_LINE_ENDS = 64

/** Also true for a text that does not parse: the shell says best what is wrong with it. */
export async function isOneCommand(text: string): Promise<boolean> {
  if (!text.trim().includes('\n')) return true
  const { Bash } = await import('../lazy/just-bash.ts')
  const shell = new Bash({ defenseInDepth: false })
  const statementsIn = (part: string): number | null => {
    try {
      return shell.transform(part).ast.statements.length
    } catch {
      // The parser throws for a text that ends too early, which is what is asked here.
      return null
    }
  }
  const whole = statementsIn(text)
  if (whole === null || whole < 2) return true
  let seen = 0
  for (let at = text.indexOf('\n'); at >= 0 && seen < MAX_LINE_ENDS; at = text.indexOf('\n', at + 1), seen++) {
    const before = statementsIn(text.slice(0, at))
    if (before === null || before === 0 || before === whole) continue
    if (statementsIn(text.slice(at + 1)) === whole - before) return false
  }
  return true
}
