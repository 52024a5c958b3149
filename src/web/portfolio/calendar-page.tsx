// Days of results and dividends of watched and held listings, as a month or as a list.

import './calendar.css'
import { SubNav } from '../analysis/sub-nav.tsx'
import { request } from '../api.ts'
import { Choice } from '../controls.tsx'
import { Link, useChosen, usePageTitle } from '../router.tsx'
import { locale, say } from '../texts.ts'
import { Notice, QueryState, useAnswer } from '../ui.tsx'
import {
  amountOf,
  type Calendar,
  type CalendarEvent,
  calendarQuery,
  expectedOf,
  KIND_NAMES,
  type Listing,
  marksOf,
  sureness,
} from './calendar-api.ts'

const SCOPES = ['all', 'watchlist', 'holdings'] as const
const MONTH = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' })
const DAY = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' })
const WEEKDAY = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' })
const DAY_MS = 86_400_000

const iso = (time: number): string => new Date(time).toISOString().slice(0, 10)
const today = (): string => {
  const now = new Date()
  return iso(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()))
}

/** `2027-01`, this many months later. */
function monthAfter(month: string, by: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return iso(Date.UTC(year, number - 1 + by, 1)).slice(0, 7)
}

/** The first and the last day of the month. */
function daysOf(month: string): { from: string; to: string } {
  const from = `${month}-01`
  return { from, to: iso(Date.parse(`${monthAfter(month, 1)}-01`) - DAY_MS) }
}

/** Checks the text in the URL. */
const isMonth = (text: string): boolean => /^(?:19|20)\d\d-(?:0[1-9]|1[0-2])$/.test(text)

export function CalendarPage() {
  usePageTitle(say('Calendar'))
  const thisMonth = today().slice(0, 7)
  const first = { month: thisMonth, scope: 'all', view: innerWidth < 640 ? 'list' : 'month' }
  const [chosen, choose] = useChosen(first, { scope: SCOPES, view: ['month', 'list'] })
  const { scope, view } = chosen
  const month = isMonth(chosen.month) ? chosen.month : thisMonth
  const { from, to } = daysOf(month)
  const query = calendarQuery({ from, to, scope })
  const { found, problem, again } = useAnswer(() => request<Calendar>(`/api/v1/calendar?${query}`), [from, to, scope])
  return (
    <main class="page">
      <h1>{say('Calendar')}</h1>
      <SubNav current="calendar" />
      <Filters {...{ scope, view, query }} onChoose={choose} />
      <MonthNav
        month={MONTH.format(Date.parse(from))}
        onMove={(by) => choose({ month: by === 0 ? thisMonth : monthAfter(month, by) })}
      />
      <QueryState {...{ found, problem }} onAgain={again} />
      {found !== null && <CalendarResult found={found} isMonth={view === 'month'} onAgain={again} />}
    </main>
  )
}

type FiltersProps = {
  scope: string
  view: string
  query: URLSearchParams | string
  onChoose: (part: { scope?: string; view?: string }) => void
}

const Filters = ({ scope, view, query, onChoose }: FiltersProps) => (
  <div class="filters">
    <Choice
      label={say('Whose days')}
      value={scope}
      options={SCOPES.map((one) => [one, say(SCOPE_NAMES[one])])}
      onValue={(value) => onChoose({ scope: value })}
    />
    <Choice
      label={say('View')}
      value={view}
      options={[
        ['month', say('Month')],
        ['list', say('List')],
      ]}
      onValue={(value) => onChoose({ view: value })}
    />
    <a class="button" href={`/api/v1/calendar.ics?${query}`} download="calendar.ics">
      {say('Save for a calendar (ICS)')}
    </a>
  </div>
)

const SCOPE_NAMES = {
  all: 'What I watch and hold',
  watchlist: 'What I watch',
  holdings: 'What I hold',
} as const

const MonthNav = ({ month, onMove }: { month: string; onMove: (by: number) => void }) => (
  <div class="month-nav">
    <button type="button" onClick={() => onMove(-1)}>
      {say('Month before')}
    </button>
    <h2 aria-live="polite">{month}</h2>
    <button type="button" onClick={() => onMove(1)}>
      {say('Next month')}
    </button>
    <button type="button" class="quiet" onClick={() => onMove(0)}>
      {say('This month')}
    </button>
  </div>
)

function CalendarResult({ found, isMonth, onAgain }: { found: Calendar; isMonth: boolean; onAgain: () => void }) {
  const { items, total, listings } = found
  if (listings.length === 0) {
    return (
      <p class="empty">
        {say('You watch and hold nothing here yet.')} <Link to="/analysis/watchlists">{say('Watchlists')}</Link>
      </p>
    )
  }
  const isMadeUp = items.some(({ notice }) => notice !== null)
  const known = listings.filter(({ state }) => state === 'known').length
  return (
    <>
      {isMadeUp && <Notice kind="info">{say('Days and amounts are made up for the sample: of no company.')}</Notice>}
      {total > items.length && (
        <Notice kind="warning">
          {say('The first {count} of {total} days are shown.', { count: items.length, total })}
        </Notice>
      )}
      {isMonth ? <MonthView found={found} /> : <ListView items={items} />}
      {items.length === 0 && known > 0 && (
        <p class="empty">
          {say('No days in this month of the {count} listings whose days are known.', { count: known })}
        </p>
      )}
      <Unknown listings={listings} leftOut={found.listings_left_out} onAgain={onAgain} />
    </>
  )
}

