// What changed against the repository, file by file, each with its difference and a way back.

import '../conversation/cards.css'
import { useCallback, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { EditCard } from '../conversation/cards.tsx'
import { Loading, SureButton, Told, useAction, useLoaded } from '../settings/fields.tsx'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { type Change, diffOf, listChanges, removeFile, saveText, type Texts, textsOf } from './workspace-api.ts'

const LETTERS = { A: 'New', D: 'Deleted', M: 'Changed', U: 'New' } as const

export function ChangesPane({ id }: { id: string }) {
  const load = useCallback(() => listChanges(id), [id])
  const changes = useLoaded(load)
  // Clients are told by these words that there is nothing to compare with.
  if (changes.problem === 'Not a git repository')
    return <p class="empty">{say('There is no git repository in the workspace.')}</p>
  return (
    <div class="ws-changes">
      <div class="form-actions">
        <button type="button" class="quiet" onClick={changes.reload}>
          {say('Read again')}
        </button>
      </div>
      <Loading loaded={changes}>
        {(found) =>
          found.length === 0 ? (
            <p class="empty">{say('Nothing has changed.')}</p>
          ) : (
            <ul class="rows">
              {found.map((change) => (
                <li key={`${change.status} ${change.path}`}>
                  <ChangedFile id={id} change={change} onReverted={changes.reload} />
                </li>
              ))}
            </ul>
          )
        }
      </Loading>
    </div>
  )
}

type ChangedFileProps = { id: string; change: Change; onReverted: () => void }

function ChangedFile({ id, change: { status, path }, onReverted }: ChangedFileProps) {
  const [texts, setTexts] = useState<Texts | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const reverting = useAction()
  const open = () => {
    textsOf(id, path).then(
      (found) => {
        setTexts(found)
        setProblem(null)
      },
      (error: unknown) => setProblem(messageOf(error)),
    )
  }
  const isNew = status === 'A' || status === 'U'
  const revert = () =>
    reverting.run(async () => {
      if (isNew) await removeFile(id, path)
      else await saveText(id, path, (await textsOf(id, path)).original)
      onReverted()
      return { kind: 'info', text: isNew ? say('The command that deletes it was sent.') : say('It is as it was.') }
    })
  return (
    <details class="ws-change" onToggle={(event) => event.currentTarget.open && open()}>
      <summary>
        <span class={`badge ws-${status}`}>{say(LETTERS[status])}</span> <span class="mono">{path}</span>
      </summary>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {texts !== null && (
        <EditCard entry={{ id: 0, at: '', kind: 'edit', path, diff: diffOf(texts), body: '', result: '' }} />
      )}
      <Told outcome={reverting.outcome} />
      <div class="form-actions">
        <SureButton
          label={isNew ? say('Delete') : say('Revert')}
          question={isNew ? 'Delete this file?' : 'Give up the changes of this file?'}
          busy={reverting.busy}
          onSure={() => void revert()}
        />
      </div>
    </details>
  )
}
