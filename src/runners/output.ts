// Output of real programs as people and models read it.

/** Sequences of a terminal: colours, cursor movements, titles. ESC [ … , ESC ] … BEL, ESC P … ESC \ and ESC with one character. */
const [ESC, BEL] = ['\\u001b', '\\u0007']
const ESCAPES = new RegExp(
  `${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)?|[PX^_][^${ESC}]*(?:${ESC}\\\\)?|[ -/]*[0-~])`,
  'g',
)

/** Without the sequences of a terminal, and of a line that was written over again and again only its last state. */
export function plainOutput(text: string): string {
  return text
    .replace(ESCAPES, '')
    .replace(/\r+\n/g, '\n')
    .split('\n')
    .map((line) => (line.includes('\r') ? lastState(line) : line))
    .join('\n')
}

/** What a terminal shows of a line with carriage returns: what was written later stands over what was there. */
function lastState(line: string): string {
  let shown = ''
  for (const part of line.split('\r')) shown = part + shown.slice(part.length)
  return shown
}

export const gapNote = (bytes: number): string => `\n[... ${bytes} bytes of output were not kept ...]\n`
