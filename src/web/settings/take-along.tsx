// The export of all the owner's data as one archive. The service prepares it, even after this page is closed, and keeps
// it for a day.

import { useCallback, useEffect } from 'preact/hooks'
import { ApiError, request } from '../api.ts'
import { clockTime } from '../format.ts'
import { locale, say, type Text } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { Loading, OutcomeNotice, SureButton, useAction, useLoaded } from './fields.tsx'
import { size } from './records.tsx'

const COUNTS = {
  conversations: 'Conversations and talks',
  events: 'Events',
  files: 'Files',
  rows: 'Rows of the database',
} as const satisfies Record<string, Text>

type Standing = Record<keyof typeof COUNTS | 'units' | 'units_done' | 'bytes', number> & {
  state: 'preparing' | 'ready' | 'failed'
  expires_at: string | null
}

const PLACE = '/api/export'
const LOOK_EVERY_MS = 1_000

/** In an object, because `null` as a value would mean that it is still loading. */
const look = async (): Promise<{ archive: Standing | null }> => {
  try {
    return { archive: await request<Standing>(`${PLACE}/state`) }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { archive: null }
    throw error
  }
}

/** The current state, requested repeatedly while the archive is being prepared. */
function useArchive() {
  const loaded = useLoaded(useCallback(look, []))
  const asking = useAction()
  const isUnderWay = loaded.value?.archive?.state === 'preparing'
  useEffect(() => {
    if (!isUnderWay) return
    const timer = setInterval(loaded.reload, LOOK_EVERY_MS)
    return () => clearInterval(timer)
  }, [isUnderWay])
  const ask = (method: 'POST' | 'DELETE') =>
    void asking.run(async () => {
      await request(PLACE, { method })
      loaded.reload()
      return undefined
    })
  return { loaded, asking, isUnderWay, ask }
}

export function TakeAlong() {
  const { loaded, asking, isUnderWay, ask } = useArchive()
  return (
    <>
      <p>
        {say(
          'One file (tar) of all that you have here but secrets, keys and tokens: conversations with their events and files, reports, talks, watchlists, portfolio, alerts, screens, schedules, settings.',
        )}
      </p>
      <p class="hint">
        {say('It can be read without the service, and comes into another one by')}{' '}
        <code>bellwether import FILE.tar</code>
      </p>
      {asking.error !== null && <OutcomeNotice outcome={asking.outcome} />}
      <Loading loaded={loaded}>
        {({ archive }) => (
          <>
            {archive !== null && <Archive archive={archive} busy={asking.busy} onDelete={() => ask('DELETE')} />}
            <div class="form-actions">
              <button type="button" disabled={asking.busy || isUnderWay} onClick={() => ask('POST')}>
                {archive === null ? say('Prepare the archive') : say('Prepare it anew')}
              </button>
            </div>
          </>
        )}
      </Loading>
    </>
  )
}

type ArchiveProps = { archive: Standing; busy: boolean; onDelete: () => void }

function Archive({ archive, busy, onDelete }: ArchiveProps) {
  const { state, units, units_done: done, bytes, expires_at: end } = archive
  if (state === 'failed') return <Notice kind="error">{say('The archive could not be prepared.')}</Notice>
  if (state === 'preparing') {
    return (
      <p>
        <label>
          {say('The archive is being prepared…')} <progress max={Math.max(1, units)} value={done} />
        </label>
      </p>
    )
  }
  return (
    <section class="card" aria-label={say('The archive')}>
      <ul class="rows">
        {Object.entries(COUNTS).map(([field, name]) => (
          <li key={field} class="settings-row settings-row-head">
            <span class="row-title">{say(name)}</span>{' '}
            <span>{archive[field as keyof typeof COUNTS].toLocaleString(locale)}</span>
          </li>
        ))}
      </ul>
      {end !== null && <p class="hint">{say('Kept until {time}.', { time: clockTime(end) })}</p>}
      <div class="form-actions">
        <a class="button primary" href={PLACE} download>
          {say('Download ({size})', { size: size(bytes) })}
        </a>
        <SureButton label={say('Delete')} question="Delete the archive?" busy={busy} onSure={onDelete} />
      </div>
    </section>
  )
}
