// Saved screens, and the result of running one of them.

import { useState } from 'preact/hooks'
import { messageOf, request, sendJson } from '../api.ts'
import { SwitchButton } from '../controls.tsx'
import { SureButton } from '../settings/fields.tsx'
import { say } from '../texts.ts'
import { Notice, RelativeTime } from '../ui.tsx'
import type { Screen } from './screen-form.tsx'

export type Listing = {
  code: string
  name: string
  name_en: string | null
  currency: string
  session: string | null
  age_sessions: number | null
  bars_session: string | null
  figures: Record<string, number | null>
  marks: { check: string; text: string }[]
}
type Counts = { listings: number; with_figures: number; too_old: number; unknown: number; matched: number }
export type ScreenOutcome = {
  items: Listing[]
  total: number
  counts: Counts
  message: string | null
  new_codes?: string[]
  is_first?: boolean
}
export type Saved = {
  id: number
  name: string
  screen: Screen
  schedule: unknown
  enabled: boolean
  last_run_at: string | null
}

export const ROOT = '/api/v1/screening'
export const PAGE = 50

/** The screen, to request more pages, and the results so far. */
export type ShownScreen = { screen: Screen; found: ScreenOutcome; savedId: number | null }

export async function ask(screen: Screen, savedId: number | null, page = 1): Promise<ScreenOutcome> {
  const query = `?page=${page}&page_size=${PAGE}`
  if (savedId !== null) return request<ScreenOutcome>(`${ROOT}/screens/${savedId}/run${query}`, sendJson('POST', {}))
  return request<ScreenOutcome>(`${ROOT}/run${query}`, sendJson('POST', screen))
}

type SavedProps = {
  saved: Saved[] | null
  onOpen: (saved: Saved) => void
  onShown: (shown: ShownScreen) => void
  onChanged: () => void
}

export function SavedScreens({ saved, onChanged, ...rest }: SavedProps) {
  const [problem, setProblem] = useState<string | null>(null)
  const act = (work: Promise<unknown>) => {
    setProblem(null)
    work.then(onChanged, (error: unknown) => setProblem(messageOf(error)))
  }
  return (
    <section class="alert-rules" aria-labelledby="saved-screens-head">
      <h2 id="saved-screens-head">
        {say('Saved screens')} {saved !== null && <span class="badge">{saved.length}</span>}
      </h2>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {saved?.length === 0 && <p class="empty">{say('No saved screens yet. Save one above.')}</p>}
      <ul class="alert-list">
        {saved?.map((one) => (
          <SavedRow key={one.id} one={one} {...rest} onAct={act} />
        ))}
      </ul>
    </section>
  )
}

type SavedRowProps = Pick<SavedProps, 'onOpen' | 'onShown'> & { one: Saved; onAct: (work: Promise<unknown>) => void }

function SavedRow({ one, onOpen, onShown, onAct }: SavedRowProps) {
  const path = `${ROOT}/screens/${one.id}`
  const { name } = one
  const run = async () => onShown({ screen: one.screen, found: await ask(one.screen, one.id), savedId: one.id })
  return (
    <li>
      <div class="alert-head">
        <span class="alert-name">{name}</span>
        <span class="badge">
          {say(one.schedule !== null && one.enabled ? 'Runs after each close' : 'Runs by hand')}
        </span>
        {one.last_run_at !== null && (
          <span class="row-time">
            {say('last ran')} <RelativeTime time={one.last_run_at} />
          </span>
        )}
      </div>
      <div class="form-actions">
        <button type="button" aria-label={say('Open it: {name}', { name })} onClick={() => onOpen(one)}>
          {say('Open it')}
        </button>
        <button type="button" aria-label={say('Find listings: {name}', { name })} onClick={() => onAct(run())}>
          {say('Find listings')}
        </button>
        {one.schedule !== null && (
          <SwitchButton one={one} onSwitch={() => onAct(request(path, sendJson('PATCH', { enabled: !one.enabled })))} />
        )}
        <SureButton
          label={say('Delete')}
          name={say('Delete: {name}', { name })}
          question="Delete this screen?"
          onSure={() => onAct(request(path, { method: 'DELETE' }))}
        />
      </div>
    </li>
  )
}
