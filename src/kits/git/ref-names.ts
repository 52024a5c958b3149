// The valid names of refs.

/** The rules of `git check-ref-format`. */
export function isRefName(name: string): boolean {
  const parts = name.split('/')
  const isBad = (part: string) => part === '' || part.startsWith('.') || part.endsWith('.lock')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be in a name
  return !parts.some(isBad) && !/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\.$/.test(name) && name !== '@'
}
