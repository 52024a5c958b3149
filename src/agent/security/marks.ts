// A word of a script is a text with marks for what is not known before it runs. The marks are characters of the private
// use area, so that a text with marks can be parsed again as the text of a nested shell and keeps them. A script that
// holds such characters itself is judged as if something unknown stood there.

export const MARK = {
  /** A variable, or anything else whose value is not in the script. */
  unknown: '\uE000',
  /** The output of a command. */
  made: '\uE001',
  /** `*` that the shell expands. */
  star: '\uE002',
  /** `?` or `[…]` that the shell expands. */
  one: '\uE003',
  /** `<(…)` or `>(…)`: the name of a pipe. */
  pipe: '\uE004',
} as const

const ANY_MARK = /[\uE000-\uE004]/
const VALUE = /[\uE000\uE001\uE004]/
const ONLY_VALUES = /^[\uE000\uE001\uE004]+$/
const GLOB = /[\uE002\uE003]/

/** Something in it is known only when the script runs. */
export const isUnknown = (text: string): boolean => ANY_MARK.test(text)
/** It holds the value of a variable or the output of a command; a pattern for file names is not that. */
export const holdsValue = (text: string): boolean => VALUE.test(text)
/** Nothing of it is known. */
export const isAllUnknown = (text: string): boolean => ONLY_VALUES.test(text)
export const isGlob = (text: string): boolean => GLOB.test(text)
export const holdsOutput = (text: string): boolean => text.includes(MARK.made) || text.includes(MARK.pipe)

const MAX_PATTERN = 200

/** Whether the shell may expand the pattern to this name. Something must be left of the name that the pattern says itself. */
export function mayBecome(pattern: string, name: string): boolean {
  if (!isGlob(pattern) || holdsValue(pattern) || pattern.length > MAX_PATTERN) return false
  const said = pattern.replace(/[^A-Za-z0-9]/g, '')
  return said.length >= 1 && matches(pattern, name)
}

/** By the classic walk with one point to go back to, so that no pattern takes more than a square of its length. */
function matches(pattern: string, name: string): boolean {
  let [at, star, from] = [0, -1, 0]
  for (let i = 0; i < name.length; ) {
    const char = pattern[at]
    if (char === MARK.star) {
      star = at++
      from = i
    } else if (char === MARK.one || char === name[i]) {
      at++
      i++
    } else if (star >= 0) {
      at = star + 1
      i = ++from
    } else return false
  }
  while (pattern[at] === MARK.star) at++
  return at === pattern.length
}
