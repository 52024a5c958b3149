// The performance and the risks of the holdings. An unknown value is a dash.

import { signed } from '../format.ts'
import { say } from '../texts.ts'
import { orDash, type Risk } from './portfolio-api.ts'

const percent = (value: number | null): string => orDash(value, (known) => `${signed(known)} %`)
const share = (value: number): string => `${value.toFixed(1)} %`

export function RiskView({ risk }: { risk: Risk }) {
  const { performance, drawdown } = risk
  const { benchmark } = performance
  const figures = [
    [say('Time-weighted return'), percent(performance.time_weighted_pct)],
    [say('Money-weighted return, yearly'), percent(performance.money_weighted_pct)],
    [benchmark.name, percent(benchmark.return_pct)],
    [say('Maximum drawdown'), orDash(drawdown.max_drawdown_pct, share)],
  ] as const
  return (
    <section class="card risk" aria-labelledby="risk-head">
      <h2 id="risk-head">{say('Return and risk')}</h2>
      {performance.from !== null && (
        <p class="hint">{say('From {from} to {to}', { from: performance.from, to: performance.to ?? '' })}</p>
      )}
      <dl class="risk-figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="risk-lists">
        <Concentration risk={risk} />
        <Losses risk={risk} />
        <Together risk={risk} />
      </div>
    </section>
  )
}

function Concentration({ risk }: { risk: Risk }) {
  const { top_sectors: sectors, coverage } = risk.sector_concentration
  const { unvalued } = risk.concentration
  const unknown = coverage.unclassified_count + coverage.failed_count
  const limit = risk.thresholds.concentration_alert_pct ?? 0
  const rows = [
    ...risk.concentration.top_positions.map(
      ({ symbol, weight_pct: weight, is_alert: isOver }) => [symbol, weight, isOver] as const,
    ),
    ...sectors.map(({ sector, weight_pct: weight, is_alert: isOver }) => [sector, weight, isOver] as const),
  ]
  return (
    <section aria-label={say('Weights')}>
      <h3>{say('Weights')}</h3>
      <ul class="plain">
        {rows.map(([name, weight, isOver]) => (
          <li key={name}>
            <span>{name}</span> <span>{share(weight)}</span>
            {isOver && <span class="badge">{say('over {limit} %', { limit })}</span>}
          </li>
        ))}
      </ul>
      {unvalued.length > 0 && (
        <p class="hint">{say('No weights: {codes} has no price or no rate.', { codes: unvalued.join(', ') })}</p>
      )}
      {unknown > 0 && <p class="hint">{say('Stocks without a known industry: {count}.', { count: unknown })}</p>}
    </section>
  )
}

function Losses({ risk }: { risk: Risk }) {
  const { items } = risk.stop_loss
  return (
    <section aria-label={say('Losses against cost')}>
      <h3>{say('Losses against cost')}</h3>
      {items.length === 0 && <p class="hint">{say('None is near the limit.')}</p>}
      <ul class="plain">
        {items.map(({ account_id: account, symbol, loss_pct: loss, is_triggered: isOver }) => (
          <li key={`${account} ${symbol}`}>
            <span>{symbol}</span> <span>{`−${share(loss)}`}</span>
            {isOver && (
              <span class="badge">{say('over {limit} %', { limit: risk.thresholds.stop_loss_alert_pct ?? 0 })}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The strongest first. */
function Together({ risk }: { risk: Risk }) {
  const { pairs, minimum_days: least } = risk.correlation
  const known = pairs.filter(({ correlation }) => correlation !== null)
  const strength = ({ correlation }: (typeof pairs)[number]) => Math.abs(correlation ?? 0)
  const shown = known.toSorted((a, b) => strength(b) - strength(a)).slice(0, 6)
  if (pairs.length === 0) return null
  return (
    <section aria-label={say('How they move together')}>
      <h3>{say('How they move together')}</h3>
      <ul class="plain">
        {shown.map(({ a, b, days, correlation }) => (
          <li key={`${a} ${b}`}>
            <span>{`${a} · ${b}`}</span> <span>{orDash(correlation, signed)}</span>
            <span class="hint">{say('{days} days', { days })}</span>
          </li>
        ))}
      </ul>
      {known.length < pairs.length && (
        <p class="hint">
          {say('{count} pairs have fewer than {least} days in common.', { count: pairs.length - known.length, least })}
        </p>
      )}
    </section>
  )
}
