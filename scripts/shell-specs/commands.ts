// The small programs that the spec files call; in their own project they are Python scripts.

import type { ShellCommand } from '../../src/kits/shell/index.ts'

type Call = Parameters<ShellCommand['run']>[1]

const said = (stdout: string, stderr = '') => ({ stdout, stderr, exitCode: 0 })
const FIRST_PLAIN = 0x20
const DELETE = 0x7f

export const SPEC_COMMANDS: ShellCommand[] = [
  { name: 'argv.py', run: async (args) => said(`[${args.map(quoted).join(', ')}]\n`) },
  { name: 'printenv.py', run: async (args, { env }) => said(args.map((name) => `${env[name] ?? 'None'}\n`).join('')) },
  { name: 'stdout_stderr.py', run: async ([out = 'STDOUT']) => said(`${out}\n`, 'STDERR\n') },
  {
    name: 'read_from_fd.py',
    run: async (args, call) => said(args.map((fd) => `${fd}: ${readFrom(fd, call)}\n`).join('')),
  },
]

/** Commands of ours get no other descriptor than the standard input. */
function readFrom(fd: string, { stdin }: Call): string {
  return fd === '0' ? stdin.replace(/\n$/, '') : ''
}

/** As Python 2 shows a string: bytes beyond ASCII by their numbers, in single quotes unless only those are in it. */
function quoted(text: string): string {
  const shown = Array.from(new TextEncoder().encode(text), shownByte).join('')
  return text.includes("'") && !text.includes('"') ? `"${shown}"` : `'${shown.replaceAll("'", "\\'")}'`
}

function shownByte(byte: number): string {
  const char = String.fromCharCode(byte)
  const named = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }[char]
  if (named !== undefined) return named
  return byte < FIRST_PLAIN || byte >= DELETE ? `\\x${byte.toString(16).padStart(2, '0')}` : char
}
