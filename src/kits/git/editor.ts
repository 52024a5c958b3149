// The editor configured for git, for a message or a list. There is no terminal, so it must be a command that ends by
// itself: `true`, `sed -i …`, a script.

import { fatal, GitFailure } from './failure.ts'
import type { Invocation } from './invocation.ts'
import { readText } from './ref-files.ts'

export type EditorUse = 'message' | 'sequence'

/** Programs that need a terminal. */
const INTERACTIVE = /^(\S*\/)?(n?vim?|vim\.\w+|view|nano|pico|emacs|joe|micro|ed|ex|less|more|code|subl|editor)(\s|$)/

/** The command, or null if none is configured. */
export async function editorFor(git: Invocation, use: EditorUse): Promise<string | null> {
  const sequence = use === 'sequence' ? git.env.GIT_SEQUENCE_EDITOR || (await git.setting('sequence.editor')) : null
  return (
    sequence || git.env.GIT_EDITOR || (await git.setting('core.editor')) || git.env.VISUAL || git.env.EDITOR || null
  )
}

/** Runs the editor on the file and returns its new contents. */
export async function editFile(git: Invocation, path: string, use: EditorUse): Promise<string> {
  const editor = await editorFor(git, use)
  if (editor === null) {
    throw new GitFailure(
      'error: Terminal is dumb, but EDITOR unset\n' +
        (use === 'message'
          ? 'Please supply the message using either -m or -F option.'
          : 'hint: set GIT_SEQUENCE_EDITOR to a command that edits the list, such as "sed -i s/pick/edit/", or to ":".'),
      1,
    )
  }
  if (!/^(:|true)$/.test(editor.trim())) await runEditor(git, editor, path)
  const text = await readText(git.fs, path)
  if (text === null) throw fatal(`could not read '${path}': No such file or directory`)
  return text
}

async function runEditor(git: Invocation, editor: string, path: string): Promise<void> {
  if (INTERACTIVE.test(editor.trim()))
    throw new GitFailure(`error: the editor '${editor}' needs a terminal, which is not available here`, 1)
  if (!git.execute) throw new GitFailure(`error: cannot run the editor '${editor}' outside of a shell`, 1)
  const { stdout, stderr, exitCode } = await git.execute(`${editor} '${path.replaceAll("'", "'\\''")}'`, git.cwd)
  git.out(stdout)
  git.err(stderr)
  if (exitCode !== 0) throw new GitFailure(`error: There was a problem with the editor '${editor}'.`, 1)
}
