import { useEffect, useRef, useState } from 'preact/hooks'
import { say } from '../texts.ts'
import type { ApiDocument, Content, Endpoint, Operation } from './document.ts'
import { Code, RequestForm } from './request-form.tsx'
import { SchemaView, Words } from './schema-view.tsx'

type CardProps = { document: ApiDocument; endpoint: Endpoint; apiKey: string; isNamed: boolean }

/** One line while closed; its parts are rendered when it is opened. A URL with its name as fragment opens it. */
export function EndpointCard({ document, endpoint, apiKey, isNamed }: CardProps) {
  const { method, path, operation } = endpoint
  const [isOpen, setIsOpen] = useState(isNamed)
  const card = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    if (!isNamed) return
    setIsOpen(true)
    card.current?.scrollIntoView({ block: 'start' })
  }, [isNamed])
  const toggle = (open: boolean) => {
    setIsOpen(open)
    if (open && !isNamed) history.replaceState(null, '', `#${operation.operationId}`)
  }
  return (
    <details
      ref={card}
      class="endpoint"
      id={operation.operationId}
      open={isOpen}
      onToggle={(event) => toggle(event.currentTarget.open)}
    >
      <summary>
        <span class={`method ${method.toLowerCase()}`}>{method}</span>
        <code class={operation.deprecated === true ? 'path deprecated' : 'path'}>{path}</code>
        <span class="endpoint-summary">
          <Words text={operation.summary} />
        </span>
      </summary>
      {isOpen && <EndpointBody document={document} endpoint={endpoint} apiKey={apiKey} />}
    </details>
  )
}

function EndpointBody({ document, endpoint, apiKey }: Omit<CardProps, 'isNamed'>) {
  const { operation } = endpoint
  const [isTrying, setIsTrying] = useState(false)
  return (
    <div class="endpoint-body">
      {operation.deprecated === true && (
        <p class="notice warning">{say('Deprecated: clients of today need it no more.')}</p>
      )}
      {operation.description !== undefined && (
        <p>
          <Words text={operation.description} />
        </p>
      )}
      {operation.security?.length === 0 && <p class="hint">{say('Needs no key.')}</p>}
      {isTrying ? (
        <RequestForm endpoint={endpoint} apiKey={apiKey} />
      ) : (
        <>
          <button type="button" class="start" onClick={() => setIsTrying(true)}>
            {say('Try it here')}
          </button>
          <Parameters operation={operation} />
        </>
      )}
      {operation.requestBody !== undefined && (
        <section aria-label={say('Body of the request')}>
          <h4>{say('Body')}</h4>
          <ContentView document={document} content={operation.requestBody.content} />
        </section>
      )}
      <Replies document={document} operation={operation} />
    </div>
  )
}

function Parameters({ operation: { parameters = [] } }: { operation: Operation }) {
  if (parameters.length === 0) return null
  const schema = Object.fromEntries(
    parameters.map(({ name, schema: own = {}, description, in: place }) => [
      `${name} (${place})`,
      description === undefined ? own : { ...own, description },
    ]),
  )
  const required = parameters.filter((parameter) => parameter.required === true).map((one) => `${one.name} (${one.in})`)
  return (
    <section aria-label={say('Parameters')}>
      <h4>{say('Parameters')}</h4>
      <SchemaView document={NO_REFERENCES} schema={{ properties: schema, required }} />
    </section>
  )
}

/** Parameters of the service are simple values. */
const NO_REFERENCES: ApiDocument = { info: { title: '', version: '' }, tags: [], paths: {}, components: {} }

function Replies({ document, operation }: { document: ApiDocument; operation: Operation }) {
  return (
    <section aria-label={say('Answers')}>
      <h4>{say('Answers')}</h4>
      {Object.entries(operation.responses).map(([status, { description, content }]) => (
        <Reply key={status} status={status} description={description} content={content} document={document} />
      ))}
    </section>
  )
}

type ReplyProps = { document: ApiDocument; status: string; description: string; content: Content | undefined }

function Reply({ document, status, description, content }: ReplyProps) {
  const [isOpen, setIsOpen] = useState(false)
  const line = (
    <>
      <strong class={status < '400' ? 'good' : 'bad'}>{status}</strong> <Words text={description} />
    </>
  )
  if (content === undefined) return <p class="reply">{line}</p>
  return (
    <details class="reply" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{line}</summary>
      {isOpen && <ContentView document={document} content={content} />}
    </details>
  )
}

function ContentView({ document, content }: { document: ApiDocument; content: Content }) {
  return (
    <>
      {Object.entries(content).map(([type, { schema, example }]) => (
        <div key={type} class="content-type">
          <p class="hint">{type}</p>
          {schema !== undefined && <SchemaView document={document} schema={schema} />}
          {example !== undefined && (
            <Code
              text={typeof example === 'string' ? example : JSON.stringify(example, null, 2)}
              label={say('Example')}
            />
          )}
        </div>
      ))}
    </>
  )
}
