// `((…))` as a command. The library's lexer parts its text as if it were a command's: `a>=b` becomes a redirection, `x<<=1` a
// here-document, `!x` a command. So the signs within are changed, before a script is parsed, to code points that stand for no
// character and that the lexer takes for letters; in the tree that comes out they are changed back. Each sign is one code
// point before and after, so places and lines stay what they are.

import type { Script } from '../shape.ts'
import { arithmeticCommands } from './double-parentheses.ts'

const SIGNS = ' \t!"#$&\'()*;<=>?[\\]`{|}~'
/** Code points that Unicode has set aside for uses like this: no text that is exchanged holds them. */
const FIRST = 0xfdd0
const HAS_VEIL = /[\ufdd0-\ufdef]/
const VEILS = /[\ufdd0-\ufdef]/g

/** Of `!(` the parser is to think that it is `@(`. */
const NEGATED = `@(${String.fromCharCode(FIRST + SIGNS.length)}`

const VEIL = new Map([...SIGNS].map((sign, i) => [sign, String.fromCharCode(FIRST + i)]))

/** The script as the library's parser is to read it. */
export function veiled(script: string): string {
  if (!['((', '${', '=(', '!('].some((sign) => script.includes(sign)) || HAS_VEIL.test(script)) return script
  let text = ''
  let at = 0
  for (const { start, end, isLoop, isGroup } of arithmeticCommands(script)) {
    text += script.slice(at, start) + (isGroup ? NEGATED : veiledPart(script.slice(start, end), isLoop))
    at = end
  }
  return text + script.slice(at)
}

/** The parts of a loop are told apart by the parser. */
function veiledPart(text: string, isLoop: boolean): string {
  let depth = 0
  let veil = ''
  for (const sign of text) {
    if (sign === '(') depth++
    else if (sign === ')') depth--
    veil += isLoop && sign === ';' && depth === 0 ? sign : (VEIL.get(sign) ?? sign)
  }
  return veil
}

/** So that the parser takes the signs of groups of patterns, and blanks within them, for letters. */
export const withoutSigns = (text: string): string => text.replace(/[\s!()|&;<>]/g, (sign) => VEIL.get(sign) ?? sign)

/** For texts that come from the parser. */
export function unveiled(text: string): string {
  if (!HAS_VEIL.test(text)) return text
  return text.replaceAll(NEGATED, '!(').replace(VEILS, (veil) => SIGNS[veil.charCodeAt(0) - FIRST] ?? veil)
}

/** Changes a tree of the parser's back. */
export function unveil(root: Script): void {
  if (root.statements.every(({ sourceText }) => sourceText !== undefined && !HAS_VEIL.test(sourceText))) return
  const open: object[] = [root]
  const seen = new Set<object>()
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen.has(node)) continue
    seen.add(node)
    for (const [field, value] of Object.entries(node)) {
      if (typeof value === 'string') {
        if (HAS_VEIL.test(value)) Object.assign(node, { [field]: unveiled(value) })
      } else if (typeof value === 'object' && value !== null) open.push(value)
    }
  }
}
