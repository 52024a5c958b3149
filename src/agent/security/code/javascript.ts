// What a JavaScript program does to files, processes and the network, as far as its words show. Names are judged
// wherever they occur; a function under another name is judged by its original name. If a name is computed, or a text
// is run as code, nothing is known.

import { type Token, tokensOf } from '../../../kits/node-program/index.ts'
import type { Bench } from '../bench.ts'
import { isSecretFile } from '../paths.ts'
import { isSecretName } from '../variables.ts'

// The words and texts of a JavaScript program after their escapes are decoded.

const ESCAPE = /\\(?:u\{([\da-f]{1,6})\}|u([\da-f]{4})|x([\da-f]{2})|([0-7]{1,3})|(\r\n|[\s\S]))/gi
const PLAIN_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  '\n': '',
  '\r\n': '',
}

const unescaped = (text: string): string =>
  text.includes('\\')
    ? text.replace(ESCAPE, (_, long, short, hex, octal, plain) => {
        const code = long ?? short ?? hex
        if (code !== undefined) return characterOf(Number.parseInt(code, 16))
        return octal === undefined ? (PLAIN_ESCAPES[plain] ?? plain) : characterOf(Number.parseInt(octal, 8))
      })
    : text

const characterOf = (code: number) => (code <= 0x10ffff ? String.fromCodePoint(code) : '')

