// The editor of the agent: shows files, changes them fragment by fragment, and shows what each change did.

import { z } from 'zod'
import { hunksOf } from '../../kits/git/index.ts'
import type { PromptPart } from '../../llm/model.ts'
import { textIfAny } from '../../workspace/diff.ts'
import { type FileSystem, isFileError } from '../../workspace/file-system.ts'
import type { ActionEvent, ObservationEvent } from '../events.ts'
import {
  isGitConfig,
  isGitInternal,
  isOutside,
  isRunByItself,
  isSecretFile,
  isStartupFile,
  isToldLater,
} from '../security/paths.ts'
import {
  type ActionKind,
  always,
  contentOf,
  givenOf,
  plainText,
  type Risk,
  type RiskRule,
  textPart,
  withoutRemarks,
} from './action-kind.ts'
import {
  applied,
  type Change,
  forgetLast,
  insertAfter,
  lineAt,
  rememberChange,
  replaceOnce,
  takeBack,
} from './edit-text.ts'
import {
  AGENT,
  asError,
  BadCall,
  defineTool,
  type Outcome,
  type PreparedCall,
  type ToolContext,
  type ToolUnit,
  WholeNumber,
} from './tool.ts'
import { MAX_TEXT_BYTES, numbered, placeOf, plainLines, tooLarge, view } from './view.ts'

// The editor's actions as events: it reads a file, or changes it.

// How an action on a single file of the workspace is judged: by the file.

const about = 'editor'

const isPrecious = (path: string) =>
  isGitInternal(path) || isSecretFile(path) || isStartupFile(path) || isRunByItself(path)

const OTHER_FILE: RiskRule = {
  risk: 'low',
  about,
  says: 'reads or changes any other file of the workspace',
  given: always,
}

const RISK_OF_CHANGING: Risk = {
  by: 'rules',
  rules: [
    {
      risk: 'high',
      about,
      says: 'changes a file inside `.git`, a hook, a script that the service runs by itself, a file that is named like one with secrets, or one outside of the workspace and /tmp',
      given: ({ places }) => places.some((place) => isPrecious(place) || isOutside(place)),
    },
    {
      risk: 'medium',
      about,
      says: 'changes what agents are told in conversations to come: `.bellwether/microagents` and `.openhands`',
      given: ({ places }) => places.some(isToldLater),
    },
    OTHER_FILE,
  ],
}

const RISK_OF_READING: Risk = {
  by: 'rules',
  rules: [
    {
      risk: 'high',
      about,
      says: 'reads a file that is named like one with secrets',
      given: ({ places }) => places.some(isSecretFile),
    },
    {
      risk: 'medium',
      about,
      says: "reads git's settings, which may hold a token",
      given: ({ places }) => places.some(isGitConfig),
    },
    OTHER_FILE,
  ],
}

const EDITOR = 'str_replace_editor'

/** Reads a file or a folder. */
export const LOOK: ActionKind = {
  action: 'read',
  observation: 'read',
  risk: RISK_OF_READING,
  asks: () => 'looks',
  view: ({ path }) => `Reading file: ${String(path ?? '')}`,
  ends: null,
  modelText: lookedAt,
  replay: (args) => ({ name: EDITOR, arguments: { command: 'view', ...givenOf(args, ['path', 'view_range']) } }),
  sameAction: withoutRemarks,
  sameOutcome: contentOf,
}

const CHANGE: ActionKind = {
  action: 'edit',
  observation: 'edit',
  risk: RISK_OF_CHANGING,
  asks: () => 'by-risk',
  view: ({ path }) => `Editing file: ${String(path ?? '')}`,
  ends: null,
  modelText: plainText,
  replay: (args) => ({
    name: EDITOR,
    arguments: givenOf(args, ['command', 'path', 'file_text', 'old_str', 'new_str', 'insert_line']),
  }),
  sameAction: withoutRemarks,
  sameOutcome: contentOf,
}

/** Writes a whole file, as recordings of other services contain it. */
export const WRITE: ActionKind = {
  ...CHANGE,
  action: 'write',
  observation: 'write',
  view: ({ path }) => `Writing file: ${String(path ?? '')}`,
  replay: ({ path, content }) => ({ name: EDITOR, arguments: { command: 'create', path, file_text: content } }),
}

export function viewAction(path: string, range: readonly number[] | null): ActionEvent {
  const place = { path, start: 0, end: -1, impl_source: 'oh_aci', ...(range === null ? {} : { view_range: range }) }
  return { source: AGENT, message: `Reading file: ${path}`, action: LOOK.action, args: { ...place, thought: '' } }
}

