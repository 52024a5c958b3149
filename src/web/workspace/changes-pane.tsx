// The changes compared with the repository, file by file, each with its diff and a button that reverts it.

import '../conversation/cards.css'
import { useCallback, useMemo, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { Counts, DiffView } from '../conversation/cards.tsx'
import { diffLines } from '../conversation/diff.ts'
import { Loading, OutcomeNotice, SureButton, useAction, useLoaded } from '../settings/fields.tsx'
import { locale, say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { visible } from '../visible.ts'
import { nameOfRequest } from './pull-request.ts'
import { PullRequest } from './pull-request-form.tsx'
import { type Change, diffOf, listChanges, removeFile, saveText, type Texts, textsOf } from './workspace-api.ts'

const LETTERS = { A: 'New', D: 'Deleted', M: 'Changed', U: 'New' } as const

export function ChangesPane({ id, provider }: { id: string; provider: string | null }) {
  const load = useCallback(() => listChanges(id), [id])
  const changes = useLoaded(load)
  const [isAsked, setIsAsked] = useState(false)
  // The service's text if there is no repository to compare with.
  if (changes.problem === 'Not a git repository')
    return <p class="empty">{say('There is no git repository in the workspace.')}</p>
  return (
    <div class="ws-changes">
      <div class="form-actions">
        <button type="button" class="quiet" onClick={changes.reload}>
          {say('Read again')}
        </button>
        <button type="button" aria-expanded={isAsked} onClick={() => setIsAsked(!isAsked)}>
          {say(nameOfRequest(provider))}
        </button>
      </div>
      {isAsked && <PullRequest id={id} onPushed={changes.reload} />}
      <Loading loaded={changes}>
        {(found) =>
          found.length === 0 ? (
            <p class="empty">{say('Nothing has changed.')}</p>
          ) : (
            <ChangeList id={id} changes={found} onReverted={changes.reload} />
          )
        }
      </Loading>
    </div>
  )
}

type ChangeListProps = { id: string; changes: Change[]; onReverted: () => void }

/** From this number on, there is a search field. */
const MANY = 12

function ChangeList({ id, changes, onReverted }: ChangeListProps) {
  const [filter, setFilter] = useState('')
  const shown = changes.filter(({ path }) => path.toLowerCase().includes(filter.trim().toLowerCase()))
  return (
    <>
      <div class="filters">
        <p class="hint">
          {changes.length === 1
            ? say('One changed file')
            : say('{count} changed files', { count: changes.length.toLocaleString(locale) })}
        </p>
        {changes.length > MANY && (
          <input
            type="search"
            aria-label={say('Filter by name')}
            placeholder={say('Filter by name')}
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        )}
      </div>
      {shown.length === 0 && <p class="empty">{say('Nothing found.')}</p>}
      <ul class="rows">
        {shown.map((change) => (
          <li key={`${change.status} ${change.path}`}>
            <ChangedFile id={id} change={change} onReverted={onReverted} />
          </li>
        ))}
      </ul>
    </>
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
      (error: unknown) => setProblem(saidOf(error)),
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
        <span class={`badge ws-${status}`}>{say(LETTERS[status])}</span> <span class="mono">{visible(path)}</span>
      </summary>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {texts !== null && <Difference texts={texts} />}
      <OutcomeNotice outcome={reverting.outcome} />
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

function Difference({ texts }: { texts: Texts }) {
  const diff = useMemo(() => diffOf(texts), [texts])
  const lines = useMemo(() => diffLines(diff), [diff])
  return (
    <div class="ws-diff">
      <Counts lines={lines} />
      <DiffView diff={diff} lines={lines} />
    </div>
  )
}

/** The service's text if the files are too long to compare. */
const saidOf = (error: unknown): string =>
  messageOf(error).startsWith('file too large')
    ? say('The file is too large to be compared here. Download it, or look at it in the terminal.')
    : messageOf(error)
