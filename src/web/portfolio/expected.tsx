// The expected dividends of held stocks, from the calendar. None of them is booked.

import './calendar.css'
import { request } from '../api.ts'
import { price } from '../format.ts'
import { Link } from '../router.tsx'
import { say } from '../texts.ts'
import { Notice, useAnswer } from '../ui.tsx'
import { amountOf, type Calendar, type CalendarEvent, calendarQuery, marksOf } from './calendar-api.ts'

const AHEAD_DAYS = 180
const DAY_MS = 86_400_000
const iso = (time: number): string => new Date(time).toISOString().slice(0, 10)

export function ExpectedDividends({ account, round }: { account: string; round: number }) {
  const { found, problem } = useAnswer(() => {
    const span = { from: iso(Date.now()), to: iso(Date.now() + AHEAD_DAYS * DAY_MS) }
    const chosen = account === '' ? {} : { account_id: account }
    const query = calendarQuery({ ...span, scope: 'holdings', kind: 'ex_dividend', ...chosen })
    return request<Calendar>(`/api/v1/calendar?${query}`)
  }, [account, round])
  if (problem !== null) return <Notice kind="error">{problem}</Notice>
  if (found === null) return null
  const unknown = found.listings.filter(({ state }) => state !== 'known')
  return (
    <section class="expected card" aria-label={say('Expected dividends')}>
      <h2>{say('Expected dividends')}</h2>
      <p class="hint">
        {say('Of what you hold now, before tax, in the next {days} days. Expected, and not booked.', {
          days: AHEAD_DAYS,
        })}{' '}
        <Link to="/analysis/calendar">{say('Calendar')}</Link>
      </p>
      {found.items.some(({ notice }) => notice !== null) && (
        <Notice kind="info">{say('Days and amounts are made up for the sample: of no company.')}</Notice>
      )}
      {found.items.length === 0 && unknown.length < found.listings.length && (
        <p class="hint">{say('No source tells a coming dividend of the others.')}</p>
      )}
      <ul class="plain">
        {found.items.map((event) => (
          <Dividend key={event.id} event={event} />
        ))}
      </ul>
      {unknown.length > 0 && (
        <p class="hint">{say('Days not known: {codes}', { codes: unknown.map((one) => one.stock_code).join(', ') })}</p>
      )}
    </section>
  )
}

const Dividend = ({ event }: { event: CalendarEvent }) => (
  <li>
    <span>
      <b>{event.stock_name ?? event.stock_code}</b>{' '}
      <span class="hint">{[event.ex_date, amountOf(event)].join(' · ')}</span>{' '}
      {marksOf(event).map((mark) => (
        <span key={mark} class="hint">
          {mark}
        </span>
      ))}
    </span>
    <span>{event.expected_amount === null ? '–' : `${price(event.expected_amount)} ${event.currency ?? ''}`}</span>
  </li>
)
