// The options of bash's own commands. The interpreter ignores any other option, or treats it as an operand; here it is
// an error that names it, with bash's message.

import type { StepResult } from './shape.ts'

const MISUSE = 2

/** The letters; a colon after one means that it takes a value. */
type BuiltinSpec = { letters: string; usage: string }

const COMPLETIONS =
  '[-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix]'

const KNOWN: Readonly<Record<string, BuiltinSpec>> = {
  alias: { letters: 'p', usage: '[-p] [name[=value] ... ]' },
  builtin: { letters: '', usage: '[shell-builtin [arg ...]]' },
  cd: { letters: 'LPe', usage: '[-L|[-P [-e]] [-@]] [dir]' },
  command: { letters: 'pVv', usage: '[-pVv] command [arg ...]' },
  compgen: { letters: 'abcdefgjksuvo:A:G:W:F:C:X:P:S:', usage: `[-abcdefgjksuv] ${COMPLETIONS} [word]` },
  complete: {
    letters: 'abcdefgjksuvprDEIo:A:G:W:F:C:X:P:S:',
    usage: `[-abcdefgjksuv] [-pr] [-DEI] ${COMPLETIONS} [name ...]`,
  },
  disown: { letters: 'har', usage: '[-h] [-ar] [jobspec ... | pid ...]' },
  enable: { letters: 'adnpsf:', usage: '[-a] [-dnps] [-f filename] [name ...]' },
  eval: { letters: '', usage: '[arg ...]' },
  export: { letters: 'fnp', usage: '[-fn] [name[=value] ...] or export -p' },
  hash: { letters: 'lrp:dt', usage: '[-lr] [-p pathname] [-dt] [name ...]' },
  help: { letters: 'dms', usage: '[-dms] [pattern ...]' },
  history: {
    letters: 'acd:npsrw',
    usage: '[-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]',
  },
  jobs: { letters: 'lnprsx', usage: '[-lnprs] [jobspec ...] or jobs -x command [args]' },
  pwd: { letters: 'LP', usage: '[-LP]' },
  read: {
    letters: 'ersa:d:i:n:N:p:t:u:',
    usage: '[-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]',
  },
  readonly: { letters: 'aAfp', usage: '[-aAf] [name[=value] ...] or readonly -p' },
  set: { letters: 'abefhkmnptuvxBCEHPTo:', usage: '[-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]' },
  source: { letters: '', usage: 'filename [arguments]' },
  suspend: { letters: 'f', usage: '[-f]' },
  times: { letters: '', usage: '' },
  type: { letters: 'afptP', usage: '[-afptP] name [name ...]' },
  umask: { letters: 'pS', usage: '[-p] [-S] [mode]' },
  unalias: { letters: 'a', usage: '[-a] name [name ...]' },
  unset: { letters: 'fvn', usage: '[-f] [-v] [-n] [name ...]' },
  wait: { letters: 'fnp:', usage: '[-fn] [-p var] [id ...]' },
}

/** Options of bash that this shell does not support: known letters, which are refused by name. */
const NOT_HERE: Readonly<Record<string, string>> = {
  compgen: 'bcegjksu',
  help: 'dm',
}

/** Null for arguments without an unknown or unsupported option. */
export function unknownOption(name: string, args: readonly string[]): StepResult | null {
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined
  if (!known) return null
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--' || arg === '-' || !arg.startsWith('-')) return null
    const read = readLetters(arg.slice(1), known.letters)
    if (read.unknown !== null) return misuse(name, read.unknown, known.usage)
    const absent = read.letters.find((letter) => NOT_HERE[name]?.includes(letter))
    if (absent !== undefined) return failed(`bash: ${name}: -${absent}: not available here\n`)
    if (read.takesNext) at++
  }
  return null
}

type Letters = { letters: string[]; unknown: string | null; takesNext: boolean }

/** The text after a letter that takes a value is that value. */
function readLetters(word: string, known: string): Letters {
  const letters: string[] = []
  for (let at = 0; at < word.length; at++) {
    const letter = word.charAt(at)
    const place = letter === ':' ? -1 : known.indexOf(letter)
    if (place < 0) return { letters, unknown: letter, takesNext: false }
    letters.push(letter)
    if (known[place + 1] === ':') return { letters, unknown: null, takesNext: at === word.length - 1 }
  }
  return { letters, unknown: null, takesNext: false }
}

function misuse(name: string, letter: string, usage: string): StepResult {
  return failed(`bash: ${name}: -${letter}: invalid option\n${name}: usage: ${`${name} ${usage}`.trim()}\n`)
}

const failed = (stderr: string): StepResult => ({ stdout: '', stderr, exitCode: MISUSE })
