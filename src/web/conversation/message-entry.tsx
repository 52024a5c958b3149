// A message, with its author.

import type { ComponentChildren } from 'preact'
import { clockTime } from '../format.ts'
import { Markdown } from '../markdown.tsx'
import { say } from '../texts.ts'
import { visible } from '../visible.ts'
import { Pictures } from './cards.tsx'

type MessageEntryProps = {
  by: 'user' | 'agent'
  text: string
  /** Null while it is being written. */
  at: string | null
  files: string[]
  pictures: string[]
  children?: ComponentChildren
}

export function MessageEntry({ by, text, at, files, pictures, children }: MessageEntryProps) {
  const user = by === 'user'
  return (
    <article class="entry">
      <div class={user ? 'from-user' : ''}>
        <Speaker byUser={user} at={at} />
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

export const Speaker = ({ byUser, at }: { byUser: boolean; at: string | null }) => (
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
    {thought !== '' && <MessageEntry by="agent" text={thought} at={at} files={[]} pictures={[]} />}
    {children}
  </>
)
