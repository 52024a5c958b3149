// The branches of the kits: the result of a condition, the side of a comparison, the case, the fallback.
// A file is instrumented so that each executed branch leaves a mark. Line numbers do not change.

import { join, relative } from 'node:path'
import type { Plugin } from 'vite'
import { filesIn, ROOT, textOf } from '../../test/support/source-tree.ts'
import { childrenOf, isNode, type Node, parse } from '../mutate/syntax.ts'

/** Mark `first + n` is place `n` of the file; `lines` has the line of each place, `texts` what the file says or asks for in words. */
export type FilePlaces = { path: string; first: number; lines: readonly number[]; texts: readonly string[] }

/** The runtime of programs is in an isolate of its own, and the market's names are no part of a shell. */
const KITS = /^src\/kits\/(git|shell|zip|node-program\/(?!runtime\/))/

const isMarked = (path: string): boolean => KITS.test(path) && path.endsWith('.ts') && !/\.generated\.ts$/.test(path)

/** The numbers are the same in each run over the same tree. */
export function placesOfKits(): FilePlaces[] {
  let first = 0
  return filesIn('src/kits')
    .filter(isMarked)
    .sort()
    .map((path) => {
      const rewriter = new Rewriter(path, textOf(path), first)
      rewriter.code()
      const places = { path, first, lines: rewriter.lines, texts: [...rewriter.texts] }
      first += rewriter.lines.length
      return places
    })
}

export function markPlaces(places: readonly FilePlaces[]): Plugin {
  const firstOf = new Map(places.map(({ path, first }) => [join(ROOT, path), first]))
  return {
    name: 'mark-places',
    enforce: 'pre',
    transform(text, id) {
      const file = id.split('?')[0] ?? id
      const first = firstOf.get(file)
      if (first === undefined) return null
      return { code: new Rewriter(relative(ROOT, file), text, first).code(), map: null }
    },
  }
}

const HELPERS = `const {__m,__b,__n,__c}=globalThis.__kitMarks??=(()=>{
const __m=new Uint8Array(400_000);
return{__m,
__b:(at,value)=>{__m[value?at:at+1]=1;return value},
__n:(at,value)=>{__m[value==null?at:at+1]=1;return value},
__c:(at,a,b)=>{__m[a<b?at:a>b?at+1:at+2]=1}}})();`.replaceAll('\n', ' ')

const EQUALITY = new Set(['===', '!==', '==', '!=', 'in', 'instanceof'])
const ORDER = new Set(['<', '<=', '>', '>='])
/** Methods that return a boolean. */
const ASKING = new Set(['test', 'has', 'startsWith', 'endsWith', 'includes', 'some', 'every'])
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])
/** Type-only syntax around an expression. */
const TYPED = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'])
const LEAST_TEXT = 2

/** Prints an instrumented file, node by node. */
export class Rewriter {
  readonly lines: number[] = []
  readonly texts = new Set<string>()
  readonly #path: string
  readonly #text: string
  readonly #first: number

  constructor(path: string, text: string, first: number) {
    this.#path = path
    this.#text = text
    this.#first = first
  }

  code(): string {
    return HELPERS + this.#write(parse(this.#path, this.#text).program)
  }

