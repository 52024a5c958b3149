import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { say, sayWhereKnown } from '../texts.ts'
import { visible } from '../visible.ts'
import type { StoredEvent } from '../wire.ts'
import { askedOf } from './entries.ts'
import type { ChatControls } from './use-conversation.ts'

const RISKS = ['low', 'medium', 'high'] as const

type Props = { waiting: StoredEvent | null; isAnswered: boolean; onAnswer: ChatControls['answer'] }

/** The answer contains the action's id, so that it cannot apply to another action. */
export function Confirmation({ waiting, isAnswered, onAnswer }: Props) {
  const { security_risk: risk, security_reasons: reasons } = waiting?.args ?? {}
  const level = typeof risk === 'number' ? RISKS[risk] : undefined
  const answer = (confirmed: boolean) => {
    if (!isAnswered) onAnswer(confirmed, waiting?.id)
  }
  useKeys(answer)
  return (
    <fieldset class={`confirmation ${level ?? ''}`}>
      <legend>
        {level === undefined
          ? say('May this action run?')
          : say('May this action run? Its risk is {level}.', { level: say(level) })}
      </legend>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre class="asked" tabIndex={0}>
        {waiting === null ? '' : visible(askedOf(waiting))}
      </pre>
      {Array.isArray(reasons) && reasons.length > 0 && (
        <ul>
          {reasons.map((reason) => (
            <li key={String(reason)}>{sayWhereKnown(String(reason))}</li>
          ))}
        </ul>
      )}
      <div class="answers">
        <Answer letter="Y" kind="primary" onClick={() => answer(true)}>
          {say('Run it')}
        </Answer>
        <Answer letter="N" kind="danger" onClick={() => answer(false)}>
          {say('Reject')}
        </Answer>
        {isAnswered && <span class="hint">{say('Sending…')}</span>}
      </div>
    </fieldset>
  )
}

type AnswerProps = { letter: string; kind: string; onClick: () => void; children: ComponentChildren }

const Answer = ({ letter, kind, onClick, children }: AnswerProps) => (
  <button type="button" class={kind} aria-keyshortcuts={`Alt+${letter}`} onClick={onClick}>
    {children}{' '}
    <span class="keys" aria-hidden="true">
      Alt {letter}
    </span>
  </button>
)

function useKeys(answer: (confirmed: boolean) => void): void {
  const newest = useRef(answer)
  newest.current = answer
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const answered = keyAnswer(event)
      if (answered === null) return
      event.preventDefault()
      newest.current(answered)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

/** Uses the position of the key, because Alt changes the letter in some layouts. Null for any other key. */
function keyAnswer({ altKey, ctrlKey, metaKey, repeat, code }: KeyboardEvent): boolean | null {
  if (!altKey || ctrlKey || metaKey || repeat) return null
  if (code === 'KeyY') return true
  return code === 'KeyN' ? false : null
}
