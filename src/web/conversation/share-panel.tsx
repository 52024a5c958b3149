// The links to a conversation: create with a choice of contents, list, revoke.

import { useState } from 'preact/hooks'
import { messageOf, request, sendJson, zipAddress } from '../api.ts'
import { clockTime } from '../format.ts'
import { CopyButton } from '../markdown.tsx'
import { say } from '../texts.ts'
import { Notice, useAnswer } from '../ui.tsx'

type Share = { share_id: string; created_at: string; expires_at: string; with_files: boolean; with_hidden: boolean }
type NewShare = Share & { path: string }

const TIMES = [
  [24, '1 day'],
  [168, '1 week'],
  [720, '30 days'],
] as const

export function SharePanel({ id, title }: { id: string; title: string }) {
  const path = `/api/conversations/${encodeURIComponent(id)}/shares`
  const { found, problem, setProblem, again } = useAnswer(() => request<{ shares: Share[] }>(path), [path])
  const [made, setMade] = useState<NewShare | null>(null)
  const failed = (error: unknown) => setProblem(messageOf(error))
  const revoke = async (shareId: string) => {
    try {
      await request(`${path}/${encodeURIComponent(shareId)}`, { method: 'DELETE' })
      if (made?.share_id === shareId) setMade(null)
      again()
    } catch (error) {
      failed(error)
    }
  }
  const make = async (choices: Choices) => {
    try {
      setMade(await request<NewShare>(path, sendJson('POST', choices)))
      setProblem(null)
      again()
    } catch (error) {
      failed(error)
    }
  }
  return (
    <>
      <p class="hint">
        {say('Whoever has the link can read this conversation until the link ends. They cannot change anything.')}
      </p>
      <MakeForm onMake={make} />
      {made !== null && <MadeLink made={made} />}
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      <ul class="share-list">
        {found?.shares.map((share) => (
          <ShareRow key={share.share_id} share={share} onRevoke={() => void revoke(share.share_id)} />
        ))}
      </ul>
      <Copies id={id} title={title} />
    </>
  )
}

const ShareRow = ({ share, onRevoke }: { share: Share; onRevoke: () => void }) => (
  <li>
    <span>
      {say('until {time}', { time: clockTime(share.expires_at) })}
      {share.with_files && <span class="badge">{say('with files')}</span>}
      {share.with_hidden && <span class="badge">{say('with hidden events')}</span>}
    </span>
    <button type="button" class="quiet" onClick={onRevoke}>
      {say('Take back')}
    </button>
  </li>
)

/** Downloads for the user. The events can be replayed with `replay_json` of a new conversation. */
const Copies = ({ id, title }: { id: string; title: string }) => (
  <p class="share-copies">
    <span class="hint">{say('A copy to keep:')}</span>
    <a href={`/api/conversations/${encodeURIComponent(id)}/trajectory`} download={`${title.slice(0, 80)}.json`}>
      {say('Events as JSON')}
    </a>
    <a href={zipAddress(id, null)} download>
      {say('Download as ZIP')}
    </a>
  </p>
)

type Choices = { expires_in_hours: number; with_files: boolean; with_hidden: boolean }

function MakeForm({ onMake }: { onMake: (choices: Choices) => Promise<void> }) {
  const [hours, setHours] = useState(168)
  const [withFiles, setWithFiles] = useState(false)
  const [withHidden, setWithHidden] = useState(false)
  const [isBusy, setIsBusy] = useState(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setIsBusy(true)
    await onMake({ expires_in_hours: hours, with_files: withFiles, with_hidden: withHidden })
    setIsBusy(false)
  }
  return (
    <form class="share-form" onSubmit={(event) => void submit(event)}>
      <label class="choice">
        <span>{say('Ends after')}</span>
        <select value={String(hours)} onChange={(event) => setHours(Number(event.currentTarget.value))}>
          {TIMES.map(([value, name]) => (
            <option key={value} value={String(value)}>
              {say(name)}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input type="checkbox" checked={withFiles} onChange={(event) => setWithFiles(event.currentTarget.checked)} />
        {say('with files')}
      </label>
      <label class="check">
        <input type="checkbox" checked={withHidden} onChange={(event) => setWithHidden(event.currentTarget.checked)} />
        {say('with hidden events')}
      </label>
      <button type="submit" class="primary" disabled={isBusy}>
        {say('Make a link')}
      </button>
    </form>
  )
}

function MadeLink({ made }: { made: NewShare }) {
  const address = `${location.origin}${made.path}`
  return (
    <div class="made-link">
      <input readOnly aria-label={say('The link')} value={address} onFocus={(event) => event.currentTarget.select()} />
      <CopyButton text={address} />
      <p class="hint">{say('It is shown this once.')}</p>
    </div>
  )
}
