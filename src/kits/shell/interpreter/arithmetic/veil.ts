// `((…))` as a command. The library's lexer parts its text as if it were a command's: `a>=b` becomes a redirection, `x<<=1` a
// here-document, `!x` a command. So the signs within are changed, before a script is parsed, to code points that stand for no
// character and that the lexer takes for letters; in the tree that comes out they are changed back. Each sign is one code
// point before and after, so places and lines stay what they are.

import { withBytes } from '../ansi-quotes.ts'
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

/** In front of what the parser would refuse, and bash refuses when it comes to run it: `${x y}` and `$((3.5))`. It stands for nothing. */
const MARK = String.fromCharCode(FIRST + SIGNS.length + 1)
const BAD_PARAMETER =
  /\$\{(?!(?:[!#]?(?:[A-Za-z_]\w*|\d+|[@*#?$!-])[:=\-+?#%/^,@~*[}\\]|[#!@*?$-][:=\-+?#%/^,@~}]|[!#]?\w*$))/g
const NUMBERS = /\$\(\((?:[^()\n]|\([^()\n]*\))*\)\)/g
const IS_FRACTION = /(\d)(?=\.\d)/g

/** `${v~}` changes each letter to its other form: the parser is to think that it makes them large. */
const TOGGLES = /(\$\{!?(?:[A-Za-z_]\w*(?:\[[^\]\n]{0,200}\])?|[\d@*]+))(~~?)/g
const TOGGLE = String.fromCharCode(FIRST + SIGNS.length + 2)
const TOGGLED_SIGNS = new RegExp(`\\^+${TOGGLE}`, 'g')
/** In front of the pattern of such a change. */
export const TOGGLED = '\u{fffff}'
/** `select` is a loop over words to the parser, whose name begins with a sign. */
const SELECT_WORD =
  /(^|[\n;&|({]|\b(?:then|do|else)\b|!)([ \t]*)select([ \t]+)(?=[A-Za-z_]\w*(?:[ \t]+in\b|[ \t]*[;\n]))/g
const SELECT = String.fromCharCode(FIRST + SIGNS.length + 3)
const SELECT_LOOP = new RegExp(`for([ \\t]+)${SELECT}`, 'g')
/** In front of the name of such a loop. */
export const SELECTED = '\u{ffffe}'
/** A shift or a comparison in the index of an element, where the parser sees a redirection. */
const KEYS = /(?<=[(\s]\[)[^\]\n'"$`]{1,200}(?=\]\+?=)/g

/** A file named like an assignment (`> a=b`), which the parser does not take for a word. */
const ASSIGNED_FILES = /((?:<<<|(?<!<)<>?|>[>|]?)[ \t]*)(?=[A-Za-z_]\w*\+?=)/g

/** The words of a loop, up to the first substitution, and those of `case`: the parser takes neither assignments nor braces for words there. */
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

/** The script as the library's parser is to read it. */
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
