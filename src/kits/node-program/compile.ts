// Compiles a file to a function that is called later. Module code may not wait or set timers while it is loaded into an
// isolate; a function that is called later may. Line numbers do not change, so that errors refer to them.

import { type Token, tokensOf } from './lexer.ts'
import { type ExportStatement, type ModuleSyntax, syntaxOf } from './module-syntax.ts'

export interface Source {
  text: string
  tokens: Token[]
  syntax: ModuleSyntax
}

/** Available to the compiled code: see `runtime/module-tools.ts`. */
const MODULE = '__module'
const GUARD = '__guard'
const DEFAULT = '__default'

export function readSource(text: string): Source {
  const plain = text.replace(/^\uFEFF/, '').replace(/^#!/, '//')
  const tokens = tokensOf(plain)
  return { text: plain, tokens, syntax: syntaxOf(tokens) }
}

/** Whether the text can only be an ES module. */
export function isModuleText({ syntax, tokens }: Source): boolean {
  const { imports, exports, dynamic, awaits, required } = syntax
  if (imports.length > 0 || exports.length > 0 || dynamic.some(({ isMeta }) => isMeta)) return true
  return awaits && required.length === 0 && !tokens.some(({ text, depth }) => text === 'module' && depth === 0)
}

export interface Compiling {
  isAsync: boolean
  /** Inserts a check of the time into each loop. */
  guards: boolean
}

/** The text of a module whose default export is a function of `__module`. */
export function compileModule(source: Source, { isAsync, guards }: Compiling): string {
  const { syntax } = source
  const edits = [...dynamicEdits(syntax), ...(guards ? guardEdits(source.tokens) : [])]
  for (const { start, end } of syntax.imports) edits.push({ start, end, text: '' })
  for (const statement of syntax.exports) edits.push(exportEdit(statement))
  return `${moduleHead(syntax, isAsync)}${edited(source.text, edits)}\n}`
}

function moduleHead(syntax: ModuleSyntax, isAsync: boolean): string {
  return [
    `export default ${isAsync ? 'async ' : ''}function (${MODULE}) {`,
    `${MODULE}.export({${getters(syntax.exports).join(',')}});`,
    `${isAsync ? 'await ' : ''}${MODULE}.load();`,
    ...syntax.exports.flatMap(reexport),
    ...syntax.imports.flatMap(bindings),
  ].join('')
}

/** The text of a CommonJS script, unchanged: its default export is the usual wrapper. */
export function compileScript(source: Source, { guards }: Pick<Compiling, 'guards'>): string {
  const edits = [...dynamicEdits(source.syntax), ...(guards ? guardEdits(source.tokens) : [])]
  return `${SCRIPT_HEAD}${edited(source.text, edits)}\n}`
}

const SCRIPT_HEAD = `module.exports = function (exports, require, module, __filename, __dirname, ${MODULE}) {`

/** The number of characters inserted before the text's first line. */
export function headLength({ syntax }: Source, module: { isModule: boolean; isAsync: boolean }): number {
  return (module.isModule ? moduleHead(syntax, module.isAsync) : SCRIPT_HEAD).length
}

interface Edit {
  start: number
  end: number
  text: string
}

/** Removed lines become empty lines. */
function edited(text: string, edits: readonly Edit[]): string {
  let result = ''
  let at = 0
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (edit.start < at) continue
    const lines = text.slice(edit.start, edit.end).match(/\n/g)?.join('') ?? ''
    result += text.slice(at, edit.start) + edit.text + lines
    at = edit.end
  }
  return result + text.slice(at)
}

function dynamicEdits({ dynamic }: ModuleSyntax): Edit[] {
  return dynamic.map(({ start, end, isMeta }) => ({ start, end, text: `${MODULE}.${isMeta ? 'meta' : 'dynamic'}` }))
}

