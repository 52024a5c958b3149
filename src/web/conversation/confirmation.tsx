import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { say } from '../texts.ts'
import type { StoredEvent } from '../wire.ts'
import type { ChatControls } from './use-conversation.ts'

const RISKS = ['low', 'medium', 'high'] as const

type Props = { waiting: StoredEvent | undefined; onAnswer: ChatControls['answer'] }

/** The answer names the action, so that no other one takes it for its own. */
export function Confirmation({ waiting, onAnswer }: Props) {
  const { security_risk: risk, security_reasons: reasons } = waiting?.args ?? {}
  const level = typeof risk === 'number' ? RISKS[risk] : undefined
  useKeys(waiting?.id, onAnswer)
  return (
    <fieldset class={`confirmation ${level ?? ''}`}>
      <legend>
        {level === undefined
          ? say('May this action run?')
          : say('May this action run? Its risk is {level}.', { level: say(level) })}
      </legend>
      <p class="mono asked">{subjectOf(waiting)}</p>
      {Array.isArray(reasons) && reasons.length > 0 && (
        <ul>
          {reasons.map((reason) => (
            <li key={String(reason)}>{String(reason)}</li>
          ))}
        </ul>
      )}
      <div class="answers">
        <Answer letter="Y" kind="primary" onClick={() => onAnswer(true, waiting?.id)}>
          {say('Run it')}
        </Answer>
        <Answer letter="N" kind="danger" onClick={() => onAnswer(false, waiting?.id)}>
          {say('Reject')}
        </Answer>
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

function useKeys(actionId: number | undefined, onAnswer: ChatControls['answer']): void {
  const answer = useRef(onAnswer)
  answer.current = onAnswer
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const answered = keyAnswer(event)
      if (answered === null) return
      event.preventDefault()
      answer.current(answered, actionId)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [actionId])
}

/** By the place of the key: with Alt some layouts make another letter of it. Null for any other key. */
function keyAnswer({ altKey, ctrlKey, metaKey, repeat, code }: KeyboardEvent): boolean | null {
  if (!altKey || ctrlKey || metaKey || repeat) return null
  if (code === 'KeyY') return true
  return code === 'KeyN' ? false : null
}

const LONGEST = 400

function subjectOf(event: StoredEvent | undefined): string {
  const { command, code, path, url, name } = event?.args ?? {}
  const subject = [command, code, path, url, name].find((part) => typeof part === 'string' && part !== '')
  return typeof subject === 'string' ? subject.slice(0, LONGEST) : (event?.action ?? '')
}
