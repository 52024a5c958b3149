// The message of a commit that others are squashed into: it grows with each of them, and is edited once at the end.

import { tidyMessage } from '../message-cleanup.ts'
import type { RebaseState } from './rebase-state.ts'

/** The message so far, with comments; and whether the user edits it. */
export interface Melted {
  message: string
  isEdited: boolean
}

const ORDINALS = (count: number) => `# This is the commit message #${count}:`

/** `own` is the message of the commit that others are squashed into, `added` that of the next one. */
export async function meltMessage(
  state: RebaseState,
  { own, added, verb, keeps = false }: { own: string; added: string; verb: 'squash' | 'fixup'; keeps?: boolean },
): Promise<Melted> {
  const fixups = ((await state.read('current-fixups')) ?? '').split('\n').filter((line) => line !== '')
  const count = fixups.length + 2
  const before = (await state.text('message-squash')) ?? `# This is the 1st commit message:\n\n${own}`
  const body = before.replace(/^# This is a combination of \d+ commits\.\n/, '')
  const text =
    verb === 'squash' || keeps
      ? `\n${ORDINALS(count)}\n\n${added}`
      : `\n# The commit message #${count} will be skipped:\n\n${commented(added)}`
  const message = `# This is a combination of ${count} commits.\n${body.replace(/\n*$/, '\n')}${text}`
  const isEdited = verb === 'squash' || fixups.some((line) => line.startsWith('squash'))
  await state.write('message-squash', message)
  await state.append('current-fixups', `${verb}\n`)
  if (isEdited) state.drop('message-fixup')
  else await state.write('message-fixup', keeps ? added : ((await state.text('message-fixup')) ?? own))
  return { message, isEdited }
}

/** The message at the end of the chain if it is not edited. */
export async function meltedMessage(state: RebaseState): Promise<string> {
  const plain = await state.text('message-fixup')
  return plain ?? tidyMessage((await state.text('message-squash')) ?? '', 'strip')
}

export function endFixups(state: RebaseState): void {
  state.drop('message-squash', 'message-fixup', 'current-fixups')
}

function commented(message: string): string {
  return message
    .replace(/\n*$/, '\n')
    .split('\n')
    .map((line, i, all) => (i === all.length - 1 ? line : line === '' ? '#' : `# ${line}`))
    .join('\n')
}
