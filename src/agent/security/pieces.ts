// A text that is no script as a whole may hold commands all the same: the interpreter reads less than a shell on a machine
// does, which runs line by line until it comes to a mistake. So the text is cut wherever a command may begin.

const SEPARATOR = /&&|\|\||;;&?|;&|[;\n&|(){}`]/
const LEADING = /^\s*(?:(?:then|do|else|elif|if|while|until|in|time|!|coproc(?:\s+[A-Z]\w*(?=\s|$))?|\$)(?=\s|$)\s*)+/

export function piecesOf(script: string): string[] {
  const text = script.replaceAll('\\\n', '')
  const whole = text
    .replace(/\bselect(?=\s+\w+(\s+in\b|\s*;))/g, 'for')
    .replace(/\bcoproc\s+([A-Za-z_]\w*\s+(?=[({]))?/g, '')
  const pieces = text.split(SEPARATOR).map((piece) => piece.replace(LEADING, ''))
  return [whole, ...text.split('\n'), ...pieces].filter((piece) => piece.trim() !== '')
}
