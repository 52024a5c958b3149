// Screening: the stored figures, a filter over all listings, the results with the day of their figures, and saved
// screens.

import './alerts.css'
import './screening.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { messageOf, request, sendJson } from '../api.ts'
import { Form, RefusalNotice } from '../form.tsx'
import { price, signed } from '../format.ts'
import { noteChange, useChanges } from '../frame/tabs.ts'
import { Link, useChosen, usePageTitle } from '../router.tsx'
import { language, say } from '../texts.ts'
import { Notice, QueryState, useAnswer } from '../ui.tsx'
import { ask, type Listing, PAGE, ROOT, type Saved, SavedScreens, type ShownScreen } from './saved-screens.tsx'
import {
  Conditions,
  type Draft,
  draftOf,
  EMPTY,
  type FieldSpec,
  marketName,
  Order,
  type Screen,
  screenOf,
  Typed,
} from './screen-form.tsx'
import { SubNav } from './sub-nav.tsx'

type Days = { count: number; oldest: string | null; newest: string | null }
type MarketState = { market: string; listings: number; closes: Days; bars: Days }
type State = { markets: MarketState[]; message: string | null }
type Fields = { fields: FieldSpec[]; markets: string[] }
type Strategy = { id: string; title: string; description: string; screen: Screen }
type ScreeningSetup = { fields: Fields; state: State; strategies: Strategy[] }

async function askKnown(): Promise<ScreeningSetup> {
  const [fields, state, { strategies }] = await Promise.all([
    request<Fields>(`${ROOT}/fields`),
    request<State>(`${ROOT}/state`),
    request<{ strategies: Strategy[] }>(`${ROOT}/strategies`),
  ])
  return { fields, state, strategies }
}

const askSaved = () => request<{ items: Saved[] }>(`${ROOT}/screens?page_size=100`)

export function ScreeningPage() {
  usePageTitle(say('Screening'))
  const { found: known, ...asking } = useAnswer(askKnown, [])
  const saved = useAnswer(askSaved, [])
  const { draft, setDraft, open } = useDraft(saved.found?.items)
  const [shown, setShown] = useState<ShownScreen | null>(null)
  useChanges('screens', saved.again)
  const again = () => {
    asking.again()
    saved.again()
  }
  const changed = () => {
    noteChange('screens')
    saved.again()
  }
  return (
    <main class="page">
      <h1>{say('Screening')}</h1>
      <SubNav current="screening" />
      <QueryState found={known} problem={asking.problem ?? saved.problem} onAgain={again} />
      {known !== null && <MarketCoverage state={known.state} />}
      {known !== null && (
        <ScreenForm {...{ ...known, draft, onDraft: setDraft, onShown: setShown, onSaved: changed }} />
      )}
      {shown !== null && known !== null && <Results shown={shown} fields={known.fields.fields} />}
      <SavedScreens saved={saved.found?.items ?? null} onOpen={open} onShown={setShown} onChanged={changed} />
    </main>
  )
}

/** The form, and the saved screen in the URL that is opened in it. */
function useDraft(saved: readonly Saved[] | undefined) {
  const [draft, setDraft] = useState<Draft>(EMPTY)
  const [{ screen }, choose] = useChosen({ screen: '' })
  const opened = useRef('')
  const open = (one: Saved) => {
    opened.current = String(one.id)
    setDraft(draftOf(one.screen))
    choose({ screen: String(one.id) })
  }
  useEffect(() => {
    const one = saved?.find(({ id }) => String(id) === screen)
    // Only once: changes in the form are kept when the list is loaded again.
    if (one !== undefined && opened.current !== screen) setDraft(draftOf(one.screen))
    if (one !== undefined || screen === '') opened.current = screen
  }, [screen, saved])
  return { draft, setDraft, open }
}

