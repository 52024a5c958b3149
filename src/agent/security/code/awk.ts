// What a program for `awk` runs, writes and reads of the variables.

import type { Bench } from '../bench.ts'
import { isGitInternal, isNetworkDevice, isRunByItself, isSecretFile } from '../paths.ts'
import { isSecretName } from '../variables.ts'

type Token = { readonly kind: 'string' | 'regex' | 'word' | 'sign'; readonly text: string }

const TOKEN = /"(?:[^"\\\n]|\\[\s\S])*"?|#[^\n]*|[A-Za-z_@]\w*|\|&|\|\||&&|>>|>=|<=|==|!=|\d[\w.]*|\S/y
const REGEX = /\/(?:[^/\\\n]|\\.)+\//y
/** After these a `/` divides. */
const OPERAND = /^[\w)\]$"]/

export function judgeAwk(program: string, bench: Bench): void {
  const tokens = tokensOf(program)
  for (const [at, token] of tokens.entries()) {
    bench.findings.spend()
    if (token.kind === 'word') wordAt(tokens, at, bench)
    else if (token.kind === 'string') {
      stringAt(tokens, at, bench)
    } else if (token.text === '|' || token.text === '|&') pipeAt(tokens, at, bench)
    else if (token.text === '>' || token.text === '>>') writeAt(tokens, at, bench)
    else if (token.text === '<') readAt(tokens, at, bench)
  }
}

function tokensOf(program: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < program.length; ) {
    const last = tokens.at(-1)
    const isRegex =
      program[at] === '/' &&
      (last === undefined || last.kind === 'sign' ? !/^[)\]$]$/.test(last?.text ?? '') : !OPERAND.test(last.text))
    const pattern = isRegex ? REGEX : TOKEN
    pattern.lastIndex = at
    let text = pattern.exec(program)?.[0] ?? ''
    if (text === '' && isRegex) {
      TOKEN.lastIndex = at
      text = TOKEN.exec(program)?.[0] ?? ''
    } else if (isRegex) {
      tokens.push({ kind: 'regex', text })
      at += text.length
      continue
    }
    if (text === '') {
      at++
      continue
    }
    at += text.length
    if (text.startsWith('#')) continue
    if (text.startsWith('"')) tokens.push({ kind: 'string', text: unquoted(text) })
    else tokens.push({ kind: /^[A-Za-z_@]/.test(text) ? 'word' : 'sign', text })
  }
  return tokens
}

const unquoted = (text: string) =>
  text.replace(/^"|"$/g, '').replace(/\\(x[\da-f]{1,2}|[0-7]{1,3}|.)/gi, (_, spelled: string) => {
    if (/^x./i.test(spelled)) return String.fromCharCode(Number.parseInt(spelled.slice(1), 16))
    if (/^[0-7]/.test(spelled)) return String.fromCharCode(Number.parseInt(spelled, 8) & 255)
    return { n: '\n', t: '\t', r: '\r' }[spelled] ?? spelled
  })

function wordAt(tokens: readonly Token[], at: number, bench: Bench): void {
  const text = tokens[at]?.text ?? ''
  if (text === 'system') runAt(tokens, at + 2, bench)
  else if (text.startsWith('@')) bench.meet('unknown-code')
  else if (text === 'ENVIRON') environment(tokens, at, bench)
}

/** A name of a file may be kept, handed on, or put together of texts that stand side by side. */
function stringAt(tokens: readonly Token[], at: number, bench: Bench): void {
  const { text = '' } = tokens[at] ?? {}
  if (/^\/inet[46]?\//.test(text)) bench.meet('network-device')
  const next = tokens[at + 1]
  for (const name of next?.kind === 'string' ? [text, text + next.text] : [text]) {
    if (/\s/.test(name)) continue
    if (isSecretFile(name)) bench.meet('secret-file')
    if ((isGitInternal(name) || isRunByItself(name)) && tokens.some((token) => /^>>?$|^\|/.test(token.text)))
      bench.write(name)
  }
}

/** The command that begins here: a text by itself is known, one that is put together is not. */
function runAt(tokens: readonly Token[], at: number, bench: Bench): void {
  const first = tokens[at]
  if (first?.kind === 'string') bench.script(first.text, { kind: 'pipe', from: { isEmpty: false, words: [] } })
  const after = tokens[at + 1]?.text ?? ';'
  if (first?.kind !== 'string' || !/^([;})>\n]|\|&?|getline|printf?|next|exit|close)$/.test(after))
    bench.meet('unknown-code')
}

/** `print … | "command"`, or `"command" | getline`. */
function pipeAt(tokens: readonly Token[], at: number, bench: Bench): void {
  if (tokens[at + 1]?.text !== 'getline') {
    runAt(tokens, at + 1, bench)
    return
  }
  const before = tokens[at - 1]
  const isAlone =
    before?.kind === 'string' && (at < 2 || /^[({;!]$|^(while|if|BEGIN|END)$/.test(tokens[at - 2]?.text ?? ''))
  if (before?.kind === 'string') bench.script(before.text, { kind: 'inherited' })
  if (!isAlone) bench.meet('unknown-code')
}

function writeAt(tokens: readonly Token[], at: number, bench: Bench): void {
  const target = tokens[at + 1]
  if (target?.kind === 'string') bench.write(target.text)
  const [word, text] = [tokens[at - 2], tokens[at - 1]]
  if (word?.text === 'printf' && text?.kind === 'string' && text.text === '') bench.meet('empties-file')
}

function readAt(tokens: readonly Token[], at: number, bench: Bench): void {
  const from = tokens[at + 1]
  if (from?.kind !== 'string') return
  if (isSecretFile(from.text)) bench.meet('secret-file')
  if (isNetworkDevice(from.text)) bench.meet('network-device')
}

function environment(tokens: readonly Token[], at: number, bench: Bench): void {
  if (tokens[at - 1]?.text === 'in' || tokens[at + 1]?.text !== '[') {
    bench.meet('all-variables')
    return
  }
  const name = tokens[at + 2]
  if (name?.kind !== 'string' || tokens[at + 3]?.text !== ']') bench.meet('indirect-variable')
  else if (isSecretName(name.text, bench.findings.secretNames)) bench.meet('secret-variable')
}
