// Horizons, plan, performance, evidence and the model's texts, each in its own section; a section without data is not
// shown. Also the marks next to figures: a check, and the gauge of the score.

import type { ComponentChildren } from 'preact'
import { languageTag, say, type Text } from '../texts.ts'
import type { Checks, Comment, Fact, Figures, Sentence, StoredParts } from './stored-parts.ts'

type PartProps<Name extends keyof StoredParts> = { part: NonNullable<StoredParts[Name]>; checks: Checks }

const ARROW: Readonly<Record<string, string>> = { up: '▲', down: '▼', sideways: '=' }

export const Horizons = ({ part: { rows, holds }, checks }: PartProps<'horizons'>) => (
  <Section name="horizons" title="Trend by horizon" mark={<Mark checks={checks} of={['price', 'averages']} />}>
    <dl class="figures">
      {rows.map(({ label, direction, directionLabel }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd class="figure-value">
            <span aria-hidden="true">{ARROW[direction] ?? '–'}</span> {directionLabel}
          </dd>
        </div>
      ))}
    </dl>
    {holds !== null && <p class="hint">{holds}</p>}
  </Section>
)

export const Plan = ({ part: { figures, text }, checks }: PartProps<'plan'>) => (
  <Section name="plan" title="Plan" mark={<Mark checks={checks} />}>
    <FactList facts={figures} />
    <p class={figures.length === 0 ? 'summary-text' : 'hint'}>{text}</p>
  </Section>
)

export const Performance = ({ part, checks }: PartProps<'performance'>) => (
  <Section name="performance" title="Performance" mark={<Mark checks={checks} of={['price', 'averages']} />}>
    <FactList facts={part} />
  </Section>
)

export const BesideMarket = ({ part, checks }: PartProps<'beside'>) => (
  <Section name="beside" title="Beside the market" mark={<Mark checks={checks} of={['averages', 'volume']} />}>
    <dl class="told">
      {part.map(({ label, text }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd class="told-text">{text}</dd>
        </div>
      ))}
    </dl>
  </Section>
)

export const Evidence = ({ part: { text, figures }, checks }: PartProps<'evidence'>) => (
  <Section name="evidence" title="What the method was worth" mark={<Mark checks={checks} />}>
    <FactList facts={figures} />
    <p class={figures.length === 0 ? 'summary-text' : 'hint'}>{text}</p>
  </Section>
)

/** The model's name is shown above its texts, and each text that the data does not support is marked. */
export const ModelWords = ({ part }: { part: Comment }) => (
  <Section name="model" title="The model’s words">
    <div class="model-box">
      <p class="hint">{part.notice}</p>
      <ul class="model-sentences">
        {part.sentences.map((sentence, at) => (
          <ModelSentence key={at} sentence={sentence} />
        ))}
      </ul>
      {part.dropped > 0 && (
        <p class="hint" lang={languageTag}>
          {part.dropped === 1
            ? say('One sentence that the data contradict was left out.')
            : say('{count} sentences that the data contradict were left out.', { count: part.dropped })}
        </p>
      )}
      {part.evidence.length > 0 && (
        <ol class="model-evidence">
          {part.evidence.map(({ n, text }) => (
            <li key={n} value={n}>
              {text}
            </li>
          ))}
        </ol>
      )}
    </div>
  </Section>
)

const MARK_WORD = { doubtful: 'doubtful', undecidable: 'cannot be decided' } as const

const ModelSentence = ({ sentence: { text, mark, cites } }: { sentence: Sentence }) => (
  <li>
    {text}
    {cites.length > 0 && <span class="cites"> {cites.map((n) => `[${n}]`).join('')}</span>}
    {mark !== null && (
      <span class="mark" lang={languageTag}>
        {say(MARK_WORD[mark])}
      </span>
    )}
  </li>
)

const FactList = ({ facts }: { facts: Fact[] }) =>
  facts.length === 0 ? null : (
    <dl class="figures" lang={languageTag}>
      {facts.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd class="figure-value">{value}</dd>
        </div>
      ))}
    </dl>
  )

type SectionProps = { name: string; title: Text; mark?: ComponentChildren; children: ComponentChildren }

export const Section = ({ name, title, mark, children }: SectionProps) => (
  <section class="report-part" aria-labelledby={`${name}-head`}>
    <h2 id={`${name}-head`}>
      <span lang={languageTag}>{say(title)}</span> {mark}
    </h2>
    {children}
  </section>
)

/** Empty if no check is about these figures. Without a group: checks of all figures. */
export function Mark({ checks, of }: { checks: Checks; of?: readonly Figures[] }) {
  const found = checks.alarms.filter(({ touches }) => of === undefined || of.some((group) => touches.includes(group)))
  if (found.length === 0) return null
  const labels = [...new Set(found.map(({ label }) => label))]
  return (
    <span class="mark" title={found.map(({ text }) => text).join('\n')}>
      ⚠ {labels.join(', ')}
    </span>
  )
}

type GaugeProps = { score: number; label: string | null }

const ARC = 'M 12 66 A 54 54 0 0 1 120 66'
/** The ranges that the text of the score uses. */
const BANDS = ['very-low', 'low', 'middle', 'high', 'very-high']

export function Gauge({ score, label }: GaugeProps) {
  const bounded = Math.max(0, Math.min(100, score))
  const band = BANDS[Math.min(Math.floor(bounded / 20), 4)] ?? ''
  const words =
    label === null ? say('Score {score} of 100', { score }) : say('Score {score} of 100: {label}', { score, label })
  return (
    <figure class="gauge">
      <svg viewBox="0 0 132 76" role="img" aria-label={words}>
        <path class="gauge-track" d={ARC} />
        <path class={`gauge-value ${band}`} d={ARC} pathLength={100} stroke-dasharray={`${bounded} 200`} />
        <text class="gauge-score" x="66" y="62" text-anchor="middle">
          {score}
        </text>
      </svg>
      {label !== null && <figcaption>{label}</figcaption>}
    </figure>
  )
}
