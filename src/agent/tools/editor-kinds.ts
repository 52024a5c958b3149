// What the editor does, as events tell of it: it looks at a file, or changes it.

import type { PromptPart } from '../../llm/model.ts'
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
import { AGENT } from './define-tool.ts'

// How an action on one file of the workspace is judged: by the file.

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

export const EDITOR = 'str_replace_editor'

/** At a file or a folder. */
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

export const CHANGE: ActionKind = {
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

/** A whole file at once, as recordings from elsewhere have it. */
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
