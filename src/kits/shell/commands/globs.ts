// Patterns for names, like in `fnmatch`.

export interface GlobOptions {
  ignoresCase?: boolean
  /** A star does not match slashes, but two stars between slashes do. */
  isPath?: boolean
}

const MARKS = /[.+^${}()|[\]\\*?/-]/

/** A regular expression for a whole name. */
export function globExpression(glob: string, { ignoresCase = false, isPath = false }: GlobOptions = {}): RegExp {
  const flags = ignoresCase ? 'isu' : 'su'
  return new RegExp(`^(?:${globSource(glob, isPath)})$`, flags)
}

export function globSource(glob: string, isPath: boolean): string {
  const any = isPath ? '[^/]' : '.'
  let source = ''
  for (let i = 0; i < glob.length; ) {
    const rest = glob.slice(i)
    const bracket = rest.startsWith('[') ? bracketOf(rest) : null
    if (isPath && /^\*\*\//.test(rest) && (i === 0 || glob[i - 1] === '/')) {
      source += '(?:.*/)?'
      i += 3
    } else if (isPath && rest === '**' && (i === 0 || glob[i - 1] === '/')) {
      source += '.*'
      i += 2
    } else if (rest.startsWith('*')) {
      // Consecutive stars mean the same as one, but would multiply the attempts.
      source += `${any}*`
      i += /^\*+/.exec(rest)?.[0].length ?? 1
    } else if (rest.startsWith('?')) {
      source += any
      i++
    } else if (bracket) {
      source += bracket.source
      i += bracket.length
    } else {
      const isEscaped = rest.startsWith('\\') && rest.length > 1
      const char = String.fromCodePoint(rest.codePointAt(isEscaped ? 1 : 0) ?? 0)
      source += MARKS.test(char) ? `\\${char === '-' ? 'x2d' : char}` : char
      i += char.length + (isEscaped ? 1 : 0)
    }
  }
  return source
}

const CLASSES: Readonly<Record<string, string>> = {
  alpha: '\\p{L}',
  digit: '0-9',
  alnum: '\\p{L}\\p{Nd}',
  upper: '\\p{Lu}',
  lower: '\\p{Ll}',
  space: '\\s',
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`\\{-~',
  xdigit: '0-9A-Fa-f',
}

/** Null for an unclosed bracket, which is literal. */
function bracketOf(rest: string): { source: string; length: number } | null {
  const found = /^\[([!^]?)(\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]/s.exec(rest)
  if (!found) return null
  const [whole, negation = '', inside = ''] = found
  const source = inside.replace(/\[:(\w+):\]|\\(.)|([[\]^])/gs, (_, name?: string, escaped?: string, mark?: string) => {
    if (name !== undefined) return CLASSES[name] ?? ''
    const char = escaped ?? mark ?? ''
    return /[-\]\\^[/]/.test(char) ? `\\${char}` : char
  })
  return {
    source: `[${negation === '' ? '' : '^'}${source.replace(/-$/, '\\-').replace(/^-/, '\\-')}]`,
    length: whole.length,
  }
}
