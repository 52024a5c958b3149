// Every endpoint of the service, from the document that the service itself serves.

import { useEffect, useId, useMemo, useState } from 'preact/hooks'
import { getApiDocument, messageOf } from '../api.ts'
import { LanguageChoice } from '../frame/language.tsx'
import { say } from '../texts.ts'
import { Bar, Notice } from '../ui.tsx'
import { type ApiDocument, filtered, type Group, groupsOf } from './document.ts'
import { EndpointCard } from './endpoint-card.tsx'
import { English, Words } from './schema-view.tsx'

type Loaded = { state: 'loading' } | { state: 'failed'; text: string } | { state: 'ready'; document: ApiDocument }

export function ReferencePage() {
  const { loaded, load } = useDocument()
  return (
    <>
      <Bar skip={{ to: '#reference', words: say('Skip to the endpoints') }}>
        <a class="brand" href="/">
          <span>Bellwether</span>
        </a>
        <nav aria-label={say('Main')}>
          <a href="/">{say('Console')}</a>
          <a href="/docs" aria-current="page">
            API
          </a>
          <a href="/openapi.json">openapi.json</a>
        </nav>
        <LanguageChoice />
      </Bar>
      {loaded.state === 'loading' && <p class="opening">{say('Opening…')}</p>}
      {loaded.state === 'failed' && (
        <main class="narrow">
          <Notice kind="error" action={{ label: say('Try again'), run: load }}>
            {loaded.text}
          </Notice>
        </main>
      )}
      {loaded.state === 'ready' && <Reference document={loaded.document} />}
    </>
  )
}

function useDocument() {
  const [loaded, setLoaded] = useState<Loaded>({ state: 'loading' })
  const load = () => {
    setLoaded({ state: 'loading' })
    getApiDocument().then(
      (document) => setLoaded({ state: 'ready', document }),
      (error: unknown) => setLoaded({ state: 'failed', text: messageOf(error) }),
    )
  }
  useEffect(load, [])
  return { loaded, load }
}

function Reference({ document }: { document: ApiDocument }) {
  const [filter, setFilter] = useState('')
  const [apiKey, setApiKey] = useState('')
  const named = useHash()
  const groups = useMemo(() => groupsOf(document), [document])
  const shown = filtered(groups, filter)
  const count = shown.reduce((sum, { endpoints }) => sum + endpoints.length, 0)
  return (
    <div class="reference">
      <nav class="groups" aria-label={say('Groups')}>
        {shown.map(({ name, endpoints }) => (
          <a key={name} href={`#${idOf(name)}`}>
            <English>{name}</English> <span class="hint">{endpoints.length}</span>
          </a>
        ))}
      </nav>
      <main id="reference" tabIndex={-1}>
        <h1>
          {document.info.title} API <span class="badge">{document.info.version}</span>
        </h1>
        <p>
          <Words text={document.info.description ?? ''} />
        </p>
        <Tools filter={filter} onFilter={setFilter} apiKey={apiKey} onApiKey={setApiKey} />
        <p class="hint" role="status">
          {count === 0
            ? say('No endpoint has these words.')
            : say(count === 1 ? '{count} endpoint' : '{count} endpoints', { count })}
        </p>
        {shown.map((group) => (
          <GroupSection key={group.name} document={document} group={group} apiKey={apiKey} named={named} />
        ))}
      </main>
    </div>
  )
}

type ToolsProps = { filter: string; onFilter: (text: string) => void; apiKey: string; onApiKey: (key: string) => void }

function Tools({ filter, onFilter, apiKey, onApiKey }: ToolsProps) {
  const filterId = useId()
  const keyId = useId()
  return (
    <form class="tools" onSubmit={(event) => event.preventDefault()}>
      <div class="field">
        <label for={filterId}>{say('Filter')}</label>
        <input
          id={filterId}
          type="search"
          placeholder={say('method, path or words')}
          value={filter}
          onInput={(event) => onFilter(event.currentTarget.value)}
        />
      </div>
      <div class="field">
        <label for={keyId}>
          {say('API key')} <span class="hint">{say('for requests of this page; kept until you leave it')}</span>
        </label>
        <input
          id={keyId}
          type="password"
          autocomplete="off"
          placeholder={say('none: your session')}
          value={apiKey}
          onInput={(event) => onApiKey(event.currentTarget.value.trim())}
        />
      </div>
    </form>
  )
}

type GroupProps = { document: ApiDocument; group: Group; apiKey: string; named: string }

function GroupSection({ document, group, apiKey, named }: GroupProps) {
  const id = idOf(group.name)
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        <English>{group.name}</English>
      </h2>
      <p class="hint">
        <Words text={group.description} />
      </p>
      <div class="endpoints">
        {group.endpoints.map((endpoint) => (
          <EndpointCard
            key={endpoint.operation.operationId}
            document={document}
            endpoint={endpoint}
            apiKey={apiKey}
            isNamed={named === endpoint.operation.operationId}
          />
        ))}
      </div>
    </section>
  )
}

const idOf = (group: string): string => `group-${group.toLowerCase().replaceAll(/\W+/g, '-')}`

/** The fragment of the URL. */
function useHash(): string {
  const read = () => decodeURIComponent(location.hash.slice(1))
  const [hash, setHash] = useState(read)
  useEffect(() => {
    const follow = () => setHash(read())
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return hash
}
