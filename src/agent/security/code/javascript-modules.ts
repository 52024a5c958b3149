// The modules, the process and its environment that a JavaScript program uses.

import { type Token, tokensOf } from '../../../kits/node-program/index.ts'
import type { Bench } from '../bench.ts'
import { isSecretName } from '../variables.ts'
import {
  FILE_MODULES,
  NETWORK_MODULES,
  OPEN_MODULES,
  PLAIN_PROCESS,
  PROCESS_MODULES,
  stringOf,
  wordOf,
} from './javascript-text.ts'

const GLOBALS: ReadonlySet<string> = new Set(['globalThis', 'global', 'window', 'self', 'this'])

export class ModuleUses {
  protected readonly tokens: readonly Token[]
  protected readonly words: readonly string[]
  protected readonly bench: Bench

  constructor(code: string, bench: Bench) {
    this.bench = bench
    this.tokens = tokensOf(code)
    this.words = this.tokens.map(wordOf)
  }

  /** `require` of a text is known; anything else, and `require` handed on, is not. */
  protected load(at: number): void {
    const name = this.tokens[at + 2]
    const isCall = this.words[at + 1] === '(' || this.words[at + 1] === '?.'
    if (isCall && name?.kind === 'string' && this.words[at + 3] === ')') {
      this.#module(stringOf(name))
      if (FILE_MODULES.has(stringOf(name))) this.#after(at + 4, at)
    } else if (this.words[at + 1] === '.' && /^(main|resolve|cache)$/.test(this.words[at + 2] ?? '')) return
    else if (this.words[at - 1] !== 'typeof') this.bench.meet('js-unknown')
  }

  protected import(at: number): void {
    const next = this.tokens[at + 1]
    if (next?.text === '.') return
    if (next?.text === '(') {
      const name = this.tokens[at + 2]
      if (name?.kind === 'string' && this.words[at + 3] === ')') this.#module(stringOf(name))
      else this.bench.meet('js-unknown')
      return
    }
    const from = this.tokens.slice(at + 1).find(({ kind }) => kind === 'string')
    if (from !== undefined) this.#module(stringOf(from))
  }

  #module(name: string): void {
    if (PROCESS_MODULES.has(name)) this.bench.meet('js-processes')
    else if (NETWORK_MODULES.has(name)) this.bench.meet('js-network')
    else if (OPEN_MODULES.has(name) || /^(data|https?|file):/.test(name) || /\.node$/.test(name))
      this.bench.meet('js-unknown')
  }

  /** The whole module may be named, or looked into by a name; handed on, it is out of sight. */
  #after(end: number, start: number): void {
    const next = this.words[end] ?? ''
    const before = this.words[start - 1] ?? ''
    if (next === '.' || next === '?.' || next === '[') return
    const isNamed = before === '=' || before === 'await'
    if (!isNamed && before !== '' && before !== ';' && before !== '}') this.bench.meet('js-unknown')
  }

  protected process(at: number): void {
    const [dot = '', member = ''] = this.words.slice(at + 1, at + 3)
    const name = dot === '[' ? this.literalAt(at + 2) : dot === '.' || dot === '?.' ? member : null
    if (name === 'env') this.environment(at + (dot === '[' ? 4 : 3), at)
    else if (name === null) {
      if (this.words[at - 1] !== 'typeof' && dot !== ':') this.bench.meet('js-unknown')
    } else if (!PLAIN_PROCESS.has(name)) this.bench.meet('js-unknown')
  }

  /** `globalThis.process`, and `process` of whatever is looked into for its `env`. */
  protected isOfGlobal(at: number): boolean {
    const [dot, member] = this.words.slice(at + 1, at + 3)
    return GLOBALS.has(this.words[at - 2] ?? '') || dot === '[' || (dot !== '(' && member === 'env')
  }

  protected environment(at: number, start: number): void {
    const [dot = '', member = ''] = this.words.slice(at, at + 2)
    const name = dot === '[' ? this.literalAt(at + 1) : dot === '.' || dot === '?.' ? member : null
    if (name !== null) this.#variable(name)
    else if (dot === '[') this.bench.meet('indirect-variable')
    else if (!this.#takesNames(start)) this.bench.meet('all-variables')
  }

  /** `const { A, B } = process.env` uses these alone. */
  #takesNames(start: number): boolean {
    if (this.words[start - 1] !== '=' || this.words[start - 2] !== '}') return false
    const open = this.words.lastIndexOf('{', start - 2)
    const names = this.words.slice(open + 1, start - 2)
    if (names.includes('...') || names.includes('[')) return false
    for (const name of names) this.#variable(name)
    return true
  }

  #variable(name: string): void {
    if (isSecretName(name, this.bench.findings.secretNames)) this.bench.meet('secret-variable')
  }

  protected literalAt(at: number): string | null {
    const token = this.tokens[at]
    const isText = token?.kind === 'string' || (token?.kind === 'template' && !token.text.includes('${'))
    return isText && this.words[at + 1] === ']' ? stringOf(token) : null
  }
}
