// `((…))` as a command. The library's lexer splits its text like a command's: `a>=b` becomes a redirection, `x<<=1` a
// here-document, `!x` a command. So before a script is parsed, these characters are replaced by code points that stand
// for no character and that the lexer treats as letters; in the resulting tree they are changed back. Each character is
// one code point before and after, so positions and lines do not change.

import { withBytes } from '../ansi-quotes.ts'
import type { Script } from '../shape.ts'
import { arithmeticCommands } from './double-parentheses.ts'

const SIGNS = ' \t!"#$&\'()*;<=>?[\\]`{|}~'
/** Code points that Unicode reserves for internal use: no exchanged text contains them. */
const FIRST = 0xfdd0
const HAS_VEIL = /[\ufdd0-\ufdef]/
const VEILS = /[\ufdd0-\ufdef]/g

/** The parser must read `!(` as `@(`. */
const NEGATED = `@(${String.fromCharCode(FIRST + SIGNS.length)}`

const VEIL = new Map([...SIGNS].map((sign, i) => [sign, String.fromCharCode(FIRST + i)]))

/**
 * Marks text that the parser would refuse, but bash refuses only at run time: `${x y}` and `$((3.5))`. It stands for
 * nothing.
 */
const MARK = String.fromCharCode(FIRST + SIGNS.length + 1)
const BAD_PARAMETER =
  /\$\{(?!(?:[!#]?(?:[A-Za-z_]\w*|\d+|[@*#?$!-])[:=\-+?#%/^,@~*[}\\]|[#!@*?$-][:=\-+?#%/^,@~}]|[!#]?\w*$))/g
const NUMBERS = /\$\(\((?:[^()\n]|\([^()\n]*\))*\)\)/g
const IS_FRACTION = /(\d)(?=\.\d)/g

/** `${v~}` toggles the case of each letter: the parser must read it as conversion to upper case. */
const TOGGLES = /(\$\{!?(?:[A-Za-z_]\w*(?:\[[^\]\n]{0,200}\])?|[\d@*]+))(~~?)/g
const TOGGLE = String.fromCharCode(FIRST + SIGNS.length + 2)
const TOGGLED_SIGNS = new RegExp(`\\^+${TOGGLE}`, 'g')
/** Marks the pattern of such a conversion. */
export const TOGGLED = '\u{fffff}'
/** For the parser `select` is a loop over words whose variable has a marked name. */
const SELECT_WORD =
  /(^|[\n;&|({]|\b(?:then|do|else)\b|!)([ \t]*)select([ \t]+)(?=[A-Za-z_]\w*(?:[ \t]+in\b|[ \t]*[;\n]))/g
const SELECT = String.fromCharCode(FIRST + SIGNS.length + 3)
const SELECT_LOOP = new RegExp(`for([ \\t]+)${SELECT}`, 'g')
/** Marks the name of such a loop. */
export const SELECTED = '\u{ffffe}'
/** A shift or a comparison in the index of an element, which the parser reads as a redirection. */
const KEYS = /(?<=[(\s]\[)[^\]\n'"$`]{1,200}(?=\]\+?=)/g

/** A file with a name like an assignment (`> a=b`), which the parser does not accept as a word. */
const ASSIGNED_FILES = /((?:<<<|(?<!<)<>?|>[>|]?)[ \t]*)(?=[A-Za-z_]\w*\+?=)/g

/**
 * The words of a loop, up to the first substitution, and those of `case`: there the parser does not accept assignments
 * and braces as words.
 */
const LOOP_WORDS =
  /((?:^|[\n;&|({]|\b(?:then|do|else)\b|!)[ \t]*(?:for|select)[ \t]+[A-Za-z_]\w*\s+in[ \t])((?:[^;\n\\(`]|\\[\s\S])*)/g
const CASE_WORD = /(\bcase[ \t]+)(?=[A-Za-z_]\w*\+?=\S*\s+in\b)/g
const CASE_PATTERNS = /((?:\bin|;;&?|;&)\s+\(?[ \t]*)([^\s()|;]+(?:[ \t]*\|[ \t]*[^\s()|;]+)*)(?=[ \t]*\))/g
const UNLIKE_WORDS = /(?<=^|[ \t|])(?=[A-Za-z_]\w*(?:\[[^\]\n]*\])?\+?=|[{}](?:[ \t]|$))/g

function marked(given: string): string {
  let text = withBytes(given, MARK).replace(ASSIGNED_FILES, `$1${MARK}`)
  const asWords = (_: string, head: string, words: string) => head + words.replace(UNLIKE_WORDS, MARK)
  if (/\b(?:for|select)\b/.test(text)) text = text.replace(LOOP_WORDS, asWords)
  if (/\bcase\b/.test(text)) text = text.replace(CASE_WORD, `$1${MARK}`).replace(CASE_PATTERNS, asWords)
  if (text.includes('select')) text = text.replace(SELECT_WORD, `$1$2for$3${SELECT}`)
  if (text.includes('${')) {
    text = text.replace(BAD_PARAMETER, `$&${MARK}`)
    if (text.includes('~')) {
      text = text.replace(TOGGLES, (_, name: string, signs: string) => name + '^'.repeat(signs.length) + TOGGLE)
    }
  }
  if (text.includes(']=')) text = text.replace(KEYS, (key) => (/[<>&|;()]/.test(key) ? veiledPart(key, false) : key))
  return text.includes('$((') ? text.replace(NUMBERS, (one) => one.replace(IS_FRACTION, `$1${MARK}`)) : text
}

/** The script in the form for the library's parser. */
export function veiled(given: string): string {
  if (HAS_VEIL.test(given)) return given
  const script = marked(given)
  if (!['((', '${', '=(', '!('].some((sign) => script.includes(sign))) return script
  let text = ''
  let at = 0
  for (const { start, end, isLoop, isGroup } of arithmeticCommands(script)) {
    text += script.slice(at, start) + (isGroup ? NEGATED : veiledPart(script.slice(start, end), isLoop))
    at = end
  }
  return text + script.slice(at)
}

/** The parser separates the parts of a loop. */
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

/** Makes the parser treat the characters of pattern groups, and blanks within them, as letters. */
export const withoutSigns = (text: string): string => text.replace(/[\s!()|&;<>]/g, (sign) => VEIL.get(sign) ?? sign)

/** For texts from the parser. */
export function unveiled(text: string): string {
  if (!HAS_VEIL.test(text)) return text
  const shown = text
    .replace(TOGGLED_SIGNS, (signs) => '~'.repeat(signs.length - 1))
    .replace(SELECT_LOOP, 'select$1')
    .replaceAll(TOGGLE, TOGGLED)
    .replaceAll(SELECT, SELECTED)
  return shown
    .replaceAll(NEGATED, '!(')
    .replaceAll(MARK, '')
    .replace(VEILS, (veil) => SIGNS[veil.charCodeAt(0) - FIRST] ?? veil)
}

/** Restores the original characters in a tree of the parser. */
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
