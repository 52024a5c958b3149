// The interpreter's own parser, for code that analyzes a script without running it.

import { readAgain } from './interpreter/arithmetic/trees.ts'
import { unveil, veiled } from './interpreter/arithmetic/veil.ts'
import { noteSelect } from './interpreter/select-loops.ts'
import type { Script } from './interpreter/shape.ts'

/** The script as the interpreter will run it. Throws the parser's errors for an invalid script. */
export type ParseShell = (text: string) => Script

let parser: Promise<ParseShell> | null = null

/** Loads the interpreter, which is large; afterwards parsing is synchronous. */
export async function loadShellParser(): Promise<ParseShell> {
  const parse = await loadMarkedParser()
  return (text) => {
    const script = parse(text)
    if (text.includes('select')) withPlainNames(script)
    return script
  }
}

/**
 * For code that runs the script: constructs that the parser does not support are marked in the tree
 * (`interpreter/arithmetic/veil.ts`).
 */
export function loadMarkedParser(): Promise<ParseShell> {
  parser ??= openParser()
  return parser
}

/** For analysis, a `select` loop is a loop over words. */
function withPlainNames(root: Script): void {
  const open: object[] = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    noteSelect(node)
    for (const value of Object.values(node)) if (typeof value === 'object' && value !== null) open.push(value)
  }
}

async function openParser(): Promise<ParseShell> {
  const { Bash } = await import('./lazy/just-bash.ts')
  const bash = new Bash({ defenseInDepth: false })
  let parsed: Script = nothing()
  bash.registerTransformPlugin({
    name: 'bellwether-parser',
    transform: ({ ast }) => {
      parsed = ast
      // The returned tree is converted to text again, which is not used.
      return { ast: nothing() }
    },
  })
  const parse: ParseShell = (text) => {
    parsed = nothing()
    bash.transform(untrimmed(veiled(text)))
    return parsed
  }
  return (text) => {
    const script = parse(text)
    unveil(script)
    readAgain(script, parse)
    return script
  }
}

function nothing(): Script {
  return { type: 'Script', statements: [] }
}

/**
 * `transform` removes leading blanks of each line before it parses, unlike when scripts are run. It does not do so
 * inside a here-document, and treats this comment as the start of one.
 */
function untrimmed(text: string): string {
  let end = 'end_of_script'
  while (text.includes(end)) end += '_'
  return `# <<${end}\n${text}`
}
