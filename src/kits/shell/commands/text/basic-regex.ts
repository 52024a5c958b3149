// Basic regular expressions, as `expr` and `csplit` take them, in the words of JavaScript.

const CLASSES: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  blank: ' \\t',
  cntrl: '\\0-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\s',
  upper: 'A-Z',
  xdigit: '0-9A-Fa-f',
}

/** Throws a `SyntaxError` for what is no expression. */
export function basicRegex(source: string, { isAnchored = false } = {}): RegExp {
  let text = ''
  let at = 0
  // A star with nothing before it is a star.
  let isStart = true
  while (at < source.length) {
    const char = source.charAt(at)
    const next = source.charAt(at + 1)
    if (char === '\\') {
      const { piece, length } = escaped(source, at)
      text += piece
      isStart = next === '(' || next === '|'
      at += length
      continue
    }
    if (char === '[') {
      const { piece, length } = bracket(source, at)
      text += piece
      at += length
    } else {
      const isCaret = char === '^' && isStart
      const isDollar = char === '$' && (at + 1 === source.length || /^\\[)|]/.test(source.slice(at + 1)))
      if (isCaret || isDollar || char === '.' || (char === '*' && !isStart)) text += char === '.' ? '[^]' : char
      else text += /[.*+?^${}()|[\]\\/]/.test(char) ? `\\${char}` : char
      at++
      if (isCaret) continue
    }
    isStart = false
  }
  return new RegExp(isAnchored ? `^(?:${text})` : text, 'u')
}

function escaped(source: string, at: number): { piece: string; length: number } {
  const next = source.charAt(at + 1)
  if (next === '{') {
    const close = source.indexOf('\\}', at + 2)
    const [, least = '', comma = '', most = ''] = /^(\d*)(,?)(\d*)$/.exec(source.slice(at + 2, close)) ?? []
    if (close < 0 || least + comma + most === '') throw new SyntaxError('Invalid preceding regular expression')
    return { piece: `{${least || 0}${comma}${most}}`, length: close + 2 - at }
  }
  if (next === '') throw new SyntaxError('Trailing backslash')
  const known: Readonly<Record<string, string>> = {
    '(': '(',
    ')': ')',
    '|': '|',
    '+': '+',
    '?': '?',
    w: '\\w',
    W: '\\W',
    s: '\\s',
    S: '\\S',
    b: '\\b',
    B: '\\B',
    '<': '\\b(?=\\w)',
    '>': '\\b(?<=\\w)',
    '`': '^',
    "'": '$',
  }
  if (/[1-9]/.test(next)) return { piece: `\\${next}(?:)`, length: 2 }
  return { piece: known[next] ?? (/[.*^$[\]{}\\/]/.test(next) ? `\\${next}` : next), length: 2 }
}

function bracket(source: string, from: number): { piece: string; length: number } {
  let at = from + 1
  let set = ''
  const isNegated = source.charAt(at) === '^'
  if (isNegated) at++
  for (let isFirst = true; ; isFirst = false) {
    const char = source.charAt(at)
    if (char === '') throw new SyntaxError('Unmatched [, [^, [:, [., or [=')
    if (char === ']' && !isFirst) break
    const [whole = '', name = ''] = /^\[:([a-z]+):\]/.exec(source.slice(at)) ?? []
    if (whole !== '') {
      const members = CLASSES[name]
      if (members === undefined) throw new SyntaxError('Invalid character class name')
      set += members
      at += whole.length
      continue
    }
    set +=
      /[[\]\\^&~!#$%*+,.:;<=>?@`{|}()/]/.test(char) && char !== '-'
        ? `\\${char}`.replace(/\\([&~!#%,:;<=>@`])/, '$1')
        : char
    at++
  }
  const body = set.replace(/^-/, '\\-').replace(/-$/, '\\-')
  return { piece: `[${isNegated ? '^' : ''}${body}]`, length: at + 1 - from }
}
