// Quotes values like bash, so that it can read them again.

const CONTROL = /[\p{Cc}\udc80-\udcff]/u
const LETTERS: Readonly<Record<string, string>> = {
  ...{ '\x07': '\\a', '\b': '\\b', '\x1b': '\\E', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\v': '\\v' },
  ...{ '\\': '\\\\', "'": "\\'" },
}

function inDollarQuotes(text: string): string {
  const escaped = text.replace(
    /[\p{Cc}\udc80-\udcff\\']/gu,
    (char) => LETTERS[char] ?? `\\${(char.charCodeAt(0) & 0xff).toString(8).padStart(3, '0')}`,
  )
  return `$'${escaped}'`
}

/** Like `${x@Q}` and `set`. */
export function asWord(text: string): string {
  return CONTROL.test(text) ? inDollarQuotes(text) : `'${text.replaceAll("'", "'\\''")}'`
}

/** Like `declare -p`. */
export function asValue(text: string): string {
  return CONTROL.test(text) ? inDollarQuotes(text) : `"${text.replace(/["\\$`]/g, '\\$&')}"`
}

const KEY_IN_QUOTES = /[ \t\n'"\\|&;()<>!{}*[?\]^$`]|^$|^[#~]|[=:]~|^@$/

export function asKey(key: string): string {
  return KEY_IN_QUOTES.test(key) || CONTROL.test(key) ? asValue(key) : key
}
