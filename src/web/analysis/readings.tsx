import type { ComponentChildren } from 'preact'
import type { StockReading } from '../wire.ts'
import { type ReadingTexts, readingTexts } from './reading-texts.ts'
import { isOpen, type Readings } from './use-readings.ts'

type Props = { readings: Readings; language: string }

/** How each entry is read, and a question for each that is not clear. */
export function ReadingList({ readings: { items, choices, choose }, language }: Props) {
  const say = readingTexts(language)
  const open = items.filter((item) => isOpen(item, choices)).length
  if (items.length === 0) return null
  return (
    <section class="readings" lang={language === '' ? undefined : language} aria-label={say.title}>
      <p class="visually-hidden" role="status">
        {open === 0 ? '' : say.open(open)}
      </p>
      <ul>
        {items.map((item, place) => (
          <li key={`${place} ${item.input}`}>
            {item.candidates.length > 0 ? (
              <Question
                item={item}
                say={say}
                name={`reading-${place}`}
                chosen={choices.get(item.input)}
                onChoose={(code) => choose(item.input, code)}
              />
            ) : (
              <Plain item={item} say={say} />
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Plain({ item, say }: { item: StockReading; say: ReadingTexts }) {
  const { input, kind, stock_code: code, stock_name: name, market_label: market, reason } = item
  if (kind === 'unknown') {
    const why = say.reasons[reason ?? '']
    return <p class="problem">{why === undefined ? say.unknown(input) : `${input}: ${why}`}</p>
  }
  if (name === null) return <p>{item.market === 'us' ? say.ticker(code ?? input) : `${code} (${market})`}</p>
  return (
    <p>
      {kind === 'reading' && <span class="as-typed">{`${input} → `}</span>}
      <strong>{name}</strong> <span class="code">{code}</span> <span class="market">{market}</span>
    </p>
  )
}

type QuestionProps = {
  item: StockReading
  say: ReadingTexts
  name: string
  chosen: string | null | undefined
  onChoose: (code: string | null) => void
}

function Question({ item: { input, stock_code: own, candidates }, say, name, chosen, onChoose }: QuestionProps) {
  const taken = chosen === undefined ? own : chosen
  return (
    <fieldset class="question">
      <legend>{own === null ? say.question(input) : say.orElse(own)}</legend>
      {own !== null && (
        <Answer name={name} checked={taken === own} onPick={() => onChoose(own)}>
          {say.keep(own)}
        </Answer>
      )}
      {candidates.map(({ stock_code: code, stock_name: title, market_label: market }) => (
        <Answer key={code} name={name} checked={taken === code} onPick={() => onChoose(code)}>
          <strong>{title}</strong> <span class="code">{code}</span> <span class="market">{market}</span>
        </Answer>
      ))}
      <Answer name={name} checked={chosen === null} onPick={() => onChoose(null)}>
        {say.leaveOut}
      </Answer>
    </fieldset>
  )
}

type AnswerProps = { name: string; checked: boolean; onPick: () => void; children: ComponentChildren }

function Answer({ name, checked, onPick, children }: AnswerProps) {
  return (
    <label class="answer">
      <input type="radio" name={name} checked={checked} onChange={onPick} />
      <span>{children}</span>
    </label>
  )
}
