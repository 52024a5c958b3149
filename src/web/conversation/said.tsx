// A message, with its author.

import type { ComponentChildren } from 'preact'
import { clockTime } from '../format.ts'
import { Markdown } from '../markdown.tsx'
import { say } from '../texts.ts'
import { visible } from '../visible.ts'
import { Pictures } from './cards.tsx'

type SaidProps = {
  by: 'user' | 'agent'
  text: string
  /** Null while it is being written. */
  at: string | null
  files: string[]
  pictures: string[]
  children?: ComponentChildren
}

export function Said({ by, text, at, files, pictures, children }: SaidProps) {
  const user = by === 'user'
  return (
    <article class="entry">
      <div class={user ? 'from-user' : ''}>
        <Who byUser={user} at={at} />
        {user ? (
          <p class="text typed" dir="auto">
            {text}
          </p>
        ) : (
          <Markdown text={text} />
        )}
      </div>
      <Pictures urls={pictures} />
      {files.length > 0 && <p class="hint">{say('With {files}', { files: files.map(visible).join(', ') })}</p>}
      {children}
    </article>
  )
}

export const Who = ({ byUser, at }: { byUser: boolean; at: string | null }) => (
  <h2 class="who">
    {byUser ? say('You') : say('Agent')}{' '}
    {at !== null && (
      <time class="when" dateTime={at}>
        {clockTime(at)}
      </time>
    )}
  </h2>
)

type WithWordsProps = { thought: string; at: string; children: ComponentChildren }

/** The agent's text before an action is shown above the action. */
export const WithWords = ({ thought, at, children }: WithWordsProps) => (
  <>
    {thought !== '' && <Said by="agent" text={thought} at={at} files={[]} pictures={[]} />}
    {children}
  </>
)