const IMAGE_URL = /^data:image\/[\w.+-]+;base64,/

function lookedAt({ content, extras }: ObservationEvent): PromptPart[] {
  if (!IMAGE_URL.test(content)) return [textPart(content || 'The file is empty.')]
  return [textPart(`The image ${String(extras.path)}:`), { type: 'image', url: content }]
}

const DESCRIPTION = `Shows, creates and changes text files of the workspace. Paths are absolute: /workspace/...

* view: a file with line numbers (view_range for a part of it), or the entries of a folder, two levels deep. Pictures are
  shown where the model sees pictures.
* create: a new file with file_text. Folders on the way are made. A file that is there already is never overwritten.
* str_replace: replaces old_str by new_str. old_str has to be exactly what stands in the file, blanks included, and has to
  occur once: take a few lines around the place if need be. Leave new_str out to delete.
* insert: puts new_str after line insert_line; 0 is before the first line.
* undo_edit: takes back the last change that this tool made to the file.`

const Arguments = z.object({
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'undo_edit']).describe('What to do.'),
  path: z.string().min(1).describe('The absolute path of a file or folder, such as /workspace/file.js.'),
  file_text: z.string().optional().describe('For create: the whole text of the file.'),
  old_str: z.string().optional().describe('For str_replace: what to replace, exactly as it stands in the file.'),
  new_str: z.string().optional().describe('For str_replace: what takes its place. For insert: what to insert.'),
  insert_line: WholeNumber.optional().describe('For insert: the number of the line to insert after.'),
  view_range: z
    .array(WholeNumber)
    .optional()
    .describe('For view: the first and the last line, counted from 1; -1 as the last is the end of the file.'),
})
type Arguments = z.infer<typeof Arguments>

export const EDITOR_TOOL: ToolUnit = defineTool<Arguments>({
  name: EDITOR,
  description: DESCRIPTION,
  schema: Arguments,
  agents: ['CodeActAgent'],
  kinds: [CHANGE, LOOK],
  repeatable: false,
  isPage: false,
  prepare:
    ({ seesImages }) =>
    (args) =>
      prepared(args, seesImages),
})

function prepared(args: Arguments, seesImages: boolean): PreparedCall {
  if (args.command === 'view') {
    const { path, view_range: range = null } = args
    return { action: viewAction(path, range), run: ({ files }) => view(files, { path, range, seesImages }) }
  }
  const edit = editOf(args)
  return { action: editAction(args), run: (context) => runEdit(edit, context) }
}

function editAction({ command, path, ...given }: Arguments): ActionEvent {
  const { file_text, old_str, new_str, insert_line } = given
  const args = {
    path,
    command,
    ...(file_text === undefined ? {} : { file_text }),
    ...(old_str === undefined ? {} : { old_str }),
    ...(new_str === undefined ? {} : { new_str }),
    ...(insert_line === undefined ? {} : { insert_line }),
    content: '',
    start: 1,
    end: -1,
    thought: '',
    impl_source: 'oh_aci',
  }
  return { source: AGENT, message: '', action: CHANGE.action, args }
}

type Edit =
  | { kind: 'create'; path: string; text: string }
  | { kind: 'replace'; path: string; old: string; now: string }
  | { kind: 'insert'; path: string; line: number; text: string }
  | { kind: 'undo'; path: string }

function editOf({ command, path, ...given }: Arguments): Edit {
  const needed = <T>(value: T | undefined, name: string): T => {
    if (value === undefined) throw new BadCall(`The command ${command} needs ${name}. Nothing was changed.`)
    return value
  }
  switch (command) {
    case 'create':
      return { kind: 'create', path, text: needed(given.file_text, 'file_text') }
    case 'insert':
      return {
        kind: 'insert',
        path,
        line: needed(given.insert_line, 'insert_line'),
        text: needed(given.new_str, 'new_str'),
      }
    case 'undo_edit':
      return { kind: 'undo', path }
    default: {
      const old = needed(given.old_str, 'old_str')
      const now = given.new_str ?? ''
      if (old === '') throw new BadCall('old_str is empty. Use insert to add text. Nothing was changed.')
      if (old === now) throw new BadCall('old_str and new_str are the same. Nothing was changed.')
      return { kind: 'replace', path, old, now }
    }
  }
}

async function runEdit(edit: Edit, context: ToolContext): Promise<Outcome> {
  try {
    return await edited(edit, context)
  } catch (error) {
    if (!isFileError(error)) throw error
    return refused(edit.path, error.message)
  }
}

