// The commands in the documents: those of each ```sh block, and inline code in sentences.

import { filesIn, textOf } from './source-tree.ts'

export const COMMAND_PAGES = [
  'README.md',
  'README.zh.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...filesIn('docs').filter((path) => path.endsWith('.md')),
]

export type ShellBlock = {
  readonly page: string
  /** Its lines without the indentation of the block. */
  readonly text: string
  /** One entry per command line: continued lines are joined, comments and empty lines left out. */
  readonly commands: readonly string[]
}

const BLOCK = /^( *)```(\w+)\n([\s\S]*?)^\1```$/gm
const SHELL_NAMES = new Set(['sh', 'bash', 'shell', 'console'])

/** Every block in the language of a shell, in the order of the pages. */
export function shellBlocks(): ShellBlock[] {
  return COMMAND_PAGES.flatMap((page) =>
    [...textOf(page).matchAll(BLOCK)]
      .filter(([, , language = '']) => SHELL_NAMES.has(language))
      .map(([, indent = '', , body = '']) => {
        const text = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
        return { page, text, commands: commandsIn(text) }
      }),
  )
}

function commandsIn(text: string): string[] {
  return text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
}

/** Commands of this repository in inline code; commands for an agent's shell are not included. */
export function inlineCommands(): { page: string; command: string }[] {
  return COMMAND_PAGES.flatMap((page) =>
    [
      ...textOf(page).matchAll(
        /`((?:[A-Z_]+=\S+ )*(?:npm (?:start|test|run [\w:-]+)|npx wrangler|node scripts\/)[^`]*)`/g,
      ),
    ]
      .map(([, command = '']) => ({ page, command }))
      // There `npm run` is part of the rules for agents' scripts, not a command of this repository.
      .filter(({ page }) => page !== 'docs/security.md'),
  )
}
