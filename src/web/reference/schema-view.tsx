// A schema as a list of members. Deeper levels are rendered when they are opened, so that a schema may contain itself.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { language, say } from '../texts.ts'
import { type ApiDocument, limitsText, membersOf, resolved, type Schema, typeText } from './document.ts'

type SchemaProps = { document: ApiDocument; schema: Schema }

export function SchemaView({ document, schema }: SchemaProps) {
  const members = membersOf(document, schema)
  if (members.length === 0) {
    const { schema: own } = resolved(document, schema)
    return (
      <p class="hint">
        <code>{typeText(own)}</code> {limitsText(own)} <Words text={own.description ?? ''} />
      </p>
    )
  }
  return (
    <ul class="members">
      {members.map((member) => (
        <Member key={`${member.name} ${typeText(member.schema)}`} document={document} {...member} />
      ))}
    </ul>
  )
}

type MemberProps = SchemaProps & { name: string; required: boolean }

function Member({ document, name, schema, required }: MemberProps) {
  const [isOpen, setIsOpen] = useState(false)
  const { schema: own } = resolved(document, schema)
  const limits = limitsText(own)
  const head = (
    <>
      <code class="member-name">{name}</code>
      {required && <span class="badge">{say('required')}</span>} <code class="hint">{typeText(schema)}</code>{' '}
      {limits !== '' && <span class="hint">{limits}</span>}
    </>
  )
  const text = schema.description ?? own.description
  if (membersOf(document, schema).length === 0) {
    return (
      <li>
        {head}
        {text !== undefined && (
          <p>
            <Words text={text} />
          </p>
        )}
      </li>
    )
  }
  return (
    <li>
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>{head}</summary>
        {isOpen && <SchemaView document={document} schema={schema} />}
      </details>
      {text !== undefined && (
        <p>
          <Words text={text} />
        </p>
      )}
    </li>
  )
}

/** A sentence of the document; text between backticks is code. */
export function Words({ text }: { text: string }) {
  // Every second piece is between two backticks.
  const pieces = text.split('`')
  return (
    <English>
      {pieces.map((piece, at) => (at % 2 === 1 && at < pieces.length - 1 ? <code key={at}>{piece}</code> : piece))}
    </English>
  )
}

/** The document is in English, whatever the language of the page. */
export const English = ({ children }: { children: ComponentChildren }) => (
  <span lang={language === 'en' ? undefined : 'en'}>{children}</span>
)
