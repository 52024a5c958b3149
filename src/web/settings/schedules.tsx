import { useState } from 'preact/hooks'
import { clockTime } from '../format.ts'
import { locale, say } from '../texts.ts'
import {
  Loading,
  OutcomeNotice,
  SaveForm,
  SelectField,
  SureButton,
  TextField,
  Toggle,
  useAction,
  useLoaded,
} from './fields.tsx'
import { addSchedule, changeSchedule, deleteSchedule, listSchedules, type Schedule } from './settings-api.ts'

export function ScheduleSettings() {
  const loaded = useLoaded(listSchedules)
  return (
    <>
      <p class="hint">{say('What is analysed by itself, and when. Reports go to the channels under Notifications.')}</p>
      <Loading loaded={loaded}>
        {(schedules) =>
          schedules.length === 0 ? (
            <p class="empty">{say('No schedules yet.')}</p>
          ) : (
            <ul class="rows">
              {schedules.map((schedule) => (
                <ScheduleRow key={schedule.schedule_id} schedule={schedule} onChange={loaded.reload} />
              ))}
            </ul>
          )
        }
      </Loading>
      <h2>{say('Add a schedule')}</h2>
      <AddSchedule onAdded={loaded.reload} />
    </>
  )
}

function ScheduleRow({ schedule, onChange }: { schedule: Schedule; onChange: () => void }) {
  const acting = useAction()
  const act = (work: () => Promise<unknown>) =>
    void acting.run(async () => {
      await work()
      onChange()
      return undefined
    })
  const { name, enabled, next_run_at: next } = schedule
  return (
    <li class="settings-row">
      <div class="settings-row-head">
        <strong class="row-title">{name}</strong>
        {!enabled && <span class="badge">{say('off')}</span>}
        <span class="row-time">{enabled && next !== null && say('next: {time}', { time: clockTime(next) })}</span>
      </div>
      <p class="hint">{`${whatOf(schedule)} · ${whenOf(schedule)}`}</p>
      <div class="form-actions">
        <button
          type="button"
          disabled={acting.busy}
          onClick={() => act(() => changeSchedule({ ...schedule, enabled: !enabled }))}
        >
          {enabled ? say('Switch off') : say('Switch on')}
        </button>
        <SureButton
          label={say('Delete')}
          question="Delete this schedule?"
          busy={acting.busy}
          onSure={() => act(() => deleteSchedule(schedule.schedule_id))}
        />
      </div>
      <OutcomeNotice outcome={acting.outcome} />
    </li>
  )
}

function whatOf({ what }: Schedule): string {
  if (what.kind === 'market_review') return say('market review of {regions}', { regions: what.region.toUpperCase() })
  if (what.kind === 'watchlist') return say('watchlist {name}', { name: what.watchlist_id })
  if (what.kind === 'digest') {
    return what.watchlist_id === null
      ? say('changes of the watchlists')
      : say('changes of watchlist {name}', { name: what.watchlist_id })
  }
  return what.stock_codes.join(', ')
}

function whenOf({ when }: Schedule): string {
  if ('after_close_minutes' in when)
    return say('{minutes} minutes after the close', { minutes: when.after_close_minutes })
  return `${when.times.join(', ')} ${when.zone} (${when.days.map(dayName).join(' ')})`
}

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
const DAY_NAME = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' })
/** The first of January 2024 was a Monday. */
const dayName = (day: string): string => DAY_NAME.format(Date.UTC(2024, 0, 1 + DAYS.indexOf(day)))

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

const KINDS = ['analysis', 'market_review', 'digest'] as const
type Kind = (typeof KINDS)[number]

type Draft = {
  name: string
  kind: Kind
  codes: string
  region: string
  byClose: boolean
  minutes: string
  time: string
}

const EMPTY: Draft = {
  name: '',
  kind: 'analysis',
  codes: '',
  region: 'cn',
  byClose: true,
  minutes: '30',
  time: '18:00',
}

function AddSchedule({ onAdded }: { onAdded: () => void }) {
  const [draft, setDraft] = useState(EMPTY)
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const saving = useAction()
  const save = () =>
    saving.run(async () => {
      await addSchedule(planOf(draft))
      setDraft(EMPTY)
      onAdded()
      return undefined
    })
  return (
    <SaveForm action={saving} onSave={() => void save()}>
      <TextField label="Name" name="name" value={draft.name} onText={(name) => set({ name })} isRequired />
      <WhatFields draft={draft} set={set} />
      <WhenFields draft={draft} set={set} />
    </SaveForm>
  )
}

type PartProps = { draft: Draft; set: (change: Partial<Draft>) => void }

function WhatFields({ draft: { kind, codes, region }, set }: PartProps) {
  return (
    <>
      <SelectField
        label="What"
        name="what.kind"
        value={kind}
        options={[
          ['analysis', say('stocks')],
          ['market_review', say('market review')],
          ['digest', say('changes of the watchlists')],
        ]}
        onPick={(picked) => set({ kind: KINDS.find((kind) => kind === picked) ?? 'analysis' })}
      />
      {kind === 'analysis' && (
        <TextField
          label="Codes or names"
          name="what.stock_codes"
          value={codes}
          onText={(text) => set({ codes: text })}
          placeholder="600519, AAPL, 00700"
          hint={say('Separated by commas.')}
          isRequired
        />
      )}
      {kind === 'market_review' && (
        <TextField
          label="Markets"
          name="what.region"
          value={region}
          onText={(text) => set({ region: text })}
          hint="cn, hk, us, jp, kr, tw"
          isRequired
        />
      )}
    </>
  )
}

function WhenFields({ draft: { kind, byClose: isByClose, minutes, time }, set }: PartProps) {
  const byClose = isByClose && kind !== 'digest'
  return (
    <>
      {kind === 'digest' ? (
        <p class="hint">{say('A digest comes once a day, at a time of day.')}</p>
      ) : (
        <Toggle
          label="After the close of each market"
          isOn={byClose}
          onChange={(isOn) => set({ byClose: isOn })}
          hint={say('Otherwise at a time of day, from Monday to Friday.')}
        />
      )}
      {byClose ? (
        <TextField
          label="Minutes after the close"
          name="when.after_close_minutes"
          kind="number"
          value={minutes}
          onText={(text) => set({ minutes: text })}
          isRequired
        />
      ) : (
        <TextField
          label="Time of day"
          name="when.times"
          value={time}
          onText={(text) => set({ time: text })}
          hint={ZONE}
          placeholder="18:00"
          isRequired
        />
      )}
    </>
  )
}

function whatFrom({ kind, codes, region }: Draft) {
  if (kind === 'digest') return { kind, watchlist_id: null }
  if (kind === 'market_review') return { kind, region }
  const entries = codes.split(/[,，;\n]+/).map((code) => code.trim())
  return { kind, stock_codes: entries.filter((code) => code !== '') }
}

const planOf = (draft: Draft) => ({
  name: draft.name,
  what: whatFrom(draft),
  when:
    draft.byClose && draft.kind !== 'digest'
      ? { after_close_minutes: draft.minutes }
      : { times: [draft.time], zone: ZONE },
})