/** Weeks start on Monday; days of other months are empty. */
function MonthView({ found: { from, to, items } }: { found: Calendar }) {
  const first = Date.parse(from)
  const start = first - ((new Date(first).getUTCDay() + 6) % 7) * DAY_MS
  const weeks = Math.ceil((Date.parse(to) - start + DAY_MS) / (7 * DAY_MS))
  const days = Array.from({ length: weeks * 7 }, (_, i) => iso(start + i * DAY_MS))
  const week = (i: number) => days.slice(i * 7, i * 7 + 7)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="table-scroll" aria-label={say('Month')} tabIndex={0}>
      <table class="month">
        <thead>
          <tr>
            {days.slice(0, 7).map((day) => (
              <th key={day} scope="col">
                {WEEKDAY.format(Date.parse(day))}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: weeks }, (_, i) => (
            <tr key={week(i)[0]}>
              {week(i).map((day) => (
                <td key={day} class={day === today() ? 'today' : undefined}>
                  {day >= from && day <= to && <DayCell day={day} items={items} />}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function DayCell({ day, items }: { day: string; items: CalendarEvent[] }) {
  const here = items.filter(({ date, date_to: end }) => date <= day && day <= end)
  return (
    <>
      <time dateTime={day} aria-current={day === today() ? 'date' : undefined}>
        {Number(day.slice(8))}
      </time>
      {here.length > 0 && (
        <ul>
          {here.map((event) => (
            <li key={event.id} class={`event ${event.kind} ${event.certainty}`} title={titleOf(event)}>
              <span>{say(KIND_NAMES[event.kind])}</span> <b>{event.stock_name ?? event.stock_code}</b>
              {event.certainty === 'estimate' && <span> ({say('estimate')})</span>}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

const titleOf = (event: CalendarEvent): string =>
  [event.stock_code, sureness(event), amountOf(event), expectedOf(event)].filter((part) => part !== '').join(' · ')

function ListView({ items }: { items: CalendarEvent[] }) {
  const days = [...new Set(items.map(({ date }) => date))]
  return (
    <div class="day-list">
      {days.map((day) => (
        <section key={day} aria-label={DAY.format(Date.parse(day))}>
          <h3>
            <time dateTime={day}>{DAY.format(Date.parse(day))}</time>
            {day === today() && <span class="badge">{say('Today')}</span>}
          </h3>
          <ul class="plain">
            {items
              .filter(({ date }) => date === day)
              .map((event) => (
                <EventLine key={event.id} event={event} />
              ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

function EventLine({ event }: { event: CalendarEvent }) {
  const { kind, stock_code: code, stock_name: name, date, date_to: end, period } = event
  const days = [
    ...(date === end ? [] : [say('between {from} and {to}', { from: date, to: end })]),
    ...(period === null ? [] : [say('period up to {day}', { day: period })]),
    ...(event.ex_date === null ? [] : [say('ex-date {day}', { day: event.ex_date })]),
    ...(event.record_date === null ? [] : [say('record date {day}', { day: event.record_date })]),
    ...(event.pay_date === null ? [] : [say('payment {day}', { day: event.pay_date })]),
  ]
  return (
    <li class="card tight event-line">
      <p>
        <span class={`badge ${kind}`}>{say(KIND_NAMES[kind])}</span> <b>{name ?? code}</b>{' '}
        {name !== null && <span class="code">{code}</span>} <span class="hint">{sureness(event)}</span>
      </p>
      <p>{[amountOf(event), expectedOf(event)].filter((part) => part !== '').join(' · ')}</p>
      <p class="hint">{[...days, say('source: {name}', { name: event.notice ?? event.source })].join(' · ')}</p>
      {marksOf(event).map((mark) => (
        <p key={mark} class="mark">
          {mark}
        </p>
      ))}
    </li>
  )
}

/** An empty day must not look like "no events" if the data is unknown. */
function Unknown({ listings, leftOut, onAgain }: { listings: Listing[]; leftOut: number; onAgain: () => void }) {
  const unknown = listings.filter(({ state }) => state !== 'known')
  return (
    <>
      {unknown.length > 0 && (
        <section class="card" aria-label={say('Days not known')}>
          <h2>{say('Days not known')}</h2>
          <ul class="plain">
            {unknown.map((one) => (
              <li key={one.stock_code}>
                <b>{nameOf(one)}</b> <span class="hint">{one.message}</span>
              </li>
            ))}
          </ul>
          {unknown.some(({ state }) => state !== 'no_source') && (
            <button type="button" onClick={onAgain}>
              {say('Look again')}
            </button>
          )}
        </section>
      )}
      <Doubts listings={listings} />
      {leftOut > 0 && (
        <Notice kind="warning">
          {say('{count} more listings are beyond what one calendar has.', { count: leftOut })}
        </Notice>
      )}
    </>
  )
}

const nameOf = ({ stock_name: name, stock_code: code }: Listing): string => (name === null ? code : `${name} (${code})`)

/** Listings with incomplete data. */
function Doubts({ listings }: { listings: Listing[] }) {
  const stale = listings.filter(({ is_stale }) => is_stale)
  const refused = listings.filter((one) => one.left_out > 0)
  return (
    <>
      {stale.length > 0 && (
        <Notice kind="warning">
          {say('Older answers, because the sources failed: {names}', {
            names: stale.map((one) => `${nameOf(one)}, ${say('{hours} h', { hours: hoursOf(one) })}`).join('; '),
          })}
        </Notice>
      )}
      {refused.length > 0 && (
        <Notice kind="warning">
          {say('Days that cannot be right are left out: {names}', {
            names: refused.map((one) => `${nameOf(one)}: ${one.left_out}`).join('; '),
          })}
        </Notice>
      )}
    </>
  )
}

const hoursOf = ({ age_seconds: age }: Listing): number => Math.round((age ?? 0) / 3_600)