/** The text of a string or of a template without expressions. */
function stringOf({ text }: Token): string {
  return unescaped(text.replace(/^['"`}]/, '').replace(/(['"`]|\$\{)$/, ''))
}

/** A word or sign with its escapes decoded; for a text, its contents. */
function wordOf(token: Token): string {
  if (token.kind === 'string') return stringOf(token)
  return token.kind === 'word' ? unescaped(token.text) : token.text
}

const MAX_TEXTS = 400

/** The texts of a program. Texts that are concatenated or joined as a path are also returned as one. */
function* foldedStrings(tokens: readonly Token[]): Generator<string> {
  let given = 0
  for (let at = 0; at < tokens.length && given < MAX_TEXTS; at++) {
    const first = tokens[at]
    if (first === undefined || !isText(first)) continue
    given++
    yield stringOf(first)
    yield* run(tokens, at, { sign: '+', between: '' })
    yield* run(tokens, at, { sign: ',', between: '/' })
    yield* run(tokens, at, { sign: ',', between: '' })
  }
}

const isText = ({ kind }: Token) => kind === 'string' || kind === 'template'

function* run(
  tokens: readonly Token[],
  from: number,
  { sign, between }: { sign: string; between: string },
): Generator<string> {
  // Skips the middle of a sequence, which was returned already.
  if (tokens[from - 1]?.text === sign && from > 1 && isText(tokens[from - 2] ?? NONE)) return
  const parts = [stringOf(tokens[from] ?? NONE)]
  for (let at = from + 1; tokens[at]?.text === sign && isText(tokens[at + 1] ?? NONE); at += 2) {
    parts.push(stringOf(tokens[at + 1] ?? NONE))
  }
  if (parts.length > 1) yield parts.join(between)
}

const NONE: Token = { kind: 'punctuator', text: '', start: 0, end: 0, onNewLine: false, depth: 0, functions: 0 }

// The names with which a JavaScript program reaches files, processes and the network.

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** Functions of `fs`, with and without `Sync`. */
const REMOVES = words('rm rmdir rmSync rmdirSync rimraf rimrafSync')
const UNLINKS = words('unlink unlinkSync truncate truncateSync ftruncate ftruncateSync')
const CHANGES_MODES = words(
  'chmod chmodSync chown chownSync lchmod lchmodSync lchown lchownSync fchmod fchmodSync fchown fchownSync',
)
const WRITES_FILES = words(
  'writeFile writeFileSync appendFile appendFileSync createWriteStream copyFile copyFileSync cp cpSync rename renameSync symlink symlinkSync link linkSync mkdir mkdirSync open openSync mkdtemp mkdtempSync outputFile',
)
const EMPTIES = words('writeFile writeFileSync')

const FILE_MODULES = words('fs fs/promises node:fs node:fs/promises fs-extra graceful-fs')
const PROCESS_MODULES = words('child_process node:child_process execa cross-spawn shelljs zx node-pty')
const NETWORK_MODULES = words(
  'net node:net http node:http https node:https http2 node:http2 tls node:tls dgram node:dgram dns node:dns dns/promises node:dns/promises undici axios node-fetch got ws request superagent ssh2',
)
/** These run generated text, or return something unknown. */
const OPEN_MODULES = words(
  'vm node:vm vm2 worker_threads node:worker_threads cluster node:cluster module node:module inspector node:inspector repl node:repl v8 node:v8 wasi node:wasi process node:process',
)
/** Functions of `child_process` whose names no other common object has. */
const STARTS = words('execSync spawnSync execFileSync execFile spawn fork')

const NETWORK_NAMES = words('fetch XMLHttpRequest WebSocket EventSource')
const EVALUATES = words('eval Function WebAssembly')

/** Members of `process` that only return information or end the program. */
const PLAIN_PROCESS = words(
  'argv argv0 cwd exit exitCode version versions platform arch stdout stderr stdin hrtime uptime memoryUsage nextTick on once pid ppid title release cpuUsage emitWarning features config execArgv execPath',
)
/** Objects from which a computed name can reach everything. */
const ROOTS = words('fs process globalThis global module require fsp fsPromises child_process')

// The modules, the process and its environment that a JavaScript program uses.

const GLOBALS: ReadonlySet<string> = new Set(['globalThis', 'global', 'window', 'self', 'this'])

class ModuleUses {
  protected readonly tokens: readonly Token[]
  protected readonly words: readonly string[]
  protected readonly bench: Bench

  constructor(code: string, bench: Bench) {
    this.bench = bench
    this.tokens = tokensOf(code)
    this.words = this.tokens.map(wordOf)
  }

  /** `require` of a literal is known; anything else, and `require` passed on as a value, is not. */
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

  /** The module may be assigned to a name, or a member may be read; passed on as a value it can no longer be followed. */
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

  /** `globalThis.process`, and `process` of any object whose `env` is read. */
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

  /** `const { A, B } = process.env` uses only these. */
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

/** Programs on a command line are short; longer programs are not analysed word by word. */
const MAX_CHARS = 16_000
const MAX_BRACKETS = 2500

export function judgeJavaScript(code: string, bench: Bench): void {
  if (code.length > MAX_CHARS || (code.match(/[([{]/g)?.length ?? 0) > MAX_BRACKETS) {
    bench.meet('not-parsed')
    return
  }
  bench.findings.nested(code, () => new Program(code, bench).judge())
}

class Program extends ModuleUses {
  /** Names for `fs`, `process` and similar objects. */
  readonly #roots = new Set(ROOTS)
  /** Whether the program can reach files at all. */
  readonly #reaches: boolean

  constructor(code: string, bench: Bench) {
    super(code, bench)
    this.#reaches = /\b(fs|require|import|process|globalThis|global)\b|\\u/.test(code)
  }

  judge(): void {
    this.bench.findings.spend(this.tokens.length)
    for (const at of this.tokens.keys()) this.#alias(at)
    for (const [at, token] of this.tokens.entries()) {
      if (token.kind === 'word') this.#word(at)
      else if (token.text === '[') this.#computed(at)
      else if (token.kind === 'string' || token.kind === 'template') this.#string(at)
    }
    if (this.#reaches) for (const text of foldedStrings(this.tokens)) this.#path(text)
  }

  /** `x = require('fs')`, `import x from 'fs'`, `import * as x from 'fs'`, `x = process`. */
  #alias(at: number): void {
    const name = this.words[at] ?? ''
    if (this.tokens[at]?.kind !== 'word' || !/^[\w$]+$/.test(name)) return
    const next = this.words.slice(at + 1, at + 5)
    const opened =
      next[0] === '=' && (next[1] === 'require' ? next[3] : next[1] === 'await' ? this.words[at + 5] : null)
    const imported = next[0] === 'from' ? next[1] : null
    const isModule = [opened, imported].some((module) => typeof module === 'string' && FILE_MODULES.has(module))
    if (
      isModule ||
      (next[0] === '=' && ROOTS.has(next[1] ?? '') && next[1] !== 'require' && next[2] !== '.' && next[2] !== '(')
    ) {
      this.#roots.add(name)
    }
  }

  #word(at: number): void {
    const word = this.words[at] ?? ''
    const [before, after] = [this.words[at - 1] ?? '', this.words[at + 1] ?? '']
    const isMember = before === '.' || before === '?.'
    this.#fileFunction(word, at)
    if (STARTS.has(word) && (isMember || after === '(')) this.bench.meet('js-processes')
    if (!isMember && after !== ':' && before !== 'typeof') {
      if (EVALUATES.has(word)) this.bench.meet('js-unknown')
      if (NETWORK_NAMES.has(word)) this.bench.meet('js-network')
    }
    if (word === 'constructor' && isMember && !(after === '.' && this.words[at + 2] === 'name'))
      this.bench.meet('js-unknown')
    if (word === 'require' || word === 'getBuiltinModule') this.load(at)
    else if (word === 'import') this.import(at)
    else if (word === 'process' && (!isMember || this.isOfGlobal(at))) this.process(at)
    else if (word === 'env' && isMember && this.words[at - 2] === ']') this.environment(at + 1, at - 2)
    else if (this.#roots.has(word) && !isMember) this.#root(at)
  }

  #fileFunction(word: string, at: number): void {
    const isCalled = this.words[at + 1] === '(' || this.words[at + 1] === '?.'
    const isFunction = isCalled || !/^(rm|rmdir|cp|open|link|rename|truncate)$/.test(word) || this.#isTaken(at)
    if (!isFunction) return
    if (REMOVES.has(word)) this.bench.meet(this.#removesFolders(word) ? 'deletes-folder' : 'deletes-files')
    else if (UNLINKS.has(word)) this.bench.meet('deletes-files')
    else if (CHANGES_MODES.has(word)) this.bench.meet('changes-modes')
    else if (EMPTIES.has(word)) this.#empties(at)
  }

  /** Read from an object by name: `fs.rm`, `{ rm: x }`, `{ rm }`. */
  #isTaken(at: number): boolean {
    return /^(\.|\?\.|\{|,)$/.test(this.words[at - 1] ?? '')
  }

  #removesFolders(word: string): boolean {
    return /^rimraf/.test(word) || this.words.includes('recursive') || this.words.includes('...')
  }

  #empties(at: number): void {
    const [open, , comma] = this.words.slice(at + 1, at + 4)
    const text = this.tokens[at + 4]
    if (open === '(' && comma === ',' && text?.kind === 'string' && stringOf(text) === '')
      this.bench.meet('empties-file')
  }

  #root(at: number): void {
    const [before, after] = [this.words[at - 1] ?? '', this.words[at + 1] ?? '']
    if (
      /^(\.|\?\.|\[|=|=>|from|:)$/.test(after) ||
      (after === ')' && this.words[at + 2] === '=>') ||
      /^(const|let|var|import|as|typeof|,|\{)$/.test(before)
    )
      return
    this.bench.meet('js-unknown')
  }

  /** `x[…]` with anything except a number or a text. */
  #computed(at: number): void {
    const before = this.tokens[at - 1]
    const isAccess =
      before !== undefined && (before.kind === 'word' || /^(\)|\]|\?\.)$/.test(before.text) || before.kind === 'string')
    if (!isAccess || this.tokens[at + 1]?.kind === 'number') return
    if (this.literalAt(at + 1) !== null) return
    const isMade = this.#isMadeText(at + 1)
    if (isMade || this.#isOfRoot(at)) this.bench.meet('js-unknown')
  }

  /** A name that is concatenated from texts. */
  #isMadeText(from: number): boolean {
    const end = this.words.indexOf(']', from)
    const inside = this.tokens.slice(from, end < 0 ? undefined : end)
    return inside.some(({ kind }) => kind === 'string' || kind === 'template')
  }

  /** Whether the object is `fs` or similar, or a member of it without a call in between. */
  #isOfRoot(at: number): boolean {
    let place = at - 1
    while (place > 1 && (this.words[place - 1] === '.' || this.words[place - 1] === '?.')) place -= 2
    if (this.#roots.has(this.words[place] ?? '')) return true
    return (
      this.words[place] === ')' && this.words[place - 3] === 'require' && FILE_MODULES.has(this.words[place - 1] ?? '')
    )
  }

  #string(at: number): void {
    const token = this.tokens[at]
    if (token === undefined) return
    const text = stringOf(token)
    // A member's name in quotes, or a name that is stored for later use.
    if (/^[A-Za-z]+$/.test(text) && this.#reaches && text !== 'rm' && text !== 'open' && text !== 'link')
      this.#name(text, at)
    if (text === 'constructor') this.bench.meet('js-unknown')
    if (text === 'process' && this.words[at - 1] !== '(') this.bench.meet('js-unknown')
    if (this.#reaches && PROCESS_MODULES.has(text) && text !== 'zx') this.bench.meet('js-processes')
  }

  #name(text: string, at: number): void {
    const isMember = this.words[at - 1] === '[' && this.words[at + 1] === ']'
    if (REMOVES.has(text)) this.bench.meet(this.#removesFolders(text) ? 'deletes-folder' : 'deletes-files')
    else if (UNLINKS.has(text) && (isMember || /Sync$/.test(text))) this.bench.meet('deletes-files')
    else if (STARTS.has(text) && isMember) this.bench.meet('js-processes')
  }

  /** A text that is a path, in a program that can reach files. */
  #path(text: string): void {
    const writes = this.words.some((word) => WRITES_FILES.has(word))
    if (isSecretFile(text)) this.bench.meet('secret-file')
    else if (writes && /^[\w./~-]+$/.test(text)) this.bench.write(text)
  }
}
