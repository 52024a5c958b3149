// The message of a new commit: given, taken from another commit, prepared by a merge, or written in an editor.

import type { Arguments } from './arguments.ts'
import { editFile, editorFor } from './editor.ts'
import { fatal, GitFailure } from './failure.ts'
import type { Invocation } from './invocation.ts'
import { cleanupOf, tidyMessage } from './message-cleanup.ts'
import { subjectOf } from './message-parts.ts'
import type { Commit } from './objects.ts'
import { readText } from './ref-files.ts'
import { commitId } from './revisions.ts'
import { writeGitFile } from './sequencer/state-files.ts'
import { signOffLine, withTrailer } from './trailers.ts'

export async function messageFor(git: Invocation, options: Arguments, previous: Commit | null): Promise<string> {
  const given = await givenMessage(git, options, previous)
  const isEdited = await isEditedMessage(git, options, given)
  const cleanup = cleanupOf(options.value('cleanup') ?? (await git.setting('commit.cleanup')) ?? 'default', isEdited)
  // The text for an editor is cleaned up after editing.
  let message = await withTrailers(git, options, isEdited ? (given ?? '') : tidyMessage(given ?? '', cleanup))
  if (isEdited) {
    await writeGitFile(git.repo(), 'COMMIT_EDITMSG', message)
    message = tidyMessage(await editFile(git, `${git.repo().gitDir}/COMMIT_EDITMSG`, 'message'), cleanup)
  }
  if (message.trim() === '' && !options.has('allow-empty-message'))
    throw new GitFailure('Aborting commit due to empty commit message.', 1)
  return message
}

/** Without a given message an editor is required, otherwise it is optional. */
async function isEditedMessage(git: Invocation, options: Arguments, given: string | null): Promise<boolean> {
  if (options.has('no-edit')) return false
  if (options.has('edit') || options.has('reedit-message')) return true
  if (['message', 'file', 'reuse-message', 'fixup'].some((name) => options.has(name))) return false
  // The message of a merge or of an earlier commit is used unchanged if there is no editor.
  return given === null || (await editorFor(git, 'message')) !== null
}

async function givenMessage(git: Invocation, options: Arguments, previous: Commit | null): Promise<string | null> {
  const repo = git.repo()
  const own = await ownMessage(git, options)
  const mark = options.value('fixup') ?? options.value('squash')
  if (mark !== null) return markedMessage(git, options, { mark, own })
  if (own !== null) return own
  if (options.has('amend')) return previous?.message ?? ''
  return (await readText(repo.fs, `${repo.gitDir}/MERGE_MSG`)) ?? readText(repo.fs, `${repo.gitDir}/SQUASH_MSG`)
}

/** Each of them is a paragraph that ends with a line end. */
const completed = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

async function ownMessage(git: Invocation, options: Arguments): Promise<string | null> {
  if (options.has('message')) return options.all('message').map(completed).join('\n')
  const file = options.value('file')
  if (file === '-') return git.stdin
  if (file !== null) {
    const text = await readText(git.fs, git.resolve(file))
    if (text === null) throw fatal(`could not read log file '${file}': No such file or directory`)
    return text
  }
  const reused = options.value('reuse-message') ?? options.value('reedit-message')
  return reused === null ? null : (await git.repo().commit(await commitId(git.repo(), reused))).message
}

/** The subject tells `rebase --autosquash` the target commit. */
async function markedMessage(
  git: Invocation,
  options: Arguments,
  { mark, own }: { mark: string; own: string | null },
): Promise<string> {
  if (/^(amend|reword):/.test(mark)) throw fatal(`--fixup=${mark.split(':')[0]}: is not available here`)
  const target = await git.repo().commit(await commitId(git.repo(), mark))
  const subject = `${options.has('fixup') ? 'fixup' : 'squash'}! ${subjectOf(target.message)}`
  return own === null ? `${subject}\n` : `${subject}\n\n${own}`
}

async function withTrailers(git: Invocation, options: Arguments, message: string): Promise<string> {
  const lines = options.all('trailer').map((trailer) => trailer.replace(/^([^:=]+)[:=]\s*/, '$1: '))
  if (options.has('signoff')) lines.unshift(await signOffLine(git))
  return lines.reduce((text, line) => withTrailer(text, line), message)
}