  #write(node: Node): string {
    this.#hear(node)
    if (node.type === 'ChainExpression') return this.#chain(node)
    if (FUNCTIONS.has(node.type)) return this.#function(node)
    const write = this.#byType[node.type]
    return write ? write(node) : this.#plain(node)
  }

  readonly #byType: Readonly<Record<string, (node: Node) => string>> = {
    IfStatement: (node) => this.#with(node, { test: (test) => this.#outcome(test) }),
    ConditionalExpression: (node) => this.#with(node, { test: (test) => this.#outcome(test) }),
    WhileStatement: (node) => this.#with(node, { test: (test) => this.#outcome(test) }),
    DoWhileStatement: (node) => this.#with(node, { test: (test) => this.#outcome(test) }),
    ForStatement: (node) => this.#with(node, { test: (test) => this.#outcome(test) }),
    ForOfStatement: (node) => this.#with(node, { body: (body) => this.#statement(body) }),
    ForInStatement: (node) => this.#with(node, { body: (body) => this.#statement(body) }),
    CatchClause: (node) => this.#with(node, { body: (body) => this.#statement(body) }),
    SwitchCase: (node) => this.#case(node),
    LogicalExpression: (node) => this.#logical(node),
    BinaryExpression: (node) => this.#binary(node),
    AssignmentPattern: (node) => this.#with(node, { right: (right) => this.#expression(right) }),
    AssignmentExpression: (node) =>
      /^(&&|\|\||\?\?)=$/.test(String(node.operator))
        ? this.#with(node, { right: (right) => this.#expression(right) })
        : this.#plain(node),
    CallExpression: (node) => (isAsking(node) ? this.#asked(node, this.#plain(node)) : this.#plain(node)),
    // The name of a shorthand property is also its value.
    Property: (node) => (node.shorthand === true && isNode(node.value) ? this.#write(node.value) : this.#plain(node)),
  }

  #plain(node: Node): string {
    return this.#with(node, {})
  }

  /** The source text of the node, with these children replaced. */
  #with(node: Node, by: Readonly<Record<string, (child: Node) => string>>): string {
    const written = new Map(
      Object.entries(by).flatMap(([key, write]) => (isNode(node[key]) ? [[node[key], write] as const] : [])),
    )
    let code = ''
    let from = node.start
    for (const child of childrenOf(node)) {
      if (child.start < from || !isCode(node, child)) continue
      const write = written.get(child) ?? ((one: Node) => this.#write(one))
      code += this.#text.slice(from, child.start) + write(child)
      from = child.end
    }
    return code + this.#text.slice(from, node.end)
  }

  #mark(node: Node, count = 1): number {
    const at = this.#first + this.lines.length
    const line = this.#text.slice(0, node.start).split('\n').length
    for (let n = 0; n < count; n++) this.lines.push(line)
    return at
  }

  /** The result of a condition. Comparisons, `&&` and similar operators have their own marks. */
  #outcome(node: Node): string {
    if (node.type === 'ParenthesizedExpression' || (node.type === 'UnaryExpression' && node.operator === '!')) {
      const key = node.type === 'UnaryExpression' ? 'argument' : 'expression'
      return this.#with(node, { [key]: (inner) => this.#outcome(inner) })
    }
    if (node.type === 'LogicalExpression' || node.type === 'BinaryExpression' || isAsking(node))
      return this.#write(node)
    return this.#asked(node, this.#write(node))
  }

  #asked(node: Node, written: string): string {
    return `__b(${this.#mark(node, 2)},${written})`
  }

  #logical(node: Node): string {
    if (node.operator !== '??')
      return this.#with(node, { left: (left) => this.#outcome(left), right: (right) => this.#outcome(right) })
    return this.#with(node, { left: (left) => `__n(${this.#mark(left, 2)},${this.#write(left)})` })
  }

  #binary(node: Node): string {
    const operator = String(node.operator)
    if (EQUALITY.has(operator)) return this.#asked(node, this.#plain(node))
    const { left, right } = node
    if (!ORDER.has(operator) || !isNode(left) || !isNode(right)) return this.#plain(node)
    // Neither side is evaluated twice.
    const at = this.#mark(node, 3)
    const compared = `(__c(${at},__a,__z),__a${operator}__z)`
    return `((__a,__z)=>${compared})(${this.#write(left)},${this.#write(right)})`
  }

  #case(node: Node): string {
    const [first] = Array.isArray(node.consequent) ? node.consequent : []
    const mark = `__m[${this.#mark(node)}]=1;`
    if (!isNode(first)) return this.#plain(node) + mark
    return (
      this.#with({ ...node, consequent: [] }, {}).slice(0, first.start - node.end || undefined) +
      mark +
      this.#rest(node)
    )
  }

  #rest(node: Node): string {
    const parts = (Array.isArray(node.consequent) ? node.consequent : []).filter(isNode)
    return parts
      .map((part, i) => this.#text.slice(parts[i - 1]?.end ?? part.start, part.start) + this.#write(part))
      .join('')
  }

  #statement(node: Node): string {
    const mark = `__m[${this.#mark(node)}]=1;`
    if (node.type === 'BlockStatement') return `{${mark}${this.#plain(node).slice(1)}`
    return `{${mark}${this.#write(node)}}`
  }

  #expression(node: Node): string {
    return `(__m[${this.#mark(node)}]=1,${this.#write(node)})`
  }

  #function(node: Node): string {
    if (!isNode(node.body)) return this.#plain(node)
    const isBlock = node.body.type === 'BlockStatement'
    return this.#with(node, { body: (body) => (isBlock ? this.#statement(body) : this.#expression(body)) })
  }

  /** What is asked inside of a chain ends with it where something before is missing. */
  #chain(node: Node): string {
    const inner = node.expression
    if (!isNode(inner)) return this.#plain(node)
    const written = this.#spine(inner)
    return isAsking(inner) ? this.#asked(inner, written) : written
  }

  #spine(node: Node): string {
    const key =
      node.type === 'CallExpression' ? 'callee' : node.type === 'TSNonNullExpression' ? 'expression' : 'object'
    return isNode(node[key]) ? this.#with(node, { [key]: (inner) => this.#spine(inner) }) : this.#write(node)
  }

  /** What somebody may say to this file, or hear from it. */
  #hear(node: Node): void {
    const said =
      node.type === 'Literal' && typeof node.value === 'string'
        ? node.value
        : node.type === 'TemplateElement' && this.#text.slice(node.start, node.end)
    const key = node.type === 'Property' && node.shorthand !== true && isNode(node.key) && node.key.name
    for (const text of [said, key])
      if (typeof text === 'string' && text.trim().length >= LEAST_TEXT) this.texts.add(text.trim())
  }
}

function isAsking(node: Node): boolean {
  if (node.type !== 'CallExpression' || !isNode(node.callee) || node.callee.type !== 'MemberExpression') return false
  return isNode(node.callee.property) && ASKING.has(String(node.callee.property.name))
}

/** Types and imports are not executable code. */
function isCode(parent: Node, child: Node): boolean {
  if (TYPED.has(child.type)) return true
  if (TYPED.has(parent.type)) return child === parent.expression
  return !child.type.startsWith('TS') && !/^(Import(?!Expression)|ExportSpecifier|ExportAll)/.test(child.type)
}