async function edited(edit: Edit, context: ToolContext): Promise<Outcome> {
  const { files } = context
  const place = placeOf(files, edit.path)
  if (!place.ok) return refused(edit.path, place.problem)
  const { path, stat } = place
  if (edit.kind === 'create') {
    if (stat !== null) return refused(path, `There is something at ${path} already; create never overwrites.`)
    return create(path, edit.text, context)
  }
  if (stat === null) return refused(path, `There is no file ${path}.`)
  if (stat.kind === 'directory') return refused(path, `${path} is a folder.`)
  if (stat.sizeBytes > MAX_TEXT_BYTES) return refused(path, tooLarge(path, stat.sizeBytes))
  const text = textIfAny(await files.read(path))
  if (text === null) return refused(path, `${path} is not a text file (UTF-8 without NUL).`)
  if (edit.kind === 'undo') return undo(path, text, context)
  const changed =
    edit.kind === 'replace' ? replaceOnce(text, edit.old, edit.now) : insertAfter(text, edit.line, edit.text)
  if (!changed.ok) return refused(path, changed.problem)
  const after = applied(text, changed.change)
  if (after === text) return refused(path, 'The change would leave the file as it is.')
  await writeText(files, path, after)
  rememberChange(context, path, { change: changed.change, after })
  return told(`The file ${path} has been changed.`, { path, text, after, change: changed.change })
}

async function create(path: string, text: string, context: ToolContext): Promise<Outcome> {
  context.files.makeDirectory(path.slice(0, path.lastIndexOf('/')) || '/', { recursive: true })
  await writeText(context.files, path, text)
  rememberChange(context, path, { change: null, after: text })
  return {
    source: AGENT,
    message: `I edited the file ${path}.`,
    observation: CHANGE.observation,
    content: `The file ${path} has been created (${plainLines(text).length} lines).`,
    extras: {
      path,
      prev_exist: false,
      old_content: '',
      new_content: text,
      impl_source: 'oh_aci',
      diff: diffOf(path, null, text),
    },
  }
}

async function undo(path: string, text: string, context: ToolContext): Promise<Outcome> {
  const back = takeBack(context, path, text)
  if (!back.ok) return refused(path, back.problem)
  if (back.text === null) context.files.remove(path)
  else await writeText(context.files, path, back.text)
  forgetLast(context, path)
  if (back.text !== null) {
    return told(`The last change of ${path} has been taken back.`, {
      path,
      text,
      after: back.text,
      change: back.change,
    })
  }
  const outcome = told(`${path} has been removed again: the change taken back had created it.`, {
    path,
    text,
    after: '',
    change: back.change,
  })
  return { ...outcome, extras: { ...outcome.extras, diff: diffOf(path, text, null) } }
}

/** For a link, the file that it leads to. */
async function writeText(files: FileSystem, path: string, text: string): Promise<void> {
  await files.write(path, new TextEncoder().encode(text.toWellFormed()))
}

const LINES_AROUND = 4

type AppliedEdit = { path: string; text: string; after: string; change: Change }

function told(sentence: string, { path, text, after, change }: AppliedEdit): Outcome {
  const lines = plainLines(after)
  const first = Math.max(0, lineAt(after, change.at) - 1 - LINES_AROUND)
  const end = lineAt(after, change.at + change.inserted.length) + LINES_AROUND
  const snippet = after === '' ? '' : `\nLines around it:\n${numbered(lines.slice(first, end), first + 1)}`
  return {
    source: AGENT,
    message: `I edited the file ${path}.`,
    observation: CHANGE.observation,
    content: `${sentence}${snippet}`,
    extras: {
      path,
      prev_exist: true,
      // The fragments, not the whole files.
      old_content: change.removed,
      new_content: change.inserted,
      impl_source: 'oh_aci',
      diff: diffOf(path, text, after),
    },
  }
}

function refused(path: string, problem: string): Outcome {
  return {
    source: AGENT,
    message: `I edited the file ${path}.`,
    observation: CHANGE.observation,
    content: asError(problem),
    extras: { path, prev_exist: false, impl_source: 'oh_aci' },
  }
}

/** Null for a side without a file. */
function diffOf(path: string, before: string | null, after: string | null): string {
  const name = path.slice(1)
  const head = `--- ${before === null ? '/dev/null' : `a/${name}`}\n+++ ${after === null ? '/dev/null' : `b/${name}`}\n`
  return head + hunksOf(before ?? '', after ?? '', { context: 3 })
}
