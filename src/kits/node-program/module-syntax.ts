// The imports and exports of a module, from its tokens.

import type { Token } from './lexer.ts'

export interface ImportStatement {
  specifier: string
  /** The local name of the default import, of the namespace, and of each named import by its exported name. */
  namespace: string | null
  names: [outside: string, local: string][]
  start: number
  end: number
}

export type ExportStatement =
  /** The word `export` is removed, the declaration stays. */
  | { kind: 'declaration'; names: string[]; start: number; end: number }
  /** `export default` before an unnamed value becomes an assignment. */
  | { kind: 'value'; start: number; end: number }
  | { kind: 'default-declaration'; name: string; start: number; end: number }
  | { kind: 'list'; names: [local: string, outside: string][]; from: string | null; start: number; end: number }
  /** `name` is null for all names. */
  | { kind: 'all'; name: string | null; from: string; start: number; end: number }

export interface ModuleSyntax {
  imports: ImportStatement[]
  exports: ExportStatement[]
  /** The word `import` of each `import(…)` and each `import.meta`. */
  dynamic: { start: number; end: number; specifier: string | null; isMeta: boolean }[]
  /** Specifiers of `require('…')` and `require.resolve('…')`; null for a computed one. */
  required: (string | null)[]
  awaits: boolean
}

export function syntaxOf(tokens: readonly Token[]): ModuleSyntax {
  const syntax: ModuleSyntax = { imports: [], exports: [], dynamic: [], required: [], awaits: false }
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]
    if (token?.kind !== 'word' || isMember(tokens, i)) continue
    if (token.text === 'await' && token.functions === 0) syntax.awaits = true
    else if (token.text === 'require' && tokens[i + 1]?.text === '(')
      syntax.required.push(literalArgument(tokens, i + 2))
    else if (token.text === 'require' && tokens[i + 2]?.text === 'resolve' && tokens[i + 3]?.text === '(')
      syntax.required.push(literalArgument(tokens, i + 4))
    else if (token.text === 'import') i = readImport(tokens, i, syntax)
    else if (token.text === 'export' && token.depth === 0) i = readExport(tokens, i, syntax)
  }
  return syntax
}

function isMember(tokens: readonly Token[], i: number): boolean {
  const before = tokens[i - 1]?.text
  return before === '.' || before === '?.'
}

function literalArgument(tokens: readonly Token[], i: number): string | null {
  const [argument, after] = [tokens[i], tokens[i + 1]]
  return argument?.kind === 'string' && (after?.text === ')' || after?.text === ',') ? textOf(argument) : null
}

/** Returns the index of its last token. */
function readImport(tokens: readonly Token[], i: number, syntax: ModuleSyntax): number {
  const [word, next] = [tokens[i], tokens[i + 1]]
  if (!word || !next) return i
  if (next.text === '(' || next.text === '.') {
    const isMeta = next.text === '.'
    const specifier = isMeta ? null : literalArgument(tokens, i + 2)
    syntax.dynamic.push({
      start: word.start,
      end: isMeta ? (tokens[i + 2]?.end ?? word.end) : word.end,
      specifier,
      isMeta,
    })
    return i + 1
  }
  if (word.depth !== 0) return i
  const statement: ImportStatement = { specifier: '', namespace: null, names: [], start: word.start, end: word.end }
  let at = i + 1
  if (tokens[at]?.kind === 'word') statement.names.push(['default', tokens[at++]?.text ?? ''])
  if (tokens[at]?.text === ',') at++
  if (tokens[at]?.text === '*') {
    statement.namespace = tokens[at + 2]?.text ?? null
    at += 3
  } else if (tokens[at]?.text === '{') {
    const list = readNames(tokens, at)
    statement.names.push(...list.names)
    at = list.end + 1
  }
  if (tokens[at]?.text === 'from') at++
  const source = tokens[at]
  if (source?.kind !== 'string') return i
  at = endOfSource(tokens, at)
  syntax.imports.push({ ...statement, specifier: textOf(source), end: tokens[at]?.end ?? source.end })
  return at
}

/** After the attributes and the semicolon behind a module's specifier. */
function endOfSource(tokens: readonly Token[], at: number): number {
  let end = at
  const next = tokens[end + 1]
  if ((next?.text === 'with' || next?.text === 'assert') && !next.onNewLine && tokens[end + 2]?.text === '{') {
    end += 2
    while (end < tokens.length && tokens[end]?.text !== '}') end++
  }
  return tokens[end + 1]?.text === ';' ? end + 1 : end
}

/** `{ a, b as c, 'd e' as f }`: each name with its name after `as`. */
function readNames(tokens: readonly Token[], open: number): { names: [string, string][]; end: number } {
  const names: [string, string][] = []
  let at = open + 1
  for (; at < tokens.length && tokens[at]?.text !== '}'; at++) {
    const token = tokens[at]
    if (token === undefined || token.text === ',') continue
    const name = nameOf(token)
    const renamed = tokens[at + 1]?.text === 'as' ? tokens[at + 2] : undefined
    names.push([name, renamed ? nameOf(renamed) : name])
    if (renamed) at += 2
  }
  return { names, end: at }
}

