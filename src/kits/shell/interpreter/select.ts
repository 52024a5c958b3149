// `select name in words; do …; done`. The parser gets it as a loop over words with a marked name; here it becomes a
// loop that shows the list, reads a line and sets the name.

import { Expander } from './expansion/expander.ts'
import { ExpansionFailure } from './expansion/failure.ts'
import type { Position, Watched } from './position.ts'
import { isSelect, type Loop } from './select-loops.ts'
import type { Command, StepResult } from './shape.ts'
import type { Run } from './words-alone.ts'

type Step = { node: Command; run: Run }

/** Null for any other command. */
export async function runSelect(shell: Watched, position: Position, { node, run }: Step): Promise<StepResult | null> {
  if (!isSelect(node)) return null
  const expander = new Expander(shell, position, run)
  try {
    const words = node.words === null ? argumentsOf(shell) : await wordsOf(expander, node.words)
    if (words.length === 0) return { stdout: '', stderr: '', exitCode: 0 }
    return await shell.executeCommand(loopOf(position, node, words), '', false)
  } catch (error) {
    if (error instanceof ExpansionFailure) return error.result
    throw error
  }
}

function argumentsOf({ ctx }: Watched): string[] {
  const { env } = ctx.state
  return Array.from({ length: Number(env.get('#') ?? 0) }, (_, i) => env.get(String(i + 1)) ?? '')
}

async function wordsOf(expander: Expander, list: NonNullable<Loop['words']>): Promise<string[]> {
  const words: string[] = []
  for (const word of list) words.push(...(await expander.words(word)))
  return words
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The list is shown again after an empty line; at the end of the input the status is 1. */
function loopOf({ parse }: Position, node: Loop, words: readonly string[]): Command {
  const show = `builtin printf %s ${quoted(menuOf(words))} >&2`
  const clauses = words.map((word, i) => `${i + 1}) ${node.variable}=${quoted(word)};;`).join(' ')
  const text = `{ ${show}
while builtin printf %s "\${PS3-#? }" >&2; builtin read || { builtin echo; REPLY=; builtin false; }; do
case $REPLY in '') ${show}; continue;; ${clauses} *) ${node.variable}=;; esac
:
done
case $REPLY in '') builtin false;; esac; }`
  const [group] = parse(text).statements[0]?.pipelines[0]?.commands ?? []
  if (group?.type !== 'Group') throw new Error('the loop of `select` is read as something else')
  const loop = group.body[1]?.pipelines[0]?.commands[0]
  if (loop?.type === 'While') loop.body.splice(1, 1, ...node.body)
  return { ...group, redirections: node.redirections }
}

const WIDTH = 80
const TAB = 8
/** The characters between a number and its word, and between columns. */
const SIGNS = ') '.length
const GAP = 2

/** In columns with the same widths as in bash. */
function menuOf(words: readonly string[]): string {
  const digits = String(words.length).length
  const width = Math.max(...words.map((word) => Array.from(word).length)) + digits + SIGNS + GAP
  const most = Math.max(1, Math.trunc(WIDTH / width))
  let rows = Math.ceil(words.length / most)
  if (rows === 1) rows = Math.ceil(words.length / rows)
  const first = String(rows).length
  let text = ''
  for (let row = 0; row < rows; row++) {
    for (let i = row, at = 0; i < words.length; i += rows, at += width) {
      const word = words[i] ?? ''
      const size = at === 0 ? first : digits
      text += `${String(i + 1).padStart(size)}) ${word}`
      if (i + rows < words.length) text += blanks(at + Array.from(word).length + size + SIGNS, at + width)
    }
    text += '\n'
  }
  return text
}

function blanks(from: number, to: number): string {
  let text = ''
  for (let at = from; at < to; ) {
    const isTab = Math.trunc(to / TAB) > Math.trunc(at / TAB)
    text += isTab ? '\t' : ' '
    at += isTab ? TAB - (at % TAB) : 1
  }
  return text
}
