// The sections that explain the advice of a report.

import type { ComponentChildren } from 'preact'
import { price } from '../format.ts'
import { languageTag, say } from '../texts.ts'
import { statusText } from './flow-places.ts'
import { Mark, Section } from './report-parts.tsx'
import type { Checks } from './stored-parts.ts'
import type { Headline, Story, Zone } from './stored-story.ts'

type Props = { story: Story; checks: Checks }

/** Each part of the score with its meaning, and the later changes of the advice. */
export const ScoreParts = ({ story: { scoreParts, gates, checked }, checks }: Props) =>
  scoreParts.length === 0 && gates.length === 0 ? null : (
    <Section name="score" title="How the score came about" mark={<Mark checks={checks} />}>
      <ul class="score-parts">
        {scoreParts.map(({ label, points, max, reason }) => (
          <li key={label}>
            <span class="score-name">{label}</span>
            <meter class="score-bar" min={0} max={max} value={Math.max(0, points)} aria-label={label} />
            <span class="score-points">
              {points}
              <small> / {max}</small>
            </span>
            <span class="score-reason">{reason}</span>
          </li>
        ))}
      </ul>
      {gates.map(({ raw, score, reason }) => (
        <p key={reason} class="gate">
          <span class="badge warn" lang={languageTag}>
            {say('Gate')}
          </span>{' '}
          <strong class="figure-value">
            {raw} → {score}
          </strong>{' '}
          {reason}
        </p>
      ))}
      {checked !== null && (
        <p class="hint" lang={languageTag}>
          {say('{passed} of {made} checks of the figures passed.', checked)}
        </p>
      )}
    </Section>
  )

export const WhatChanged = ({ story: { changes } }: Pick<Props, 'story'>) =>
  changes.length === 0 ? null : (
    <Section name="changes" title="What changed since the last report">
      <Bullets items={changes} />
    </Section>
  )

/** Side by side if there is room: reasons for it, reasons against it, and what to do next. */
export const RisksAndNext = ({ story: { risks, catalysts, doNext, limitations } }: Pick<Props, 'story'>) => {
  const steps = [
    ...(doNext.noPosition === null ? [] : [{ label: say('Without a position'), text: doNext.noPosition }]),
    ...(doNext.hasPosition === null ? [] : [{ label: say('With a position'), text: doNext.hasPosition }]),
  ]
  return (
    <div class="columns">
      {risks.length > 0 && (
        <Section name="risks" title="Risks">
          <Bullets items={risks} kind="bad" />
        </Section>
      )}
      {catalysts.length > 0 && (
        <Section name="catalysts" title="What speaks for it">
          <Bullets items={catalysts} kind="good" />
        </Section>
      )}
      {(steps.length > 0 || doNext.watch.length > 0) && (
        <Section name="next" title="What to do and to watch">
          <dl class="told">
            {steps.map(({ label, text }) => (
              <div key={label}>
                <dt lang={languageTag}>{label}</dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
          <Bullets items={doNext.watch} />
        </Section>
      )}
      {limitations.length > 0 && (
        <Section name="limits" title="What the data lack">
          <Bullets items={limitations} />
        </Section>
      )}
    </div>
  )
}

export const Zones = ({ story: { supports, resistances }, checks }: Props) =>
  supports.length === 0 && resistances.length === 0 ? null : (
    <Section name="zones" title="Support and resistance" mark={<Mark checks={checks} of={['levels', 'price']} />}>
      <div class="columns">
        <ZoneList title={say('Resistance')} zones={resistances} />
        <ZoneList title={say('Support')} zones={supports} />
      </div>
    </Section>
  )

const ZoneList = ({ title, zones }: { title: string; zones: Zone[] }) => (
  <div>
    <h3 class="small-head" lang={languageTag}>
      {title}
    </h3>
    <ul class="zones">
      {zones.map(({ price: value, basis }) => (
        <li key={`${value}${basis}`}>
          <strong class="figure-value">{price(value)}</strong> <span class="hint">{basis}</span>
        </li>
      ))}
    </ul>
  </div>
)

export const Strategies = ({ story: { strategies } }: Pick<Props, 'story'>) =>
  strategies.length === 0 ? null : (
    <Section name="strategies" title="Strategies">
      <ul class="cards-grid">
        {strategies.map(({ name, verdict, met, unmet, unknown }) => (
          <li key={name} class="card tight">
            <strong>{name}</strong>
            <span class="badge">{verdict}</span>
            <Bullets items={met} kind="good" />
            <Bullets items={unmet} kind="bad" />
            <Bullets items={unknown} />
          </li>
        ))}
      </ul>
    </Section>
  )

/** Quotes from others: a link, its source and its day. */
export const News = ({ story: { headlines, told } }: Pick<Props, 'story'>) =>
  headlines.length === 0 && told.length === 0 ? null : (
    <Section name="news" title="Company and news">
      <Bullets items={told} />
      <ul class="headlines">
        {headlines.map((item) => (
          <li key={item.title}>
            <HeadlineTitle item={item} />
            <span class="hint">{[item.source, item.day].filter((part) => part !== '').join(' · ')}</span>
          </li>
        ))}
      </ul>
    </Section>
  )

const HeadlineTitle = ({ item: { title, url } }: { item: Headline }) =>
  url === null ? (
    <span>{title}</span>
  ) : (
    <a href={url} target="_blank" rel="noreferrer">
      {title}
    </a>
  )

/** Sources that are not a vendor's name. */
const SOURCES = { sample: 'sample prices', computed: 'computed here' } as const

/** The sources of the figures, one pill each. */
export const DataQuality = ({ story: { quality } }: Pick<Props, 'story'>) =>
  quality === null ? null : (
    <Section name="quality" title="What the report rests on">
      <ul class="pills">
        {quality.blocks.map(({ label, status, source }) => (
          <li key={label} class={`pill ${status}`}>
            <strong>{label}</strong> <span lang={languageTag}>{statusText(status)}</span>
            {source !== '' && (
              <span class="hint" lang={languageTag}>
                {' '}
                {source in SOURCES ? say(SOURCES[source as keyof typeof SOURCES]) : source}
              </span>
            )}
          </li>
        ))}
      </ul>
      <p class="hint" lang={languageTag}>
        {say('Data quality {score} of 100', { score: quality.score })}
      </p>
    </Section>
  )

function Bullets({ items, kind = '' }: { items: string[]; kind?: string }): ComponentChildren {
  if (items.length === 0) return null
  return (
    <ul class={`bullets ${kind}`}>
      {items.map((item) => (
        <li key={item}>{item}</li>
      ))}
    </ul>
  )
}