function readExport(tokens: readonly Token[], i: number, syntax: ModuleSyntax): number {
  const [word, next] = [tokens[i], tokens[i + 1]]
  if (!word || !next) return i
  const { start } = word
  if (next.text === 'default') return readDefault(tokens, i, syntax)
  if (next.text === '*') return readAll(tokens, i, syntax)
  if (next.text === '{') {
    const { names, end } = readNames(tokens, i + 1)
    const source = tokens[end + 1]?.text === 'from' ? tokens[end + 2] : undefined
    const last = source ? endOfSource(tokens, end + 2) : tokens[end + 1]?.text === ';' ? end + 1 : end
    const from = source ? textOf(source) : null
    syntax.exports.push({ kind: 'list', names, from, start, end: tokens[last]?.end ?? next.end })
    return last
  }
  const names = declaredNames(tokens, i + 1)
  syntax.exports.push({ kind: 'declaration', names, start, end: word.end })
  return i
}

function readDefault(tokens: readonly Token[], i: number, syntax: ModuleSyntax): number {
  const { start = 0 } = tokens[i] ?? {}
  const end = tokens[i + 1]?.end ?? start
  const name = functionOrClassName(tokens, i + 2)
  syntax.exports.push(name === null ? { kind: 'value', start, end } : { kind: 'default-declaration', name, start, end })
  return i + 1
}

function readAll(tokens: readonly Token[], i: number, syntax: ModuleSyntax): number {
  const { start = 0 } = tokens[i] ?? {}
  const isNamed = tokens[i + 2]?.text === 'as'
  const at = i + (isNamed ? 5 : 3)
  const source = tokens[at]
  if (source?.kind !== 'string') return i
  const name = isNamed && tokens[i + 3] ? nameOf(tokens[i + 3] as Token) : null
  const last = endOfSource(tokens, at)
  syntax.exports.push({ kind: 'all', name, from: textOf(source), start, end: tokens[last]?.end ?? source.end })
  return last
}

/** Of a function or a class that is declared here; null if it has none, or if it is something else. */
function functionOrClassName(tokens: readonly Token[], from: number): string | null {
  let at = from
  if (tokens[at]?.text === 'async' && tokens[at + 1]?.text === 'function') at++
  if (tokens[at]?.text !== 'function' && tokens[at]?.text !== 'class') return null
  at++
  if (tokens[at]?.text === '*') at++
  const name = tokens[at]
  return name?.kind === 'word' && name.text !== 'extends' ? name.text : null
}

const STATEMENT_WORDS = /^(const|let|var|function|class|export|import|if|for|while|do|switch|try|throw|async)$/

function declaredNames(tokens: readonly Token[], from: number): string[] {
  const single = functionOrClassName(tokens, from)
  if (single !== null) return [single]
  const names: string[] = []
  let at = from + 1
  for (let expectsName = true; at < tokens.length; at++) {
    const token = tokens[at]
    if (token === undefined || token.text === ';') break
    if (token.depth > 0) continue
    if (token.onNewLine && STATEMENT_WORDS.test(token.text)) break
    if (expectsName) {
      const pattern = bindingNames(tokens, at)
      names.push(...pattern.names)
      at = pattern.end
      expectsName = false
    } else if (token.text === ',') expectsName = true
  }
  return names
}

/** The names that a pattern binds. `end` is its last token. */
function bindingNames(tokens: readonly Token[], at: number): { names: string[]; end: number } {
  const first = tokens[at]
  if (first?.text !== '{' && first?.text !== '[') return { names: first?.kind === 'word' ? [first.text] : [], end: at }
  const names: string[] = []
  const inside = first.depth + 1
  let isDefault = false
  let end = at + 1
  for (; end < tokens.length; end++) {
    const token = tokens[end]
    if (token === undefined || token.depth < inside) break
    if (token.depth > inside) continue
    if (token.text === ',') isDefault = false
    else if (token.text === '=') isDefault = true
    else if (isDefault || token.text === '...' || tokens[end + 1]?.text === ':' || token.text === ':') continue
    else {
      const inner = bindingNames(tokens, end)
      names.push(...inner.names)
      end = inner.end
    }
  }
  return { names, end }
}

function nameOf(token: Token): string {
  return token.kind === 'string' ? textOf(token) : token.text
}

/** A string literal's value. Escapes are rare in module specifiers. */
function textOf({ text }: Token): string {
  return text.slice(1, -1).replace(/\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/g, unescaped)
}

function unescaped(_: string, point?: string, unit?: string, byte?: string, char?: string): string {
  const code = point ?? unit ?? byte
  return code === undefined ? (char ?? '') : String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff))
}
