// The tokens of a program for `bc`.

export interface Token {
  kind: 'number' | 'name' | 'string' | 'operator' | 'newline' | 'end'
  text: string
  line: number
}

const WORD =
  /([ \t\r]+|\\\n|#[^\n]*|\/\*[\s\S]*?\*\/)|([0-9A-F]+\.?[0-9A-F]*|\.[0-9A-F]+)|([a-z][a-z0-9_]*)|"([^"]*)"|(\|\||&&|[-+*/%^=<>!]=|\+\+|--|[-+*/%^=<>!(){}[\];,.])|(\n)|([\s\S])/gy

/** A byte that starts no token becomes an operator that no rule accepts. */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  let line = 1
  for (const [whole, blank, number, name, string, operator, newline, other] of source.matchAll(WORD)) {
    if (blank === undefined) {
      const kind =
        number !== undefined
          ? 'number'
          : name !== undefined
            ? 'name'
            : string !== undefined
              ? 'string'
              : newline !== undefined
                ? 'newline'
                : 'operator'
      tokens.push({ kind, text: number ?? name ?? string ?? operator ?? newline ?? other ?? '', line })
    }
    for (let at = whole.indexOf('\n'); at >= 0; at = whole.indexOf('\n', at + 1)) line++
  }
  tokens.push({ kind: 'end', text: '', line })
  return tokens
}
