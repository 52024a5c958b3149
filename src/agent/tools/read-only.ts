// The tools of the agent that only reads. A search is a shell command that the tool writes itself, so that clients show
// it as one; it changes neither the workspace nor the session.

import { z } from 'zod'
import { runScript } from '../../kits/shell/index.ts'
import { runAction } from '../actions.ts'
import type { ActionEvent } from '../events.ts'
import { COMMAND, shownOf } from './bash.ts'
import { LOOK, viewAction } from './editor.ts'
import {
  defineTool,
  errorOutcome,
  type Outcome,
  runOutcome,
  type ToolContext,
  type ToolUnit,
  WholeNumber,
} from './tool.ts'
import { placeOf, view } from './view.ts'

const GREP = `Searches the contents of files with a regular expression and answers with the lines that match, each with its file and
number. Hidden files and those that .gitignore names are left out.`
const GLOB = `Lists the files whose path matches a pattern such as **/*.ts. Hidden files and those that .gitignore names are left out.`
const VIEW = `Shows a file with line numbers (view_range for a part of it), or the entries of a folder, two levels deep.`

const path = z
  .string()
  .min(1)
  .optional()
  .describe('The folder to search, absolute; the working directory when left out.')
const Grep = z.object({
  pattern: z.string().min(1).describe('The regular expression.'),
  path,
  include: z.string().min(1).optional().describe('A pattern for file names, such as *.js or *.{ts,tsx}.'),
})
const Glob = z.object({ pattern: z.string().min(1).describe('The pattern for paths.'), path })
const View = z.object({
  path: z.string().min(1).describe('The absolute path of a file or folder.'),
  view_range: z
    .array(WholeNumber)
    .optional()
    .describe('The first and the last line, counted from 1; -1 is the end of the file.'),
})

const TIMEOUT_MS = 30_000
const MAX_LINES = 500

export const GREP_TOOL: ToolUnit = defineTool<z.infer<typeof Grep>>({
  name: 'grep',
  description: GREP,
  schema: Grep,
  agents: ['ReadOnlyAgent'],
  kinds: [COMMAND],
  repeatable: true,
  isPage: false,
  prepare:
    () =>
    ({ pattern, path: folder, include }) => {
      const words = ['rg', '-n', '-H', ...(include === undefined ? [] : ['-g', include]), '-e', pattern]
      return searching(words, folder)
    },
})

export const GLOB_TOOL: ToolUnit = defineTool<z.infer<typeof Glob>>({
  name: 'glob',
  description: GLOB,
  schema: Glob,
  agents: ['ReadOnlyAgent'],
  kinds: [COMMAND],
  repeatable: true,
  isPage: false,
  prepare:
    () =>
    ({ pattern, path: folder }) =>
      searching(['rg', '--files', '-g', pattern], folder),
})

export const VIEW_TOOL: ToolUnit = defineTool<z.infer<typeof View>>({
  name: 'view',
  description: VIEW,
  schema: View,
  agents: ['ReadOnlyAgent'],
  kinds: [LOOK],
  repeatable: true,
  isPage: false,
  prepare:
    ({ seesImages }) =>
    ({ path: place, view_range: range = null }) => ({
      action: viewAction(place, range),
      run: ({ files }) => view(files, { path: place, range, seesImages }),
    }),
})

function searching(words: readonly string[], folder: string | undefined) {
  const command = [...words, ...(folder === undefined ? [] : [folder])].map(quoted).join(' ')
  return { action: searchAction(command), run: (context: ToolContext) => search({ words, folder, command }, context) }
}

/** Static: written by the tool, not by the model. */
function searchAction(command: string): ActionEvent {
  const action = runAction('agent', command)
  return { ...action, args: { ...action.args, is_static: true } }
}

type Search = { words: readonly string[]; folder: string | undefined; command: string }

async function search({ words, folder, command }: Search, context: ToolContext): Promise<Outcome> {
  const { files: fs, shell, signal } = context
  const place = placeOf(fs, folder ?? shell.cwd)
  if (!place.ok) return errorOutcome(`ERROR: ${place.problem}`)
  const script = `${[...words, place.path].map(quoted).join(' ')} | head -n ${MAX_LINES}`
  const outcome = await runScript({ fs, script, cwd: shell.cwd, env: {}, signal, limits: { timeoutMs: TIMEOUT_MS } })
  const { output, exitCode } = shownOf(outcome)
  const shown = output === '' && exitCode < 2 ? 'Nothing was found.' : output
  return runOutcome({ command, output: shown, exitCode, workingDir: shell.cwd })
}

/** Inside single quotes no character has a special meaning for a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
