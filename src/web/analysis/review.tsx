// A market review: the indices as cards, gains and losses as a map of tiles, and the text.

import { compact, price, signed } from '../format.ts'
import { Markdown } from '../markdown.tsx'
import { usePageTitle } from '../router.tsx'
import { languageTag, say } from '../texts.ts'
import { Notice, useMedia } from '../ui.tsx'
import { direction, heat, type Index, type Light, type Review, reviewsIn, type Tile } from './stored-review.ts'

type Props = { markdown: string; details: Record<string, unknown> | null; language: string }

export function ReviewView({ markdown, details, language }: Props) {
  usePageTitle(say('Market review'))
  const reviews = reviewsIn(details)
  const isDark = useMedia('screen and (prefers-color-scheme: dark)')
  return (
    <article class="report review" lang={language}>
      <h1 lang={languageTag}>{say('Market review')}</h1>
      {reviews.map((review) => (
        <OneMarket key={review.scope} review={review} />
      ))}
      <section class="card review-text">
        <Markdown text={isDark ? inDark(markdown) : markdown} />
      </section>
    </article>
  )
}

/** With the URL of the picture for a dark page. */
const inDark = (markdown: string): string => markdown.replaceAll(/\/chart\.svg\?region=[a-z]+/g, '$&&theme=dark')

const OneMarket = ({ review }: { review: Review }) => (
  <section class={review.isRedUp ? 'market red-rises' : 'market'} aria-label={review.scope}>
    {review.notice !== null && <Notice kind="warning">{review.notice}</Notice>}
    {review.light !== null && <MarketLight light={review.light} />}
    <ul class="index-cards">
      {review.indices.map((index) => (
        <IndexCard key={index.code} index={index} />
      ))}
    </ul>
    {review.tiles.map(({ kind, tiles }) => (
      <HeatMap key={kind} title={kind === 'sectors' ? say('Sectors') : say('Concepts')} tiles={tiles} />
    ))}
  </section>
)

const MarketLight = ({ light }: { light: Light }) => (
  <div class={`card market-light ${light.status}`}>
    <strong class="light-score">{light.score}</strong>
    <div>
      <strong>{light.label}</strong>
      <p class="hint">{light.reasons.join(' · ')}</p>
      <p>{light.guidance}</p>
    </div>
  </div>
)

const IndexCard = ({ index: { name, code, current, change, changePct, amount } }: { index: Index }) => (
  <li class={`card tight index-card ${direction(changePct)}`}>
    <span>
      {name} <span class="code">{code}</span>
    </span>
    <strong class="index-value">{price(current)}</strong>
    <span class={direction(changePct)}>
      <span aria-hidden="true">{changePct > 0 ? '▲' : changePct < 0 ? '▼' : '='}</span> {signed(change)} (
      {signed(changePct)} %)
    </span>
    {amount !== null && (
      <span class="hint" lang={languageTag}>
        {say('Turnover {amount}', { amount: compact(amount) })}
      </span>
    )}
  </li>
)

const HeatMap = ({ title, tiles }: { title: string; tiles: Tile[] }) => (
  <section aria-label={title}>
    <h2 lang={languageTag}>{title}</h2>
    <ul class="heat-map">
      {tiles
        .toSorted((a, b) => b.changePct - a.changePct)
        .map(({ name, changePct }) => (
          <li key={name} class={`heat ${heat(changePct)}`}>
            <span>{name}</span> <strong>{signed(changePct)} %</strong>
          </li>
        ))}
    </ul>
  </section>
)