/** The guard is called before the condition of `while (x)` and in the middle part of `for (;;)`. */
function guardEdits(tokens: readonly Token[]): Edit[] {
  const edits: Edit[] = []
  for (const [i, token] of tokens.entries()) {
    const isLoop = token.kind === 'word' && (token.text === 'while' || token.text === 'for')
    const next = tokens[i + 1]
    if (!isLoop || next?.text !== '(' || ['.', '?.'].includes(tokens[i - 1]?.text ?? '')) continue
    const place = token.text === 'while' ? next.end : middleOf(tokens, i + 1)
    if (place === null) continue
    const isEmpty = token.text === 'for' && /^\s*;/.test(tokens.find(({ start }) => start >= place)?.text ?? '')
    edits.push({ start: place, end: place, text: isEmpty ? `${GUARD}()` : `${GUARD}(),` })
  }
  return edits
}

/** After the first semicolon in the head of a `for`; null for a loop over values. */
function middleOf(tokens: readonly Token[], open: number): number | null {
  const inside = (tokens[open]?.depth ?? 0) + 1
  for (let i = open + 1; i < tokens.length; i++) {
    const token = tokens[i]
    if (token === undefined || token.depth < inside) return null
    if (token.text === ';' && token.depth === inside) return token.end
  }
  return null
}

function exportEdit(statement: ExportStatement): Edit {
  const { start, end } = statement
  return { start, end, text: statement.kind === 'value' ? `const ${DEFAULT} =` : '' }
}

const quoted = (text: string) => JSON.stringify(text)

function getters(exports: readonly ExportStatement[]): string[] {
  const getter = (outside: string, local: string) => `${quoted(outside)}:()=>${local}`
  return exports.flatMap((statement) => {
    switch (statement.kind) {
      case 'declaration':
        return statement.names.map((name) => getter(name, name))
      case 'default-declaration':
        return [getter('default', statement.name)]
      case 'value':
        return [getter('default', DEFAULT)]
      case 'list':
        return statement.from === null ? statement.names.map(([local, outside]) => getter(outside, local)) : []
      default:
        return []
    }
  })
}

function reexport(statement: ExportStatement): string[] {
  if (statement.kind === 'all')
    return [`${MODULE}.exportAll(${quoted(statement.from)},${JSON.stringify(statement.name)});`]
  if (statement.kind !== 'list' || statement.from === null) return []
  return [`${MODULE}.exportFrom(${quoted(statement.from)},${JSON.stringify(statement.names)});`]
}

function bindings({ specifier, namespace, names }: ModuleSyntax['imports'][number]): string[] {
  const all = namespace === null ? [] : [`const ${namespace}=${MODULE}.from(${quoted(specifier)},[]);`]
  if (names.length === 0) return all
  const wanted = JSON.stringify(names.map(([outside]) => outside))
  const pattern = names.map(([outside, local]) => `${quoted(outside)}:${local}`).join(',')
  return [...all, `const {${pattern}}=${MODULE}.from(${quoted(specifier)},${wanted});`]
}

export interface Specifiers {
  /** In the order of the text: they are loaded before it runs. */
  statics: string[]
  /** Those, and the names in `import(…)`. */
  imports: string[]
  requires: string[]
  /** Whether it may load others as well. */
  computed: boolean
}

/** All modules that are named in the text. */
export function specifiersOf({ syntax }: Source): Specifiers {
  const { imports, exports, dynamic, required } = syntax
  const calls = dynamic.filter(({ isMeta }) => !isMeta).map(({ specifier }) => specifier)
  const sources = exports.flatMap((one) => ('from' in one && one.from !== null ? [[one.from, one.start] as const] : []))
  const named = [...imports.map(({ specifier, start }) => [specifier, start] as const), ...sources]
  const statics = named.toSorted(([, a], [, b]) => a - b).map(([name]) => name)
  return {
    statics,
    imports: [...new Set([...statics, ...calls.filter((name) => name !== null)])],
    requires: [...new Set(required.filter((name) => name !== null))],
    computed: [...required, ...calls].includes(null),
  }
}
