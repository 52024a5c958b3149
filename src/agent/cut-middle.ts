// Long texts keep their beginning and their end: the middle of an output is the least useful part.

/** The longest observation that is stored and shown to a model, in characters. */
export const MAX_OBSERVATION_CHARS = 30_000

/** The longest line that says what is left out, in characters. */
const MARKER_ROOM = 60

/** Never longer than the limit; beyond it a line says how much is left out. Cuts at the end of a line where one is near. */
export function cutMiddle(text: string, maxChars = MAX_OBSERVATION_CHARS): string {
  if (text.length <= maxChars) return text
  const room = Math.max(0, maxChars - MARKER_ROOM)
  const headRoom = Math.ceil(room / 2)
  const lineEnd = text.lastIndexOf('\n', headRoom)
  const head = text.slice(0, lineEnd > headRoom / 2 ? lineEnd : headRoom)
  const tailFrom = text.length - (room - headRoom)
  const lineStart = text.indexOf('\n', tailFrom) + 1
  const tail = text.slice(lineStart > 0 && lineStart - tailFrom < headRoom / 2 ? lineStart : tailFrom)
  const leftOut = text.length - head.length - tail.length
  return `${head}\n[... ${leftOut} characters left out ...]\n${tail}`.toWellFormed()
}