function MarketCoverage({ state: { markets, message } }: { state: State }) {
  return (
    <>
      {message !== null && <Notice kind="warning">{message}</Notice>}
      <ul class="plain screen-state">
        {markets.map(({ market, listings, closes, bars }) => (
          <li key={market}>
            <span>
              {say('{market}: {count} of {listings} have figures', {
                market: marketName(market),
                count: Math.max(closes.count, bars.count),
                listings,
              })}
              {closes.newest !== null &&
                ` · ${say('Closes of {oldest} to {newest}', { oldest: closes.oldest ?? '', newest: closes.newest })}`}
              {bars.newest !== null &&
                ` · ${say('Bars of {oldest} to {newest}', { oldest: bars.oldest ?? '', newest: bars.newest })}`}
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

type ScreenFormProps = {
  fields: Fields
  strategies: Strategy[]
  draft: Draft
  onDraft: (draft: Draft) => void
  onShown: (shown: ShownScreen) => void
  onSaved: () => void
}

function ScreenForm({ fields, strategies, draft, onDraft, onShown, onSaved }: ScreenFormProps) {
  const [error, setError] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  /** Returns whether it succeeded. */
  const act = async (work: () => Promise<void>): Promise<boolean> => {
    setBusy(true)
    setError(null)
    const fault = await work().then(
      () => null,
      (error: unknown) => error,
    )
    setError(fault)
    setBusy(false)
    return fault === null
  }
  const run = () => {
    const screen = screenOf(draft)
    void act(async () => onShown({ screen, found: await ask(screen, null), savedId: null }))
  }
  const save = (name: string, isDaily: boolean) => act(() => store(draft, name, isDaily).then(onSaved))
  const parts = { fields: fields.fields, markets: fields.markets, draft, onDraft }
  return (
    <Form class="card alert-form" labelledBy="screen-form-head" error={error} within="screen" onSubmit={run}>
      <h2 id="screen-form-head">{say('What to look for')}</h2>
      <p class="hint">
        {say(
          'Find listings by figures that are kept of all of them. A figure that is unknown or too old matches nothing, and is counted.',
        )}
      </p>
      <ReadyMade strategies={strategies} onDraft={onDraft} />
      <Conditions {...parts} />
      <Order {...parts} />
      <RefusalNotice />
      <button type="submit" class="primary start" disabled={busy}>
        {say('Find listings')}
      </button>
      <SaveAs busy={busy} onSave={save} />
    </Form>
  )
}

type ReadyProps = Pick<ScreenFormProps, 'strategies' | 'onDraft'>

const ReadyMade = ({ strategies, onDraft }: ReadyProps) => (
  <fieldset class="screen-ready">
    <legend>{say('Ready-made')}</legend>
    {strategies.map(({ id, title, description, screen }) => (
      <button key={id} type="button" title={description} onClick={() => onDraft(draftOf(screen))}>
        {title}
      </button>
    ))}
  </fieldset>
)

/** Minutes after the close. Figures from bars take hours; those of closes are available by then. */
const AFTER_CLOSE = 120

async function store(draft: Draft, name: string, isDaily: boolean): Promise<void> {
  const body = { name, screen: screenOf(draft), schedule: isDaily ? { after_close_minutes: AFTER_CLOSE } : null }
  await request(`${ROOT}/screens`, sendJson('POST', body))
}

type SaveAsProps = { busy: boolean; onSave: (name: string, isDaily: boolean) => Promise<boolean> }

function SaveAs({ busy, onSave }: SaveAsProps) {
  const [name, setName] = useState('')
  const [isDaily, setDaily] = useState(true)
  const isReady = !busy && name.trim() !== ''
  const save = async () => {
    if (isReady && (await onSave(name.trim(), isDaily))) setName('')
  }
  /** Otherwise the surrounding form would search for listings. */
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return
    event.preventDefault()
    void save()
  }
  return (
    <details>
      <summary>{say('Save it as')}</summary>
      <fieldset class="plain-fields alert-fields" onKeyDown={onKey}>
        <Typed label={say('Name')} name="name" value={name} onValue={setName} />
        <label class="screen-check">
          <input type="checkbox" checked={isDaily} onChange={(event) => setDaily(event.currentTarget.checked)} />
          {say('By itself after the close')}
        </label>
      </fieldset>
      <div class="form-actions">
        <button type="button" disabled={!isReady} onClick={() => void save()}>
          {say('Save it')}
        </button>
      </div>
    </details>
  )
}

const ALWAYS = ['price', 'change_pct'] as const

/** The figures of a screen, in the order of their use. */
function namedIn(screen: Screen): string[] {
  const found = JSON.stringify(screen.where ?? {}).matchAll(/"field":"(\w+)"/g)
  const names = [...found].map(([, name = '']) => name)
  return [...new Set([...names, ...screen.sort.map(({ field }) => field)])]
}

function Results({ shown, fields }: { shown: ShownScreen; fields: readonly FieldSpec[] }) {
  const [items, setItems] = useState(shown.found.items)
  const [problem, setProblem] = useState<string | null>(null)
  const head = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    setItems(shown.found.items)
    head.current?.focus()
  }, [shown])
  const { total, message } = shown.found
  const more = () =>
    ask(shown.screen, shown.savedId, Math.floor(items.length / PAGE) + 1).then(
      (next) => setItems((before) => [...before, ...next.items]),
      (error: unknown) => setProblem(messageOf(error)),
    )
  return (
    <section class="alert-rules" aria-labelledby="screen-found-head">
      <h2 id="screen-found-head" tabIndex={-1} ref={head}>
        {say('What passes')} <span class="badge">{total}</span>
      </h2>
      {message !== null && <Notice kind="warning">{message}</Notice>}
      <Counted found={shown.found} />
      {items.length === 0 ? (
        <p class="empty">{say('Nothing passes.')}</p>
      ) : (
        <FoundTable {...{ items, fields, shown }} />
      )}
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {items.length < total && (
        <div class="form-actions">
          <button type="button" onClick={() => void more()}>
            {say('More {count}', { count: Math.min(PAGE, total - items.length) })}
          </button>
        </div>
      )}
    </section>
  )
}

function Counted({ found: { counts, new_codes = [], is_first } }: Pick<ShownScreen, 'found'>) {
  const none = counts.listings - counts.with_figures
  const left = { unknown: counts.unknown, old: counts.too_old, none }
  return (
    <>
      <p class="hint">
        {say('{matched} of {listings} pass.', { matched: counts.matched, listings: counts.listings })}{' '}
        {left.unknown + left.old + none > 0 &&
          say('Not decided: {unknown} with unknown figures, {old} with old ones, {none} without any.', left)}
      </p>
      {is_first === false && new_codes.length > 0 && (
        <p>{say('New since it ran by itself: {codes}', { codes: new_codes.slice(0, 50).join(', ') })}</p>
      )}
    </>
  )
}

function FoundTable({ items, fields, shown }: { items: Listing[]; fields: readonly FieldSpec[]; shown: ShownScreen }) {
  const extra = namedIn(shown.screen).filter((name) => !ALWAYS.some((one) => one === name))
  const columns = [...ALWAYS, ...extra].flatMap((name) => {
    return fields.filter((field) => field.name === name && field.kind === 'number')
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="table-scroll" aria-label={say('What passes')} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{say('Code and name')}</th>
            {columns.map(({ name, title }) => (
              <th key={name} scope="col">
                {title}
              </th>
            ))}
            <th scope="col">{say('Figures of')}</th>
          </tr>
        </thead>
        <tbody>
          {items.map((one) => (
            <FoundRow key={one.code} listing={one} columns={columns} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

const FoundRow = ({ listing, columns }: { listing: Listing; columns: readonly FieldSpec[] }) => (
  <tr>
    <th scope="row">
      <Link to={`/analysis?codes=${encodeURIComponent(listing.code)}`}>
        <span class="code">{listing.code}</span> {language === 'en' ? (listing.name_en ?? listing.name) : listing.name}
      </Link>
    </th>
    {columns.map((field) => (
      <td key={field.name}>{figureText(field, listing)}</td>
    ))}
    <td>
      <DaysOf listing={listing} />
    </td>
  </tr>
)

function figureText({ name, unit }: FieldSpec, { figures, currency }: Listing): string {
  const value = figures[name] ?? null
  if (value === null) return '–'
  if (name.endsWith('_ratio')) return value.toFixed(2)
  if (unit === '%') return `${signed(value)} %`
  const text =
    Math.abs(value) >= 1e6
      ? value.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 2 })
      : price(value)
  return name === 'price' ? `${text} ${currency}` : text
}

/** Every row shows the day of its figures, and their checks. */
function DaysOf({ listing: { session, bars_session, age_sessions, marks } }: { listing: Listing }) {
  const days = [...new Set([session, bars_session].filter((one) => one !== null))]
  return (
    <>
      {days.join(' · ')}
      {age_sessions !== null && age_sessions > 0 && (
        <span class="hint day">{say('{age} sessions old', { age: age_sessions })}</span>
      )}
      {marks.length > 0 && <span class="alert-doubt day">{marks.map(({ text }) => text).join(', ')}</span>}
    </>
  )
}
