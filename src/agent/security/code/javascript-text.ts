// What the words and texts of a JavaScript program say once their escapes are read.

import type { Token } from '../../../kits/node-program/index.ts'

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
export function stringOf({ text }: Token): string {
  return unescaped(text.replace(/^['"`}]/, '').replace(/(['"`]|\$\{)$/, ''))
}

/** A word or sign as it is meant; of a text what it says. */
export function wordOf(token: Token): string {
  if (token.kind === 'string') return stringOf(token)
  return token.kind === 'word' ? unescaped(token.text) : token.text
}

const MAX_TEXTS = 400

/** The texts of a program; those that are added, and those that are joined as parts of a path, as one too. */
export function* foldedStrings(tokens: readonly Token[]): Generator<string> {
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
  // Not in the middle of a row, which has been given already.
  if (tokens[from - 1]?.text === sign && from > 1 && isText(tokens[from - 2] ?? NONE)) return
  const parts = [stringOf(tokens[from] ?? NONE)]
  for (let at = from + 1; tokens[at]?.text === sign && isText(tokens[at + 1] ?? NONE); at += 2) {
    parts.push(stringOf(tokens[at + 1] ?? NONE))
  }
  if (parts.length > 1) yield parts.join(between)
}

const NONE: Token = { kind: 'punctuator', text: '', start: 0, end: 0, onNewLine: false, depth: 0, functions: 0 }

// The names by which a JavaScript program reaches files, processes and the network.

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** Functions of `fs`, with and without `Sync`. */
export const REMOVES = words('rm rmdir rmSync rmdirSync rimraf rimrafSync')
export const UNLINKS = words('unlink unlinkSync truncate truncateSync ftruncate ftruncateSync')
export const CHANGES_MODES = words(
  'chmod chmodSync chown chownSync lchmod lchmodSync lchown lchownSync fchmod fchmodSync fchown fchownSync',
)
export const WRITES_FILES = words(
  'writeFile writeFileSync appendFile appendFileSync createWriteStream copyFile copyFileSync cp cpSync rename renameSync symlink symlinkSync link linkSync mkdir mkdirSync open openSync mkdtemp mkdtempSync outputFile',
)
export const EMPTIES = words('writeFile writeFileSync')

export const FILE_MODULES = words('fs fs/promises node:fs node:fs/promises fs-extra graceful-fs')
export const PROCESS_MODULES = words('child_process node:child_process execa cross-spawn shelljs zx node-pty')
export const NETWORK_MODULES = words(
  'net node:net http node:http https node:https http2 node:http2 tls node:tls dgram node:dgram dns node:dns dns/promises node:dns/promises undici axios node-fetch got ws request superagent ssh2',
)
/** They run made text, or give what nothing is known of. */
export const OPEN_MODULES = words(
  'vm node:vm vm2 worker_threads node:worker_threads cluster node:cluster module node:module inspector node:inspector repl node:repl v8 node:v8 wasi node:wasi process node:process',
)
/** Functions of `child_process` that no other object of daily use has. */
export const STARTS = words('execSync spawnSync execFileSync execFile spawn fork')

export const NETWORK_NAMES = words('fetch XMLHttpRequest WebSocket EventSource')
export const EVALUATES = words('eval Function WebAssembly')

/** Members of `process` that tell something or end the program. */
export const PLAIN_PROCESS = words(
  'argv argv0 cwd exit exitCode version versions platform arch stdout stderr stdin hrtime uptime memoryUsage nextTick on once pid ppid title release cpuUsage emitWarning features config execArgv execPath',
)
/** Objects from which everything can be reached by a computed name. */
export const ROOTS = words('fs process globalThis global module require fsp fsPromises child_process')
