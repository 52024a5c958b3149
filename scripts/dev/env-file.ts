// Variables travel to wrangler in a file, because a command line shows in `ps`. Wrangler reads such a file in two passes:
// dotenv's pattern takes quoted values verbatim, without any escape for the quote itself, and dotenv-expand then replaces
// `$NAME` and `${NAME}` and turns `\$` into `$`. Written here is what comes out of both passes unchanged.

type Variables = Readonly<Record<string, string>>

/** The text of a file from which wrangler reads exactly these values. */
export function formatEnvFile(vars: Variables): string {
  const spelled = new Spelling()
  const lines = Object.entries(vars).map(([name, value]) => `${name}=${spelled.quote(value)}\n`)
  // A reference is only replaced by a variable defined above it.
  return [...spelled.references(), ...lines].join('')
}

/**
 * Quotes values, and names the rare pieces that no quoting can hold: both kinds of quotes at once, a carriage return, a
 * backslash before the closing quote. Each becomes a variable of its own that the value refers to.
 */
class Spelling {
  readonly #names = new Map<string, string>()

  quote(value: string): string {
    const literal = value.replaceAll('$', '\\$')
    for (const mark of ["'", '`']) {
      if (!value.includes(mark) && !value.includes('\r') && !value.endsWith('\\')) return mark + literal + mark
    }
    // The backslashes before a piece belong to it: one directly before a reference would keep it from being replaced.
    const referring = literal.replace(/\\*['\r]|\\+$/g, (piece) => `\${${this.#nameOf(piece)}}`)
    return `'${referring}'`
  }

  references(): string[] {
    // Backslashes alone would swallow a closing quote, and need none.
    return [...this.#names].map(([piece, name]) =>
      piece.endsWith('\\') ? `${name}=${piece}\n` : `${name}="${piece.replaceAll('\r', '\\r')}"\n`,
    )
  }

  #nameOf(piece: string): string {
    const name = this.#names.get(piece) ?? `BELLWETHER_TEXT_${this.#names.size + 1}`
    this.#names.set(piece, name)
    return name
  }
}
